import { copyOf, setWord } from '../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG, ExceptionCode, FunctionCode } from '../modbus/protocol/function-code.js';
import { functionOf } from '../modbus/protocol/function-table.js';
import { ADDRESS_SPACE } from '../modbus/protocol/limits.js';
import { addressRanges, bitsResponse, exceptionResponse, wordsResponse } from '../modbus/protocol/pdu.js';
import { decodeRequest } from '../modbus/protocol/request.js';
import { Table } from './registers/table.js';
import { TABLE_NAMES, type TableName, type Tables } from './tables.js';

/**
 * Quirks of real devices that deviate from the specification. All of it is plain data; each key works on its
 * own, and times are in ms. The schema that reads a key explains it (`document/native/manners-schema.ts`).
 */
export interface Manners {
  readonly most?: Most | undefined;
  readonly holes?: Holes | undefined;
  readonly wholeValues?: boolean | undefined;
  readonly writes?: 'single' | 'multiple' | 'both' | undefined;
  /** Groups of tables that share registers. The registers of the first table of a group are used. */
  readonly sharedMemory?: readonly (readonly TableName[])[] | undefined;
  /** The address in the file that corresponds to address 0 on the wire. */
  readonly addresses?:
    | { readonly first: number | Readonly<Partial<Record<TableName, number | undefined>>> }
    | undefined;
  readonly pauseBefore?: number | undefined;
  readonly connectPause?: { readonly for: number; readonly otherwise: 'silence' | 'deaf' } | undefined;
  readonly sleeps?: { readonly after: number; readonly wakes: number } | undefined;
  readonly locksUp?: { readonly on: readonly Lock[]; readonly for: number | 'power' } | undefined;
  /** The unit identifier in the device's replies to requests to unit 0 on serial lines: its own, or 0. */
  readonly answersBroadcasts?: 'own' | 'zero' | undefined;
  readonly firstReply?: { readonly slow: number; readonly on: 'start' | 'connect' | 'both' } | undefined;
}

interface Most {
  readonly registers?: number | undefined;
  readonly bits?: number | undefined;
  /** What happens to a request for more: an exception code, no answer, or an answer with as much as allowed. */
  readonly otherwise: number | 'silence' | 'cut';
}

/** What a read of undefined addresses returns. */
type Holes =
  | 'exception'
  | 'silence'
  | 'shift'
  | { readonly fill: number }
  | { readonly unless: 'all' }
  | { readonly exception: number };

/** What makes a device lock up: a request or a connection. */
export type Lock = 'function' | 'address' | 'value' | { readonly reconnect: number };

/** A connection to a line, from the point of view of a device. A serial line has no connections. */
export interface Connection {
  /** When the connection began, in ms of `performance.now()`. */
  readonly since: number;
  /** How long before that the previous connection to the line began, in ms; undefined for the first connection. */
  readonly afterLast: number | undefined;
  /** How many requests arrived on the connection, including the one being answered. */
  requests: number;
}

/** The times around a request, in ms of `performance.now()`. */
export interface Moment {
  /** When the first byte of the request arrived, and when its last byte did. */
  readonly startedAt: number;
  readonly receivedAt: number;
  /** When the last byte before the request was received or sent on the line; undefined for the first request. */
  readonly quietSince: number | undefined;
  readonly connection: Connection | undefined;
}

/** The exceptions that may lock up a device (Application Protocol V1.1b3, 7). */
const LOCKS: ReadonlyMap<number, Lock> = new Map([
  [ExceptionCode.illegalFunction, 'function'],
  [ExceptionCode.illegalDataAddress, 'address'],
  [ExceptionCode.illegalDataValue, 'value'],
]);

/**
 * The manners of a device that involve time: which requests it does not hear, and which replies are late.
 * Each start of the device creates a new object, in which the device is awake at first.
 */
export class TimedManners {
  readonly #manners: Manners;
  /** When a request last arrived for the device, and how many further requests only wake it. */
  #askedAt: number;
  #wakes = 0;
  /** When the device's lock-up ends, in ms of `performance.now()`; infinite if it lasts until the power is switched. */
  #lockedUntil = Number.NEGATIVE_INFINITY;
  #isFirst = true;
  readonly #deaf = new WeakSet<Connection>();

  /**
   * Starts with a device that is awake.
   * @param startedAt when the device started, in ms of `performance.now()`
   */
  constructor(manners: Manners, startedAt: number) {
    this.#manners = manners;
    this.#askedAt = startedAt;
  }

  /**
   * Returns why the device does not hear a request; undefined if it does. Call this once for each request, in
   * order.
   */
  whyUnheard(moment: Moment): string | undefined {
    const before = this.#askedAt;
    this.#askedAt = moment.receivedAt;
    return (
      this.#whyLocked(moment) ??
      this.#whyAsleep(moment, before) ??
      this.#whyTooEarly(moment) ??
      this.#whyJustConnected(moment)
    );
  }

  /** Records that a client has connected to a line of the device. */
  connected({ since, afterLast }: Connection): void {
    const quick = this.#manners.locksUp?.on.find((lock) => typeof lock === 'object');
    if (typeof quick !== 'object' || afterLast === undefined || afterLast >= quick.reconnect) return;
    this.#lock(since);
  }

  /** Records that a request was answered with this PDU. @returns by how many ms the reply is late */
  answered(response: Uint8Array, { receivedAt, connection }: Moment): number {
    const lock = (response[0] as number) & EXCEPTION_FLAG ? LOCKS.get(response[1] as number) : undefined;
    if (lock !== undefined && this.#manners.locksUp?.on.includes(lock)) this.#lock(receivedAt);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const { firstReply } = this.#manners;
    if (firstReply === undefined) return 0;
    const { slow, on } = firstReply;
    const isLate = (on !== 'connect' && isFirst) || (on !== 'start' && connection?.requests === 1);
    return isLate ? slow : 0;
  }

  #lock(from: number): void {
    const length = this.#manners.locksUp?.for ?? 0;
    this.#lockedUntil = length === 'power' ? Number.POSITIVE_INFINITY : from + length;
  }

  #whyLocked({ receivedAt }: Moment): string | undefined {
    return receivedAt < this.#lockedUntil ? 'the device has locked up' : undefined;
  }

  #whyAsleep({ receivedAt }: Moment, before: number): string | undefined {
    const { sleeps } = this.#manners;
    if (sleeps === undefined) return undefined;
    if (receivedAt - before > sleeps.after) this.#wakes = sleeps.wakes;
    if (this.#wakes === 0) return undefined;
    this.#wakes--;
    return 'the device was asleep; the request woke it';
  }

  #whyTooEarly({ startedAt, quietSince }: Moment): string | undefined {
    const { pauseBefore } = this.#manners;
    const isEarly =
      pauseBefore !== undefined && quietSince !== undefined && startedAt - quietSince < pauseBefore;
    return isEarly ? `the request began less than ${pauseBefore} ms after the previous frame` : undefined;
  }

  #whyJustConnected({ receivedAt, connection }: Moment): string | undefined {
    const { connectPause } = this.#manners;
    if (connectPause === undefined || connection === undefined) return undefined;
    if (receivedAt - connection.since < connectPause.for) {
      if (connectPause.otherwise === 'deaf') this.#deaf.add(connection);
      return `the client connected less than ${connectPause.for} ms before the request`;
    }
    return this.#deaf.has(connection)
      ? 'the device ignores all requests until the connection is closed'
      : undefined;
  }
}

/** The functions that write one coil or register, and those that write several or change part of a register. */
const SINGLE: readonly number[] = [FunctionCode.writeSingleCoil, FunctionCode.writeSingleRegister];
const MULTIPLE: readonly number[] = [FunctionCode.writeMultipleCoils, FunctionCode.writeMultipleRegisters];
const WRITES: readonly number[] = [
  ...SINGLE,
  ...MULTIPLE,
  FunctionCode.maskWriteRegister,
  FunctionCode.readWriteMultipleRegisters,
];
const KNOWN_WRITES = { single: SINGLE, multiple: MULTIPLE, both: WRITES };

/**
 * Returns the tables as clients of a device with these manners see them: windows onto the same registers. For
 * example, holding register 40001 of the file and REST may be address 0 on the wire, or function 4 may read
 * what function 3 reads.
 */
export function servedTables(tables: Tables, manners: Manners): Tables {
  const { wholeValues } = manners;
  const served = (name: TableName): Table => {
    const { source, first } = storedAs(manners, name);
    const { window } = tables[source];
    const cells = Math.min(window.size, first);
    if (source === name && cells === 0 && wholeValues === undefined) return tables[name];
    return new Table({
      ...window,
      base: window.base + cells,
      size: window.size - cells,
      wholeValues: wholeValues ?? window.wholeValues,
    });
  };
  const [coils, discrete, input, holding] = TABLE_NAMES.map(served) as [Table, Table, Table, Table];
  return { coils, discrete, input, holding };
}

/** Returns the table and the first address of the registers that clients see in a table. */
export function storedAs(
  { sharedMemory = [], addresses: { first = 0 } = { first: 0 } }: Manners,
  table: TableName,
): { readonly source: TableName; readonly first: number } {
  const source = sharedMemory.find((group) => group.includes(table))?.[0] ?? table;
  return { source, first: typeof first === 'number' ? first : (first[source] ?? 0) };
}

/**
 * Returns the request that a device with manners executes, or the response that it gives without executing
 * anything; an undefined response means none.
 */
export function takenRequest(
  { writes = 'both', most }: Manners,
  requestPdu: Uint8Array,
): { readonly request: Uint8Array } | { readonly response: Uint8Array | undefined } {
  const code = requestPdu[0] as number;
  if (WRITES.includes(code) && !KNOWN_WRITES[writes].includes(code)) {
    return { response: exceptionResponse(code, ExceptionCode.illegalFunction) };
  }
  const request = most === undefined ? requestPdu : withinMost(most, requestPdu);
  if (request instanceof Uint8Array) return { request };
  return { response: request === 'silence' ? undefined : exceptionResponse(code, request) };
}

/**
 * Returns the response PDU of a device with manners; undefined if the device does not answer.
 * @param tables as clients see them
 * @param answer the response according to the specification
 */
export function manneredAnswer(
  manners: Manners,
  tables: Tables,
  requestPdu: Uint8Array,
  answer: (pdu: Uint8Array) => Uint8Array | undefined,
): Uint8Array | undefined {
  const taken = takenRequest(manners, requestPdu);
  if ('response' in taken) return taken.response;
  const { holes = 'exception' } = manners;
  const { request } = taken;
  const response = answer(request);
  if (holes === 'exception' || response?.[1] !== ExceptionCode.illegalDataAddress) return response;
  // Only undefined addresses make a read fail with exception 02. A response with a byte count of 2 has other
  // data than that code.
  const read = readWithHoles(holes, tables, request);
  return read === 'no holes' ? response : read;
}

/**
 * Returns the request limited to what the device accepts, or what the device does instead. An invalid request
 * is left to the specification.
 */
function withinMost(most: Most, requestPdu: Uint8Array): Uint8Array | number | 'silence' {
  const { ranges = [], table } = functionOf(requestPdu[0]) ?? {};
  const limit = table === 'coils' || table === 'discrete' ? most.bits : most.registers;
  const asked = addressRanges(requestPdu);
  if (limit === undefined || asked.every(({ quantity }) => quantity <= limit)) return requestPdu;
  if (!decodeRequest(requestPdu).ok) return requestPdu;
  if (most.otherwise !== 'cut') return most.otherwise;
  const cut = copyOf(requestPdu);
  ranges.forEach(({ quantityAt }, i) => {
    const { quantity = 0 } = asked[i] ?? {};
    if (quantityAt !== undefined) setWord(cut, quantityAt, Math.min(quantity, limit));
  });
  return withDataOf(cut, limit);
}

/** Returns a write with its data shortened to the reduced quantity. */
function withDataOf(pdu: Uint8Array, limit: number): Uint8Array {
  const rule = functionOf(pdu[0])?.request.length;
  if (typeof rule !== 'object') return pdu;
  const isBits = pdu[0] === FunctionCode.writeMultipleCoils;
  const bytes = Math.min(pdu[rule.countAt] as number, isBits ? Math.ceil(limit / 8) : 2 * limit);
  pdu[rule.countAt] = bytes;
  return pdu.subarray(0, rule.plus + bytes);
}

/** Returns the answer to a read that includes undefined addresses; `no holes` for every other request. */
function readWithHoles(
  holes: Exclude<Holes, 'exception'>,
  tables: Tables,
  requestPdu: Uint8Array,
): Uint8Array | undefined | 'no holes' {
  const code = requestPdu[0] as number;
  const { table: name, values } = functionOf(code) ?? {};
  const [range, written] = addressRanges(requestPdu);
  const isRead = name !== undefined && values !== undefined && range !== undefined && written === undefined;
  if (!isRead || !decodeRequest(requestPdu).ok) return 'no holes';
  const table = tables[name];
  const addresses = Array.from({ length: range.quantity }, (_, i) => range.address + i);
  if (range.address + range.quantity > ADDRESS_SPACE) return 'no holes';
  if (values === 'words' && table.cutsValue(range)) return 'no holes';
  const isDefined = addresses.map((address) => table.defines(address, values));
  if (isDefined.every(Boolean)) return 'no holes';
  if (holes === 'silence') return undefined;
  if (typeof holes === 'object' && 'exception' in holes) return exceptionResponse(code, holes.exception);
  // Devices that close the gaps refuse a hole that is read on its own: LavermanJJ/pysolarfocus issue 61.
  const isFilled = typeof holes === 'object' && 'fill' in holes;
  if (!isFilled && !isDefined.some(Boolean)) return 'no holes';
  const fill = isFilled ? holes.fill : 0;
  const read = addresses.map((address, i): number | undefined => {
    if (!isDefined[i]) return undefined;
    return values === 'bits'
      ? Number(table.readBits(address, 1)[0])
      : (table.readWords(address, 1)[0] as number);
  });
  const present = read.filter((word) => word !== undefined);
  const words = addresses.map((_, i) => (holes === 'shift' ? present[i] : read[i]) ?? fill);
  return values === 'bits'
    ? bitsResponse(
        code,
        words.map((bit) => bit !== 0),
      )
    : wordsResponse(code, words);
}
