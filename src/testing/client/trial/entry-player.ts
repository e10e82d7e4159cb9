import type { Random } from '../../../common/random.js';
import { lackOf } from '../../../device/faults/kind.js';
import { type FaultRule, lineProblems, ruleSchema } from '../../../device/faults/rule.js';
import type { TableName } from '../../../device/tables.js';
import type { Misbehaviour } from '../../../document/catalogue.js';
import { needConnections } from '../../../document/native/manners-schema.js';
import { concatBytes } from '../../../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG, FunctionCode } from '../../../modbus/protocol/function-code.js';
import { functionOf } from '../../../modbus/protocol/function-table.js';
import { sentFrames } from '../../../modbus/protocol/reply-plan.js';
import type { Line } from '../../../simulator/line.js';
import type { FrameEvent } from '../../../simulator/traffic/event.js';
import { durationText } from '../../report/words.js';
import { pduOf } from '../../tested-line.js';
import {
  type Exchange,
  type OwnRule,
  repliedFrom,
  repliedUntil,
  transactionOf,
  whyNotActed,
} from '../heard/exchange.js';
import type { Exam } from './exam.js';
import type { OwnRules } from './rules.js';

/** The number of bytes in a frame before the unit identifier: on a socket, transaction, protocol and length. */
const BEFORE_UNIT = { socket: 6, rtu: 0, ascii: 0 };
/** Functions whose replies repeat the request. */
const ECHOED: readonly number[] = [FunctionCode.writeSingleCoil, FunctionCode.writeSingleRegister];

/** A catalogue entry that is being played. */
export interface Played {
  readonly entry: Misbehaviour;
  readonly rules: readonly OwnRule[];
  /** The device's earlier replies by poll: a PDU, or nothing. */
  readonly before: ReadonlyMap<string, Uint8Array | undefined>;
}

/** True if the misbehaviour changed the reply to this request. */
export function isMet(exchange: Exchange, played: Played): boolean {
  const { rule, reply, poll, request, at } = exchange;
  if (isDropped(exchange)) return false;
  if (rule) {
    return played.rules.includes(rule) && rule.faults.length > 0 && whyNotActed(exchange) === undefined;
  }
  const { manners } = played.entry;
  if (!manners || !reply || !played.before.has(poll)) return false;
  const [was, is] = [played.before.get(poll), pduOf(reply)];
  if (is === undefined && reply.plan.kind !== 'silence') return false;
  if (kindOf(was) !== kindOf(is)) return true;
  if (kindOf(is) !== 'data') return false;
  const lateMs = (repliedFrom(exchange) ?? at) - at;
  return (
    hasOtherRegisters(played, request) || lateMs >= (manners.firstReply?.slow ?? Number.POSITIVE_INFINITY)
  );
}

/** True if the reply was delayed, and the client sent another request before it. */
export function isDropped({ reply }: Exchange): boolean {
  return reply?.report.ended === 'superseded' && sentFrames(reply.plan, reply.report).length === 0;
}

/** True for manners that return registers of other addresses or of another table. */
function hasOtherRegisters(
  { entry: { manners } }: Pick<Played, 'entry'>,
  { functionCode }: FrameEvent,
): boolean {
  const { table } = functionOf(functionCode) ?? {};
  const isShared = manners?.sharedMemory?.some((group) => group.indexOf(table as TableName) > 0);
  return (manners?.addresses !== undefined && table !== undefined) || isShared === true;
}

/** True if the reply ended after the client had sent the next request. */
export function isLate(exchange: Exchange): boolean {
  const next = exchange.next;
  return next !== undefined && (repliedUntil(exchange) ?? 0) > next.at;
}

/**
 * True if the reply had either no value to accept or the true one: it is an exception, or equals the device's
 * own reply from the unit identifier on.
 */
export function isTrue(exchange: Exchange, { before }: Played): boolean {
  const { reply, request, pdu: asked, poll, rule } = exchange;
  if (!reply) return false;
  const { framing, plan, report } = reply;
  const bytes = concatBytes(...sentFrames(plan, report));
  if (bytes.length === 0 || kindOf(pduOf(reply)).startsWith('exception')) return true;
  const pdu = ECHOED.includes(request.functionCode) ? asked : before.get(poll);
  if (!pdu || rule?.faults.some((fault) => 'stale' in fault)) return false;
  const good = framing.encode({ transactionId: transactionOf(exchange), unitId: request.unitId, pdu });
  const from = BEFORE_UNIT[framing.name];
  return Buffer.compare(bytes.subarray(from, good.length), good.subarray(from)) === 0;
}

function kindOf(pdu: Uint8Array | undefined): string {
  if (!pdu) return 'nothing';
  const [code = 0, exception] = pdu;
  return code & EXCEPTION_FLAG ? `exception ${exception ?? 'without a code'}` : 'data';
}

/** Describes the replies that the client got: `4 requests (3 without a reply, 1 with exception 6)`. */
export function gotText(acted: readonly Exchange[]): string {
  const kinds = acted.map(({ reply }) => {
    const isSent = reply && sentFrames(reply.plan, reply.report).length > 0;
    const kind = isSent ? kindOf(pduOf(reply)) : 'nothing';
    if (!isSent) return 'without a reply';
    return kind.startsWith('exception') ? `with ${kind}` : 'with such a reply';
  });
  const counts = [...new Set(kinds)].map((kind) => `${kinds.filter((each) => each === kind).length} ${kind}`);
  return `${acted.length} ${acted.length === 1 ? 'request' : 'requests'} (${counts.join(', ')})`;
}

/** True if the frame is valid and its values belong to other registers. */
export function isForeign({ request, reply }: Exchange, played: Played): boolean {
  return hasOtherRegisters(played, request) && reply !== undefined && kindOf(pduOf(reply)) === 'data';
}

/** The latest undisturbed reply to each poll. */
export function latestReplies({ log }: Exam): Played['before'] {
  const undisturbed = log.newest().filter(({ reply, rule }) => reply && !rule);
  return new Map(undisturbed.map(({ poll, reply }) => [poll, reply && pduOf(reply)]));
}

/** How long after it was armed an entry may begin, in ms. */
const LATEST_MS = 60_000;
/** How many connections are closed. A device that is sensitive to quick reconnection must be left twice. */
const CLOSED = 2;

/** Plays one catalogue entry on a line. */
export class EntryPlayer {
  readonly #entry: Misbehaviour;
  readonly #line: Line;
  readonly #unitId: number | undefined;
  readonly rules: readonly FaultRule[];

  /** @param unitId the unit whose device misbehaves; if undefined, all devices on the line */
  constructor(entry: Misbehaviour, line: Line, unitId: number | undefined) {
    this.#entry = entry;
    this.#line = line;
    this.#unitId = unitId;
    this.rules = entry.faults.map((written) =>
      ruleSchema.parse({ ...written, name: entry.id, when: this.#when(written) }),
    );
  }

  /** Explains why this line can't carry the entry, as part of a sentence; undefined if it can. */
  get whyNot(): string | undefined {
    const { bus } = this.#line;
    if (this.#entry.line !== undefined) {
      return 'it needs other line settings, which a client test does not change';
    }
    if (this.needsConnections && lackOf(bus.line, 'close')) {
      return `it affects connections, and line ${bus.line.name} has none`;
    }
    for (const rule of this.rules) {
      const [problem] = lineProblems(rule, [bus.line]);
      if (problem) return problem.message;
      const from =
        Math.min(...(rule.schedule ?? [{}]).map((window) => window.from ?? 0)) + (rule.when.from ?? 0);
      if (from > LATEST_MS) return `it takes effect only ${durationText(from)} after it starts`;
    }
    return undefined;
  }

  /** True if the entry is about connections, so that the client must open new ones. */
  get needsConnections(): boolean {
    const isAboutThem = ({ when }: FaultRule) => when.connected !== undefined || when.nth !== undefined;
    return needConnections(this.#entry.manners ?? {}).length > 0 || this.rules.some(isAboutThem);
  }

  /** The fault rules in file form. One closes connections if new ones are needed. */
  get written(): readonly { readonly name?: unknown; readonly when: object; readonly do?: object }[] {
    const rules = this.#entry.faults.map((written) => ({ ...written, when: this.#when(written) }));
    if (!this.needsConnections) return rules;
    return [...rules, { when: { line: this.#line.name, count: CLOSED }, do: { close: 'end' } }];
  }

  /**
   * Makes the devices misbehave. If that needs new connections, two connections are closed.
   * @param about name of the check
   * @param random seeds the rules, whatever the entry says
   * @returns the rules of the entry, and `end`, which undoes everything except manners that someone else has
   * set
   *   in the meantime
   */
  begin(own: OwnRules, about: string, random: Random): { rules: readonly OwnRule[]; end: () => void } {
    const { faults, manners } = this.#entry;
    const lent = manners ? Array.from(this.#devices, (device) => device.lendManners(manners)) : [];
    const put = this.written.map((rule, i) =>
      own.put(about, { ...rule, seed: i < faults.length ? random.below(2 ** 31) : 0 }),
    );
    const rules = put.slice(0, faults.length);
    const end = () => {
      for (const rule of put) own.remove(rule);
      for (const giveBack of lent) giveBack();
    };
    return { rules, end };
  }

  get #devices() {
    if (this.#unitId === undefined) return this.#line.bus.stations.devices;
    const device = this.#line.bus.deviceAt(this.#unitId);
    return device ? [device] : [];
  }

  #when({ when }: Readonly<Record<string, unknown>>): object {
    const unit = this.#unitId === undefined ? {} : { unit: this.#unitId };
    return { ...unit, ...(when as object | undefined), line: this.#line.name };
  }
}
