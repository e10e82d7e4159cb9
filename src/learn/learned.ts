import type { TableName } from '../device/tables.js';
import { bitsAt, concatBytes, wordAt, wordsAt } from '../protocol/bytes.js';
import { type AduContent, type Framing, RTU, SOCKET } from '../protocol/framing.js';
import { EXCEPTION_FLAG } from '../protocol/function-code.js';
import { functionOf } from '../protocol/function-table.js';
import { addressRanges, hasQuantityOf } from '../protocol/pdu.js';
import { decodeRequest } from '../protocol/request.js';
import type { Conversation, Exchange } from './exchanges.js';

/** What a value was, and since when: in ms of the log, or the number of the exchange where that has no times. */
export interface Seen {
  readonly at: number;
  readonly value: number;
}

/** A reply that registers alone do not give, with the request that got it. */
export interface OddReply {
  readonly request: AduContent;
  /** As fault rules have it: `{exception: 2}`, `{silence: true}`, `{transaction: 'swapped'}`, `{junk: '00 01'}`. */
  readonly faults: readonly Readonly<Record<string, unknown>>[];
}

/** A device as the log shows it. */
export interface LearnedDevice {
  readonly unit: number;
  readonly tables: ReadonlyMap<TableName, ReadonlyMap<number, Seen[]>>;
  /** Addresses that clients have written. */
  readonly written: ReadonlySet<string>;
  readonly odd: readonly OddReply[];
  /** How many different requests there were. */
  readonly requests: number;
  /** Reply times in ms, sorted. */
  readonly times: readonly number[];
  /** What was asked for and never answered with a value. */
  readonly missing: readonly string[];
}

interface Open {
  readonly unit: number;
  readonly tables: Map<TableName, Map<number, Seen[]>>;
  readonly written: Set<string>;
  readonly odd: Map<string, OddReply>;
  readonly requests: Set<string>;
  readonly times: number[];
  readonly asked: Set<string>;
  readonly answered: Set<string>;
}

/** The devices that a conversation shows, by their units. Of equal requests the last odd reply counts. */
export function learn({ framing: name, exchanges }: Conversation): LearnedDevice[] {
  const framing = name === 'socket' ? SOCKET : RTU;
  const devices = new Map<number, Open>();
  for (const [i, exchange] of exchanges.entries()) {
    const { unitId } = exchange.request;
    const device = devices.get(unitId) ?? {
      unit: unitId,
      tables: new Map(),
      written: new Set(),
      odd: new Map(),
      requests: new Set(),
      times: [],
      asked: new Set(),
      answered: new Set(),
    };
    devices.set(unitId, device);
    learnExchange(device, exchange, exchange.at ?? 1000 * i, framing);
  }
  return [...devices.values()].map(({ odd, requests, times, asked, answered, ...device }) => ({
    ...device,
    requests: requests.size,
    odd: [...odd.values()],
    times: times.sort((a, b) => a - b),
    missing: [...asked].filter((each) => !answered.has(each)),
  }));
}

function learnExchange(device: Open, exchange: Exchange, at: number, framing: Framing): void {
  const { request, replies, ms } = exchange;
  const key = Buffer.from(request.pdu).toString('hex');
  const what = askedFor(request.pdu);
  device.asked.add(what);
  device.requests.add(key);
  const [first] = replies;
  const reply = replies.length === 1 && first ? framing.decode(first) : undefined;
  const answered = reply && answersTo(request.pdu, reply.pdu);
  if (ms !== undefined && replies.length > 0) device.times.push(ms);
  if (answered && reply.pdu[0] === request.pdu[0]) {
    device.answered.add(what);
    keepValues(device, request.pdu, reply.pdu, at);
  }
  const faults = oddities(request, reply, answered === true, replies, framing);
  if (faults.length > 0) device.odd.set(key, { request, faults });
  else device.odd.delete(key);
}

/** Whether the device of these registers gives this reply, but for an exception. */
function answersTo(request: Uint8Array, reply: Uint8Array): boolean {
  const [code = 0] = request;
  if (reply[0] === (code | EXCEPTION_FLAG)) return reply.length === 2;
  if (reply[0] !== code) return false;
  const layout = functionOf(code);
  if (layout?.table === undefined) return false;
  if (layout.values !== undefined)
    return hasQuantityOf(reply, request) && reply.length === 2 + (reply[1] ?? 0);
  const { response } = layout;
  return reply.length === response.length && Buffer.compare(reply, request.subarray(0, reply.length)) === 0;
}

/** What rules have to do so that the reply is the one that was seen. */
function oddities(
  request: AduContent,
  reply: AduContent | undefined,
  isUsual: boolean,
  replies: readonly Uint8Array[],
  framing: Framing,
): Readonly<Record<string, unknown>>[] {
  if (replies.length === 0) return [{ silence: true }];
  if (!reply) return [{ junk: hexText(concatBytes(...replies)) }];
  const faults: Readonly<Record<string, unknown>>[] = [];
  const [code = 0, exception = 0] = reply.pdu;
  if (code & EXCEPTION_FLAG && isUsual) faults.push({ exception });
  else if (!isUsual) faults.push({ pdu: hexText(reply.pdu) });
  if (reply.unitId !== request.unitId) faults.push({ unit: reply.unitId });
  if (framing === SOCKET && reply.transactionId !== request.transactionId)
    faults.push({ transaction: wrongTransaction(request.transactionId, reply.transactionId) });
  return faults;
}

function wrongTransaction(asked: number, got: number): number | string {
  if (got === (((asked & 0xff) << 8) | (asked >> 8))) return 'swapped';
  if (got === 0) return 0;
  const difference = got - asked;
  return difference > 0 ? `+${difference}` : String(difference);
}

function keepValues(device: Open, request: Uint8Array, reply: Uint8Array, at: number): void {
  const decoded = decodeRequest(request);
  const { table, values } = functionOf(request[0]) ?? {};
  const [range] = addressRanges(request);
  if (!decoded.ok || table === undefined || !range) return;
  const see = (address: number, value: number) => {
    const known = device.tables.get(table) ?? new Map<number, Seen[]>();
    device.tables.set(table, known);
    const seen = known.get(address) ?? [];
    known.set(address, seen);
    if (seen.at(-1)?.value !== value) seen.push({ at, value });
  };
  if (values === undefined) {
    // A write: what it wrote is there from now on, and may be written.
    for (let i = 0; i < range.quantity; i++) device.written.add(`${table} ${range.address + i}`);
    for (const [i, value] of writtenValues(request, range.quantity).entries()) see(range.address + i, value);
    return;
  }
  const data =
    values === 'bits' ? bitsAt(reply, 2, range.quantity).map(Number) : wordsAt(reply, 2, range.quantity);
  for (const [i, value] of data.entries()) see(range.address + i, value);
}

function writtenValues(request: Uint8Array, quantity: number): number[] {
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

function hexText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
