import type { TableName } from '../../device/tables.js';
import { bitsAt, hex, wordAt, wordsAt } from '../../modbus/protocol/bytes.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import type { Conversation, LoggedExchange } from './exchanges.js';
import {
  answersTo,
  apart,
  conditionOf,
  type Faults,
  oddities,
  type RequestCondition,
  replyIn,
} from './odd-replies.js';

/**
 * A value, and when it was seen first: in ms of the log, or the number of the exchange when the log has no
 * times.
 */
export interface SeenValue {
  readonly at: number;
  readonly value: number;
}

/** Equal replies that registers alone do not give, to requests that a rule can't tell apart. */
export interface OddReply {
  readonly when: RequestCondition;
  readonly faults: Faults;
  /** The number of such requests before. */
  readonly after: number;
  /** The number of requests that got this reply; undefined for the last known reply, so that it stays. */
  readonly count: number | undefined;
}

/** A device as the log shows it. */
export interface LearnedDevice {
  readonly unit: number;
  readonly tables: ReadonlyMap<TableName, ReadonlyMap<number, SeenValue[]>>;
  /** Addresses that clients have written. */
  readonly written: ReadonlySet<string>;
  readonly odd: readonly OddReply[];
  /** The number of different requests. */
  readonly requests: number;
  /** Reply times in ms, sorted. */
  readonly times: readonly number[];
  /** What a person has to know, such as `never answered`, with the requests that it is about. */
  readonly remarks: ReadonlyMap<string, readonly string[]>;
}

interface FaultRun {
  readonly faults: Faults;
  count: number;
}

interface Turns {
  readonly when: RequestCondition;
  readonly what: string;
  readonly runs: FaultRun[];
}

interface Open {
  readonly unit: number;
  readonly tables: Map<TableName, Map<number, SeenValue[]>>;
  readonly written: Set<string>;
  /** Equal replies in a row, by requests that a rule can't tell apart. */
  readonly turns: Map<string, Turns>;
  readonly times: number[];
  /** The last remark on each thing that was requested; undefined when a value has come. */
  readonly asked: Map<string, string | undefined>;
}

/** The most changes of a reply. If there are more, the last reply is used. */
const MOST_RUNS = 16;

/**
 * The devices of each line that a conversation shows. There are several lines when servers contradict each
 * other.
 */
export function learn({ framing, exchanges }: Conversation): LearnedDevice[][] {
  const lines = new Map<string | undefined, Map<number, Open>>();
  const isOne = !contradict(exchanges, framing);
  for (const [i, exchange] of exchanges.entries()) {
    const { request, server, at = 1000 * i } = exchange;
    const place = isOne ? undefined : server;
    const devices = lines.get(place) ?? new Map<number, Open>();
    lines.set(place, devices);
    const device = devices.get(request.unitId) ?? newDevice(request.unitId);
    devices.set(request.unitId, device);
    learnExchange(device, exchange, at, framing);
  }
  return [...lines.values()].map((devices) => [...devices.values()].map(learnedDevice));
}

/** True when equal requests to two servers have got different replies. */
function contradict(exchanges: readonly LoggedExchange[], framing: Framing): boolean {
  const known = new Map<string, { readonly server: string | undefined; readonly reply: string }>();
  return exchanges.some(({ request, replies, server }) => {
    const key = `${request.unitId} ${hex(request.pdu)}`;
    const reply = replies.map((each) => hex(framing.decode(each)?.pdu ?? each)).join();
    const other = known.get(key);
    known.set(key, { server, reply });
    return other !== undefined && other.server !== server && other.reply !== reply;
  });
}

function newDevice(unit: number): Open {
  return { unit, tables: new Map(), written: new Set(), turns: new Map(), times: [], asked: new Map() };
}

function learnedDevice({ turns, times, asked, ...device }: Open): LearnedDevice {
  const remarks = new Map<string, string[]>();
  const remark = (how: string, what: string) => {
    remarks.set(how, remarks.get(how) ?? []);
    remarks.get(how)?.push(what);
  };
  for (const [what, instead] of asked) if (instead !== undefined) remark(instead, what);
  const conditions = apart([...turns.values()].map(({ when }) => when));
  const odd = [...turns.values()].flatMap(({ when: wide, what, runs }) => {
    const when = conditions.get(wide) ?? wide;
    if (runs.length <= MOST_RUNS) return oddReplies(when, runs);
    remark(`replies changed more than ${MOST_RUNS} times, and the last one counts`, what);
    return oddReplies(when, runs.slice(-1));
  });
  return { ...device, odd, requests: turns.size, times: times.sort((a, b) => a - b), remarks };
}

function oddReplies(when: RequestCondition, runs: readonly FaultRun[]): OddReply[] {
  let after = 0;
  const all = runs.map(({ faults, count }, i) => {
    const reply = { when, faults, after, count: i + 1 < runs.length ? count : undefined };
    after += count;
    return reply;
  });
  return all.filter(({ faults }) => faults.length > 0);
}

function learnExchange(device: Open, exchange: LoggedExchange, at: number, framing: Framing): void {
  const { request, replies, ms } = exchange;
  const what = askedFor(request.pdu);
  const reply = replyIn(replies, framing);
  if (ms !== undefined && replies.length > 0) device.times.push(ms);
  const faults = oddities(request, replies, framing);
  if (reply && reply.pdu[0] === request.pdu[0] && answersTo(request.pdu, reply.pdu)) {
    device.asked.set(what, undefined);
    keepValues(device, request.pdu, reply.pdu, at);
  } else if (!device.asked.has(what) || device.asked.get(what) !== undefined)
    device.asked.set(what, insteadOfValues(faults));
  const when = conditionOf(request.pdu);
  if (when) keepReply(device, when, what, faults);
}

function insteadOfValues([fault]: Faults): string {
  if (fault && 'exception' in fault)
    return `answered with exception ${String(fault.exception).padStart(2, '0')}`;
  return fault && 'silence' in fault ? 'never answered' : 'answered with something else';
}

function keepReply({ turns }: Open, when: RequestCondition, what: string, faults: Faults): void {
  const key = JSON.stringify(when);
  const known = turns.get(key) ?? { when, what, runs: [] };
  turns.set(key, known);
  const last = known.runs.at(-1);
  if (last && JSON.stringify(last.faults) === JSON.stringify(faults)) last.count++;
  else known.runs.push({ faults, count: 1 });
}

function keepValues(device: Open, request: Uint8Array, reply: Uint8Array, at: number): void {
  const decoded = decodeRequest(request);
  const { table, values } = functionOf(request[0]) ?? {};
  const [range] = addressRanges(request);
  if (!decoded.ok || table === undefined || !range) return;
  const see = (address: number, value: number) => {
    const known = device.tables.get(table) ?? new Map<number, SeenValue[]>();
    device.tables.set(table, known);
    const seen = known.get(address) ?? [];
    known.set(address, seen);
    if (seen.at(-1)?.value !== value) seen.push({ at, value });
  };
  if (values === undefined) {
    // A write sets the values from now on, and shows that clients may write there.
    for (let i = 0; i < range.quantity; i++) device.written.add(`${table} ${range.address + i}`);
    for (const [i, value] of writtenValues(request, range.quantity).entries()) see(range.address + i, value);
    return;
  }
  const data =
    values === 'bits' ? bitsAt(reply, 2, range.quantity).map(Number) : wordsAt(reply, 2, range.quantity);
  for (const [i, value] of data.entries()) see(range.address + i, value);
}

/** The values that functions 5, 6, 15 and 16 write, with coils as 0 and 1; zeros for other functions. */
export function writtenValues(request: Uint8Array, quantity: number): number[] {
  const [code] = request;
  if (code === 5) return [request[3] === 0xff ? 1 : 0];
  if (code === 6) return [wordAt(request, 3)];
  if (code === 15) return bitsAt(request, 6, quantity).map(Number);
  return code === 16 ? wordsAt(request, 6, quantity) : new Array<number>(quantity).fill(0);
}

/** What a request asks for, in words. */
function askedFor(pdu: Uint8Array): string {
  const [range] = addressRanges(pdu);
  const { table, name = `function ${pdu[0]}` } = functionOf(pdu[0]) ?? {};
  if (!range) return name;
  const last = range.address + range.quantity - 1;
  return `${table ?? name} ${range.address}${last > range.address ? `-${last}` : ''}`;
}
