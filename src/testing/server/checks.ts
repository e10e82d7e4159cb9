import { unknownName } from '../../common/schema/nearest.js';
import type { Carrier } from './asker.js';
import type { ServerTestOrder } from './bench.js';
import { GROUPS, type Permission, type ServerCheck, type ServerCheckGroup } from './check.js';
import { BUS } from './checks/bus.js';
import { CLAIMS } from './checks/claims.js';
import { CONNECTIONS } from './checks/connections.js';
import { ENDURANCE } from './checks/endurance.js';
import { FRAMES } from './checks/frames.js';
import { HAS, SUNSPEC } from './checks/has.js';
import { IDENTIFICATION } from './checks/identification.js';
import { LINE } from './checks/line.js';
import { MALFORMED_WRITES } from './checks/malformed-writes.js';
import { MAP } from './checks/map.js';
import { MBAP } from './checks/mbap.js';
import { PACE } from './checks/pace.js';
import { REFUSALS } from './checks/refusals.js';
import { REPEATS } from './checks/repeats.js';
import { RTU_TIMES } from './checks/rtu-times.js';
import { THERE } from './checks/there.js';
import { WRITES } from './checks/writes.js';
import type { Found } from './found.js';

/** All checks for servers, in display order. */
export const SERVER_CHECKS: readonly ServerCheck[] = [
  ...THERE,
  ...PACE,
  ...REPEATS,
  ...FRAMES,
  ...RTU_TIMES,
  ...HAS,
  ...SUNSPEC,
  ...MAP,
  ...REFUSALS,
  ...IDENTIFICATION,
  ...BUS,
  ...LINE,
  ...MBAP,
  ...CONNECTIONS,
  ...WRITES,
  ...MALFORMED_WRITES,
  ...ENDURANCE,
  ...CLAIMS,
];

/** True if a check applies to this transport. */
export function isFor({ on }: ServerCheck, { target }: Carrier): boolean {
  if (on === undefined) return true;
  if (on === 'tcp') return target.kind === 'tcp' && target.framing === 'socket';
  return target.kind === 'serial' && (on === 'serial' || target.framing === on);
}

/** The permissions as command-line options. */
const OPTION_OF: Readonly<Record<Permission, string>> = {
  holding: '--scratch holding:…',
  coils: '--scratch coils:…',
  broadcast: '--broadcast',
  soak: '--soak',
  map: '--map',
  claims: '--claims',
};

/** The permission that a check lacks, if any. */
export function lackOf(
  { needs = [], room = 1 }: ServerCheck,
  { scratch, broadcast, soakMs, map, claims }: ServerTestOrder,
): Found | undefined {
  const sizeOf = (span: { first: number; last: number } | undefined) =>
    span ? span.last - span.first + 1 : 0;
  const has: Readonly<Record<Permission, boolean>> = {
    holding: sizeOf(scratch.holding) >= room,
    coils: sizeOf(scratch.coils) >= room,
    broadcast,
    soak: soakMs > 0,
    map: map !== undefined,
    claims: claims !== undefined,
  };
  const lack = needs.find((each) => !has[each]);
  if (lack === undefined) return undefined;
  const addresses = room > 1 && lack !== 'broadcast' ? { addresses: room } : {};
  return { code: 'not-allowed', option: OPTION_OF[lack], ...addresses };
}

/** True if a check was requested by name or group, or if none was requested. */
export function isChosen({ id, group }: ServerCheck, names: readonly string[]): boolean {
  return names.length === 0 || names.includes(id) || names.includes(group);
}

/** Explains what is wrong with the names of checks and groups, as a sentence; undefined if all are known. */
export function unknownChecks(names: readonly string[], checks = SERVER_CHECKS): string | undefined {
  const known = [...Object.keys(GROUPS), ...checks.map(({ id }) => id)];
  const wrong = names.find((name) => !known.includes(name));
  return wrong === undefined ? undefined : unknownName('check', wrong, known);
}

/**
 * The order in which checks run: first those that everything else depends on, late those that may stop a
 * server, last those that judge all exchanges. Within these, the seed decides, so that no result depends on
 * the requests before it.
 */
export function inTurn(
  checks: readonly ServerCheck[],
  random: { below(limit: number): number },
): ServerCheck[] {
  const turnOf = ({ id, group, turn }: ServerCheck) => {
    // Claims are judged by all findings, and the claim about exceptions also by the requests of the claim
    // about functions.
    if (group === 'claims') return 91 + checks.findIndex((check) => check.id === id);
    if (turn === 'end') return 90;
    if (turn === 'last') return 85;
    if (turn === 'late') return 80;
    const first = FIRST.indexOf(id);
    return first >= 0 ? first - FIRST.length : TURNS.indexOf(group);
  };
  return checks
    .map((check) => ({ check, turn: turnOf(check), draw: random.below(1_000_000) }))
    .sort((a, b) => a.turn - b.turn || a.draw - b.draw)
    .map(({ check }) => check);
}

/** The groups in running order: first writes, which are the most dangerous, then checks that take little time. */
const TURNS: readonly ServerCheckGroup[] = [
  ...(['there', 'writes', 'refusals', 'identification', 'has', 'bus', 'connections', 'frames'] as const),
  ...(['map', 'endurance', 'claims'] as const),
];

/** These find out how to send requests to the server, so that each later check judges only its own request. */
const FIRST = [
  'answers',
  'back-to-back',
  'pause-needed',
  'connect-pause',
  'rtu-flow-control',
  'same-value',
  'reconnect-at-once',
  'function-unknown',
  'fc43-basic',
  'address-unknown',
];
