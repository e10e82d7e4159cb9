import { hex } from '../../modbus/protocol/bytes.js';
import { type AduContent, type Framing, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';
import { type Conversation, type LoggedExchange, unitOf } from './exchanges.js';
import { isPlain, isSame, Model } from './model.js';

/** Describes an odd reply as faults, and the requests that a fault rule applies to. */

const LAST_ADDRESS = 0xffff;

/** Faults such as `{exception: 2}`, `{silence: true}`, `{transaction: 'swapped'}`, `{junk: '00 01'}`. */
type Faults = readonly Readonly<Record<string, unknown>>[];

/** The requests that a rule or a scenario step applies to, without the unit. */
interface RequestCondition {
  readonly function: number;
  readonly address?: readonly [first: number, last: number];
  readonly quantity?: number;
}

/** The condition for a request; undefined for function 0, which no rule can name. */
export function conditionOf(pdu: Uint8Array): RequestCondition | undefined {
  const [code = 0] = pdu;
  const [range] = addressRanges(pdu);
  if (code === 0) return undefined;
  if (!range) return { function: code };
  if (range.quantity === 0) return { function: code, quantity: 0 };
  const { address, quantity } = range;
  return { function: code, address: [address, Math.min(address + quantity - 1, LAST_ADDRESS)], quantity };
}

/**
 * Narrows conditions to the addresses that no other condition has, if there are any: a rule acts on every
 * request that touches one of its addresses.
 */
function apart(all: readonly RequestCondition[]): Map<RequestCondition, RequestCondition> {
  const first = ({ address: [start] = [0, 0] }: RequestCondition) => start;
  const kind = (each: RequestCondition) => 0x10000 * each.function + (each.quantity ?? 0);
  const sorted = all.toSorted((a, b) => kind(a) - kind(b) || first(a) - first(b));
  const narrowed = sorted.map((each, i): [RequestCondition, RequestCondition] => {
    const { address, quantity = 1 } = each;
    const [before, behind] = [sorted[i - 1], sorted[i + 1]];
    if (!address) return [each, each];
    const [start, end] = address;
    const from = before && kind(before) === kind(each) ? Math.max(start, first(before) + quantity) : start;
    const to = behind && kind(behind) === kind(each) ? Math.min(end, first(behind) - 1) : end;
    return [each, from > to ? each : { ...each, address: [from, to] }];
  });
  return new Map(narrowed);
}

/**
 * The faults that turn the plain reply into the one that was seen.
 * @param reply the only frame that came; undefined for other bytes
 * @param isPlain true if the registers alone give its PDU
 */
function oddities(
  request: AduContent,
  bytes: Uint8Array,
  reply: AduContent | undefined,
  isPlain: boolean,
  framing: Framing,
): Faults {
  if (bytes.length === 0) return [{ silence: true }];
  if (!reply) return [{ junk: hex(bytes) }];
  const faults: Readonly<Record<string, unknown>>[] = [];
  const [code = 0, exception = 0] = reply.pdu;
  const isException = reply.pdu.length === 2 && code === ((request.pdu[0] ?? 0) | EXCEPTION_FLAG);
  if (!isPlain) faults.push(isException && exception > 0 ? { exception } : { pdu: hex(reply.pdu) });
  if (reply.unitId !== request.unitId) faults.push({ unit: reply.unitId });
  if (framing === SOCKET && reply.transactionId !== request.transactionId)
    faults.push({ transaction: wrongTransaction(request.transactionId, reply.transactionId) });
  return faults;
}

/** True if the faults keep the request from reaching the device. */
function prevents(faults: Faults): boolean {
  return faults.some((fault) => 'silence' in fault || 'exception' in fault);
}

function wrongTransaction(asked: number, got: number): number | string {
  if (got === (((asked & 0xff) << 8) | (asked >> 8))) return 'swapped';
  if (got === 0) return 0;
  const difference = got - asked;
  return difference > 0 ? `+${difference}` : String(difference);
}

/** Equal replies that registers alone do not explain, to requests that a rule can't tell apart. */
export interface OddReply {
  readonly when: RequestCondition;
  readonly faults: Faults;
  /** Which of these requests got this reply, counted from 1. The last known reply continues, so its range is open. */
  readonly turns: readonly TurnRange[];
}

type TurnRange = readonly [first: number, last: number];

export interface LearnedDevice {
  readonly unit: number;
  readonly tables: Model['tables'];
  readonly odd: readonly OddReply[];
  /** True if requests to unit 0 on a serial line got this reply. */
  readonly answersBroadcasts: boolean;
  /** The number of distinct requests. */
  readonly requests: number;
  /** Reply times in ms, sorted. */
  readonly times: readonly number[];
  /** The reply times of each kind of request, in ms, in order; 0 if nothing came. */
  readonly timed: readonly TimedRequests[];
  /** Remarks for the user, such as `never answered`, with the requests that they are about. */
  readonly remarks: ReadonlyMap<string, readonly string[]>;
}

interface TimedRequests {
  readonly when: RequestCondition;
  readonly ms: readonly number[];
}

/** The devices on a line, and the unit identifiers that were polled and never answered. */
export interface LearnedLine {
  readonly devices: readonly LearnedDevice[];
  readonly silent: readonly number[];
}

/** Requests that a rule can't tell apart, and their replies, with consecutive equal ones counted. */
interface Turns {
  readonly when: RequestCondition;
  readonly what: string;
  readonly runs: { readonly faults: Faults; count: number }[];
  /** The reply time of each, in ms; 0 if nothing came. */
  readonly ms: number[];
}

/** The exchanges with one unit identifier on a line. */
interface Unit {
  readonly unit: number;
  readonly exchanges: LoggedExchange[];
}

/** Maximum number of rules for all devices together: the program allows 256, and some are for reply times. */
const MOST_RULES = 200;

/** Learns the devices on each line from a conversation. There are several lines if servers contradict each other. */
export function learn({ framing, exchanges }: Conversation): LearnedLine[] {
  const lines = new Map<string | undefined, Map<number, Unit>>();
  const isOne = !contradict(exchanges, framing);
  for (const exchange of exchanges) {
    const { server } = exchange;
    const place = isOne ? undefined : server;
    const units = lines.get(place) ?? new Map<number, Unit>();
    lines.set(place, units);
    const unitId = unitOf(exchange, framing);
    const unit = units.get(unitId) ?? { unit: unitId, exchanges: [] };
    units.set(unitId, unit);
    unit.exchanges.push(exchange);
  }
  const found = Array.from(lines.values(), (units) => {
    const heard = [...units.values()].filter(({ exchanges: own }) =>
      own.some(({ reply }) => reply.length > 0),
    );
    // A line has at least one device, even if that device is silent.
    return { units: [...units.values()], served: heard.length > 0 ? heard : [...units.values()] };
  });
  const most = Math.floor(MOST_RULES / found.reduce((sum, { served }) => sum + served.length, 0));
  return found.map(({ units, served }) => ({
    devices: served.map((unit) => learnedDevice(unit, framing, most)),
    silent: units.filter((unit) => !served.includes(unit)).map(({ unit }) => unit),
  }));
}

/** True if two servers gave different replies to equal requests. */
function contradict(exchanges: readonly LoggedExchange[], framing: Framing): boolean {
  if (exchanges.every(({ server }) => server === exchanges[0]?.server)) return false;
  const known = new Map<string, { readonly server: string | undefined; readonly reply: Uint8Array }>();
  return exchanges.some(({ request, reply: bytes, server }) => {
    const key = `${request.unitId} ${Buffer.from(request.pdu).toString('latin1')}`;
    const reply = framing.decode(bytes)?.pdu ?? bytes;
    const other = known.get(key);
    known.set(key, { server, reply });
    return other !== undefined && other.server !== server && !isSame(other.reply, reply);
  });
}

/** @param most maximum number of rules for the device */
function learnedDevice({ unit, exchanges }: Unit, framing: Framing, most: number): LearnedDevice {
  const model = new Model();
  const replies = exchanges.map(({ reply }) => framing.decode(reply));
  for (const [i, { request }] of exchanges.entries()) {
    const pdu = replies[i]?.pdu;
    if (pdu && isPlain(request.pdu, pdu)) model.learn(request.pdu, pdu);
  }
  const turns = new Map<string, Turns>();
  const instead = new Map<string, string | undefined>();
  for (const [i, exchange] of exchanges.entries()) {
    const { request, reply: bytes, ms = 0 } = exchange;
    const reply = replies[i];
    const faults = played(model, exchange, reply, framing);
    const what = askedFor(request.pdu);
    const hasValues = reply !== undefined && isPlain(request.pdu, reply.pdu);
    if (hasValues) instead.set(what, undefined);
    else if (instead.get(what) !== undefined || !instead.has(what))
      instead.set(what, insteadOfValues(bytes, reply));
    const when = request.unitId === unit ? conditionOf(request.pdu) : undefined;
    // A device's rules do not act on broadcasts.
    if (when) keepReply(turns, when, what, faults, bytes.length > 0 ? ms : 0);
  }
  const times = exchanges.flatMap(({ ms, reply }) => (ms === undefined || reply.length === 0 ? [] : [ms]));
  const remarks = new Map<string, string[]>();
  const remark = (how: string, what: string) => {
    const known = remarks.get(how);
    if (known) known.push(what);
    else remarks.set(how, [what]);
  };
  for (const [what, how] of instead) if (how !== undefined) remark(how, what);
  const conditions = apart(Array.from(turns.values(), ({ when }) => when));
  const odd = oddReplies([...turns.values()], conditions, most, (what) =>
    remark('replies changed too often for the rules, so only the last one is used', what),
  );
  return {
    ...{ unit, tables: model.tables, odd, requests: turns.size, remarks },
    answersBroadcasts: exchanges.some(({ request }) => request.unitId !== unit),
    times: times.sort((a, b) => a - b),
    timed: Array.from(turns.values(), ({ when, ms }) => ({ when: conditions.get(when) ?? when, ms })),
  };
}

/** Replays an exchange on the registers. @returns the part that the registers alone do not give */
function played(
  model: Model,
  { request, reply: bytes, at }: LoggedExchange,
  reply: AduContent | undefined,
  framing: Framing,
): Faults {
  const { pdu } = request;
  const hasValues = reply !== undefined && isPlain(pdu, reply.pdu);
  const plain = model.reply(pdu);
  const isGiven = hasValues || (reply !== undefined && plain !== undefined && isSame(plain, reply.pdu));
  const faults = oddities(request, bytes, reply, isGiven, framing);
  if (!prevents(faults)) model.execute(pdu, hasValues ? reply.pdu : undefined, at);
  return faults;
}

function insteadOfValues(bytes: Uint8Array, reply: AduContent | undefined): string {
  if (bytes.length === 0) return 'never answered';
  const [code = 0, exception] = reply?.pdu ?? [];
  if (code < 0x80 || reply?.pdu.length !== 2) return 'answered with an unexpected reply';
  return `answered with exception ${String(exception).padStart(2, '0')}`;
}

function keepReply(
  turns: Map<string, Turns>,
  when: RequestCondition,
  what: string,
  faults: Faults,
  ms: number,
): void {
  const key = JSON.stringify(when);
  const known = turns.get(key) ?? { when, what, runs: [], ms: [] };
  turns.set(key, known);
  known.ms.push(ms);
  const last = known.runs.at(-1);
  if (last && JSON.stringify(last.faults) === JSON.stringify(faults)) last.count++;
  else known.runs.push({ faults, count: 1 });
}

/** The odd replies and their turns. If they need more than `most` rules, those with the most changes are reduced. */
function oddReplies(
  all: readonly Turns[],
  conditions: ReturnType<typeof apart>,
  most: number,
  tell: (what: string) => void,
): OddReply[] {
  const made = all.map((turns) => ({ turns, odd: inTurn(turns, conditions.get(turns.when) ?? turns.when) }));
  let sum = made.reduce((rules, { odd }) => rules + odd.length, 0);
  for (const each of made.toSorted((a, b) => b.odd.length - a.odd.length)) {
    if (sum <= most || each.odd.length <= 1) break;
    sum -= each.odd.length;
    const runs = each.turns.runs.slice(-1);
    each.odd = inTurn({ ...each.turns, runs }, conditions.get(each.turns.when) ?? each.turns.when);
    sum += each.odd.length;
    tell(each.turns.what);
  }
  return made.flatMap(({ odd }) => odd);
}

/** The odd replies to requests that a rule can't tell apart: one for all turns with the same faults. */
function inTurn({ runs }: Turns, when: RequestCondition): OddReply[] {
  const found = new Map<string, { readonly faults: Faults; readonly turns: TurnRange[] }>();
  let before = 0;
  for (const [i, { faults, count }] of runs.entries()) {
    const last = i + 1 < runs.length ? before + count : Number.POSITIVE_INFINITY;
    const key = JSON.stringify(faults);
    const known = found.get(key) ?? { faults, turns: [] };
    found.set(key, known);
    known.turns.push([before + 1, last]);
    before += count;
  }
  return Array.from(found.values(), (each) => ({ when, ...each })).filter(({ faults }) => faults.length > 0);
}

/** Describes a request in words. */
function askedFor(pdu: Uint8Array): string {
  const [range] = addressRanges(pdu);
  const { table, name = `function ${pdu[0]}` } = functionOf(pdu[0]) ?? {};
  if (!range) return name;
  const last = range.address + Math.max(1, range.quantity) - 1;
  return `${table ?? name} ${range.address}${last > range.address ? `-${last}` : ''}`;
}
