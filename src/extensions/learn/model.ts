import { isOfBits, type TableName } from '../../device/tables.js';
import { bitsAt, wordsAt } from '../../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import {
  bitsResponse,
  echoResponse,
  exceptionResponse,
  hasQuantityOf,
  wordsResponse,
} from '../../modbus/protocol/pdu.js';
import { decodeRequest, type Request } from '../../modbus/protocol/request.js';

/** A register or coil, as seen in the replies. */
export interface Cell {
  /** The value before the first request: the first that was read or written. */
  first: number;
  /** True if a reply or a request has shown the value. */
  isKnown: boolean;
  writable: boolean;
  value: number;
  /** How many times clients read it. */
  reads: number;
  /** The reads that returned neither the previous value nor the one written, with the value and the time. */
  readonly replayed: (readonly [read: number, value: number, at: number | undefined])[];
}

/** Registers or coils that a request reads, or writes with values or masks. */
interface CellsRead {
  readonly table: TableName;
  readonly address: number;
  readonly quantity: number;
}
interface CellsWritten {
  readonly table: TableName;
  readonly address: number;
  readonly quantity: number;
  /** The value after the write. @param i index of the register in the range */
  after(before: number, i: number): number;
}

/**
 * The registers of a device, which answer like the simulated device will. `learn` makes a register known;
 * `reply` and `execute` replay requests.
 */
export class Model {
  readonly tables = new Map<TableName, Map<number, Cell>>();

  /** Defines the registers that a reply shows, with the first value seen in each. */
  learn(request: Uint8Array, reply: Uint8Array): void {
    const { read, written } = accessOf(request) ?? {};
    for (let i = 0; written && i < written.quantity; i++) {
      const cell = this.#define(written.table, written.address + i);
      // A mask leaves some bits unchanged, so it does not show the whole value.
      if (request[0] !== MASK_WRITE) show(cell, written.after(0, i));
      cell.writable = true;
    }
    if (!read) return;
    const { table, address } = read;
    for (const [i, value] of valuesIn(read, reply).entries()) show(this.#define(table, address + i), value);
  }

  /** The reply that the registers give, without side effects. Undefined for functions that do not access registers. */
  reply(request: Uint8Array): Uint8Array | undefined {
    const [code = 0] = request;
    const decoded = decodeRequest(request);
    if (!decoded.ok) return exceptionResponse(code, decoded.error);
    const { read, written } = accessOf(request) ?? {};
    if (!read && !written) return undefined;
    const isOpen = (range: CellsRead | CellsWritten | undefined) =>
      !range || this.#cells(range).every((cell) => cell && (range === read || cell.writable));
    if (!isOpen(read) || !isOpen(written)) return exceptionResponse(code, 2);
    if (!read) return echoResponse(request);
    const values = this.#cells(read).map((cell, i) => {
      const before = cell?.value ?? 0;
      const at = written ? read.address + i - written.address : -1;
      return written && at >= 0 && at < written.quantity ? written.after(before, at) : before;
    });
    return isOfBits(read.table) ? bitsResponse(code, values.map(Boolean)) : wordsResponse(code, values);
  }

  /**
   * Executes a request like the device will, unless the device refuses it.
   * @param reply the real device's reply; a read that returns other values is replayed
   * @param at the time of the request, in ms
   */
  execute(request: Uint8Array, reply?: Uint8Array, at?: number): void {
    const plain = this.reply(request);
    if (!plain || (plain[0] as number) & EXCEPTION_FLAG) return;
    const { read, written } = accessOf(request) ?? {};
    if (written)
      for (const [i, cell] of this.#cells(written).entries())
        if (cell) cell.value = written.after(cell.value, i);
    if (!read) return;
    const found = reply && valuesIn(read, reply);
    for (const [i, cell] of this.#cells(read).entries()) {
      if (!cell) continue;
      cell.reads++;
      const value = found?.[i] ?? cell.value;
      if (value !== cell.value) cell.replayed.push([cell.reads, value, at]);
      cell.value = value;
    }
  }

  #cells({ table, address, quantity }: CellsRead | CellsWritten): (Cell | undefined)[] {
    const cells = this.tables.get(table);
    return Array.from({ length: quantity }, (_, i) => cells?.get(address + i));
  }

  #define(table: TableName, address: number): Cell {
    const cells = this.tables.get(table) ?? new Map<number, Cell>();
    this.tables.set(table, cells);
    const cell = cells.get(address) ?? {
      ...{ first: 0, value: 0, isKnown: false, writable: false, reads: 0 },
      replayed: [],
    };
    cells.set(address, cell);
    return cell;
  }
}

function show(cell: Cell, value: number): void {
  if (cell.isKnown) return;
  cell.isKnown = true;
  cell.first = cell.value = value;
}

/** True if a device's registers can give this reply to a request, for some values. */
export function isPlain(request: Uint8Array, reply: Uint8Array): boolean {
  const { read } = accessOf(request) ?? {};
  const { response, table } = functionOf(request[0]) ?? {};
  if (!response || !table || reply[0] !== request[0] || !decodeRequest(request).ok) return false;
  if (!read) return reply.length === response.length && isSame(reply, echoResponse(request));
  if (!hasQuantityOf(reply, request) || reply.length !== 2 + (reply[1] ?? 0)) return false;
  // The bits after the last coil are 0 (Application Protocol V1.1b3, 6.1).
  return (
    !isOfBits(read.table) || isSame(reply, bitsResponse(reply[0] as number, bitsAt(reply, 2, read.quantity)))
  );
}

export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

/** The values that a request writes, if it contains all of them: functions 5, 6, 15 and 16. */
export function writtenValues(request: Uint8Array): number[] | undefined {
  const { read, written } = accessOf(request) ?? {};
  if (read || !written || request[0] === MASK_WRITE) return undefined;
  return Array.from({ length: written.quantity }, (_, i) => written.after(0, i));
}

const MASK_WRITE = 22;

function valuesIn({ table, quantity }: CellsRead, reply: Uint8Array): number[] {
  return isOfBits(table) ? bitsAt(reply, 2, quantity).map(Number) : wordsAt(reply, 2, quantity);
}

/** The cells that a valid request reads and writes; undefined for functions that do not access registers. */
function accessOf(
  pdu: Uint8Array,
): { readonly read?: CellsRead; readonly written?: CellsWritten } | undefined {
  const decoded = decodeRequest(pdu);
  const table = functionOf(pdu[0])?.table;
  return decoded.ok && table !== undefined ? accessIn(decoded.value, table) : undefined;
}

function accessIn(request: Request, table: TableName) {
  const writing = (address: number, values: readonly number[]): CellsWritten => ({
    ...{ table, address, quantity: values.length },
    after: (_, i) => values[i] as number,
  });
  if ('readAddress' in request)
    return {
      read: { table, address: request.readAddress, quantity: request.readQuantity },
      written: writing(request.writeAddress, request.words),
    };
  if (!('address' in request)) return undefined;
  const { address } = request;
  if ('quantity' in request) return { read: { table, address, quantity: request.quantity } };
  if ('words' in request) return { written: writing(address, request.words) };
  if ('bits' in request) return { written: writing(address, request.bits.map(Number)) };
  if ('on' in request) return { written: writing(address, [Number(request.on)]) };
  if ('value' in request) return { written: writing(address, [request.value]) };
  if (!('andMask' in request)) return undefined;
  const { andMask, orMask } = request;
  const after = (before: number) => (before & andMask) | (orMask & ~andMask & 0xffff);
  return { written: { table, address, quantity: 1, after } };
}
