import type { TableName } from '../../device/tables.js';
import { bitsAt, concatBytes, packWords, wordsAt } from '../../modbus/protocol/bytes.js';
import { ExceptionCode } from '../../modbus/protocol/exception-code.js';
import { FunctionCode } from '../../modbus/protocol/function-code.js';
import { MAX_BITS_READ, MAX_REGISTERS_READ } from '../../modbus/protocol/limits.js';
import { type Asker, type ReadRefusal, refusalOf, type Taken } from './asker.js';

/** The first and the last address, both included. */
export type Range = readonly [first: number, last: number];

/** The function code that reads each table. */
export const READ_FUNCTIONS: Readonly<Record<TableName, number>> = {
  coils: FunctionCode.readCoils,
  discrete: FunctionCode.readDiscreteInputs,
  input: FunctionCode.readInputRegisters,
  holding: FunctionCode.readHoldingRegisters,
};

/**
 * When a block of this many addresses is refused, one in four is tried alone: that finds every group of four
 * registers.
 */
const SAMPLED_BLOCK = 32;
const SAMPLES = 8;

/** Finds out what a device has in one table, by reading alone. */
export class TableSurvey {
  readonly table: TableName;
  readonly values = new Map<number, number>();
  /** How the device refuses reads that touch undefined addresses, and how often it did so each way. */
  readonly refusals = new Map<ReadRefusal, number>();
  /** Blocks of which only eight addresses were tried: a single register between those may be missed. */
  readonly sampled: Range[] = [];
  /** How the device refuses the function itself; undefined when it knows the function. */
  unsupported: ReadRefusal | undefined;
  /**
   * The greatest quantity of one request, and how a greater one is refused; undefined when the device allows
   * as much as the specification.
   */
  limit: { readonly quantity: number; readonly otherwise: ReadRefusal } | undefined;
  readonly #asker: Asker;
  readonly #isBits: boolean;
  /** The quantity of the next reads. */
  #most: number;
  /** The greatest quantity that one request has read so far. */
  #greatest = 0;

  constructor(table: TableName, asker: Asker) {
    this.table = table;
    this.#asker = asker;
    this.#isBits = table === 'coils' || table === 'discrete';
    this.#most = this.#maximum;
  }

  get #maximum(): number {
    return this.#isBits ? MAX_BITS_READ : MAX_REGISTERS_READ;
  }

  /**
   * Reads all of these addresses, block by block, and then looks for the greatest quantity of one request.
   */
  async read(ranges: readonly Range[], progress: (address: number) => void = () => {}): Promise<void> {
    for (const [first, last] of ranges) {
      for (let start = first; start <= last && !this.#isOver; ) {
        progress(start);
        const count = Math.min(this.#most, last - start + 1);
        await this.#block(start, count);
        start += count;
      }
    }
    if (this.values.size === 0 && this.#isRefusedAsSuch) {
      [this.unsupported] = this.refusals.keys();
      this.sampled.length = 0;
    }
    await this.#findLimit();
  }

  /** Reads all known values again. @returns the values that have changed since, by their addresses */
  async readAgain(): Promise<Map<number, number>> {
    const changed = new Map<number, number>();
    for (const { start, length } of runsOf(this.values)) {
      for (let done = 0; done < length && !this.#isOver; ) {
        const count = Math.min(this.#most, length - done);
        const taken = await this.#ask(start + done, count);
        if (taken.kind === 'data')
          this.#valuesIn(taken.pdu, count).forEach((value, i) => {
            const address = start + done + i;
            if (this.values.get(address) !== value) changed.set(address, value);
          });
        done += count;
      }
    }
    return changed;
  }

  get #isOver(): boolean {
    return this.#asker.isOver || this.#isUnknown;
  }

  /** True when the device does not know the function: then it says so to every request. */
  get #isUnknown(): boolean {
    return this.values.size === 0 && this.refusals.has(ExceptionCode.illegalFunction);
  }

  /** True when all refusals so far are of one kind, and not about addresses. */
  get #isRefusedAsSuch(): boolean {
    const [first] = this.refusals.keys();
    return this.refusals.size === 1 && first !== ExceptionCode.illegalDataAddress && !this.#asker.isOver;
  }

  /** Reads as much of a block as can be read. @returns whether that is all of the block */
  async #block(start: number, count: number): Promise<boolean> {
    const taken = await this.#ask(start, count);
    if (taken.kind === 'data') {
      this.#keep(start, taken.pdu, count);
      return true;
    }
    if (this.#asker.isOver) return false;
    const refusal = refusalOf(taken);
    if (count === 1 || refusal === ExceptionCode.illegalFunction) this.#count(refusal);
    if (count === 1 || this.#isUnknown) return false;
    const isSampled = count > SAMPLES && count <= SAMPLED_BLOCK && !this.#hasNeighbours(start, count);
    if (isSampled && !(await this.#hasAny(start, count))) {
      this.sampled.push([start, start + count - 1]);
      return false;
    }
    const half = Math.ceil(count / 2);
    const first = await this.#block(start, half);
    const second = await this.#block(start + half, count - half);
    // When both halves can be read and the whole can't, the whole is too much for one request.
    if (first && second) this.#most = Math.min(this.#most, half);
    return first && second;
  }

  /** True when the device has a value near this block: then all addresses of the block are tried. */
  #hasNeighbours(start: number, count: number): boolean {
    for (let address = start - SAMPLED_BLOCK; address < start + count; address++)
      if (this.values.has(address)) return true;
    return false;
  }

  /** Tries some addresses of a block, each alone. @returns whether one of them was read */
  async #hasAny(start: number, count: number): Promise<boolean> {
    for (let i = 0; i < SAMPLES && !this.#isOver; i++) {
      const address = start + Math.floor((i * count) / SAMPLES);
      if (this.values.has(address)) return true;
      const taken = await this.#ask(address, 1);
      if (taken.kind === 'data') {
        this.#keep(address, taken.pdu, 1);
        return true;
      }
      this.#count(refusalOf(taken));
    }
    return false;
  }

  /**
   * Finds the greatest quantity of one request in the longest run of registers, between what was read at once
   * and what was refused.
   */
  async #findLimit(): Promise<void> {
    const longest = runsOf(this.values).reduce((a, b) => (b.length > a.length ? b : a), {
      start: 0,
      length: 0,
    });
    let fits = Math.min(this.#greatest, longest.length);
    let refused = Math.min(this.#maximum, longest.length) + 1;
    let otherwise: ReadRefusal | undefined;
    while (refused - fits > 1 && !this.#asker.isOver) {
      const quantity = Math.floor((fits + refused) / 2);
      const taken = await this.#ask(longest.start, quantity);
      if (taken.kind === 'data') fits = quantity;
      else {
        refused = quantity;
        otherwise = refusalOf(taken);
      }
    }
    if (otherwise === undefined) return;
    this.limit = { quantity: fits, otherwise };
    this.#most = Math.max(1, fits);
  }

  #ask(start: number, count: number): Promise<Taken> {
    return this.#asker.ask(concatBytes([READ_FUNCTIONS[this.table]], packWords([start, count])));
  }

  #valuesIn(pdu: Uint8Array, count: number): number[] {
    return this.#isBits ? bitsAt(pdu, 2, count).map(Number) : wordsAt(pdu, 2, count);
  }

  #keep(start: number, pdu: Uint8Array, count: number): void {
    this.#greatest = Math.max(this.#greatest, count);
    this.#valuesIn(pdu, count).forEach((value, i) => void this.values.set(start + i, value));
  }

  #count(refusal: ReadRefusal): void {
    this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
  }
}

/** The runs of addresses without a gap, in rising order. */
export function runsOf(
  values: ReadonlyMap<number, unknown>,
): { readonly start: number; readonly length: number }[] {
  const runs: { start: number; length: number }[] = [];
  for (const address of [...values.keys()].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last.start + last.length === address) last.length++;
    else runs.push({ start: address, length: 1 });
  }
  return runs;
}
