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

/** All checks of servers, in the order in which they are shown. */
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

/** True when a check is about this carrier. */
export function isFor({ on }: ServerCheck, { target }: Carrier): boolean {
  if (on === undefined) return true;
  if (on === 'tcp') return target.kind === 'tcp' && target.framing === 'socket';
  return target.kind === 'serial' && (on === 'serial' || target.framing === on);
}

/** The permissions as options of the command line. */
const OPTION_OF: Readonly<Record<Permission, string>> = {
  holding: '--scratch holding:…',
  coils: '--scratch coils:…',
  broadcast: '--broadcast',
  soak: '--soak',
  map: '--map',
  claims: '--claims',
};

/** Which permission a check lacks. */
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

/** True when a check was asked for by its name or group, or by nothing. */
export function isChosen({ id, group }: ServerCheck, names: readonly string[]): boolean {
  return names.length === 0 || names.includes(id) || names.includes(group);
}

/** What is wrong with the names of checks and groups, as a sentence; undefined when all are known. */
export function unknownChecks(names: readonly string[], checks = SERVER_CHECKS): string | undefined {
  const known = [...Object.keys(GROUPS), ...checks.map(({ id }) => id)];
  const wrong = names.find((name) => !known.includes(name));
  return wrong === undefined ? undefined : unknownName('check', wrong, known);
}

/**
 * The order in which checks run: what everything else stands on first, what may stop a server late, what
 * judges all exchanges last. Within these the seed decides, so that nothing depends on what was asked before.
 */
export function inTurn(
  checks: readonly ServerCheck[],
  random: { below(limit: number): number },
): ServerCheck[] {
  const turnOf = ({ id, group, turn }: ServerCheck) => {
    // Claims are judged by all that was found, and the one on exceptions by what the one on functions asks.
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

/** The groups in the order in which they run: writes first, which are the most dangerous, then what takes little time. */
const TURNS: readonly ServerCheckGroup[] = [
  ...(['there', 'writes', 'refusals', 'identification', 'has', 'bus', 'connections', 'frames'] as const),
  ...(['map', 'endurance', 'claims'] as const),
];

/** These find out how the server has to be asked, so that each later check judges its own question alone. */
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
