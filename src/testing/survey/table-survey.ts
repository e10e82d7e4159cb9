import type { TableName } from '../../device/tables.js';
import { bitsAt, concatBytes, packWords, wordsAt } from '../../modbus/protocol/bytes.js';
import { ExceptionCode, FunctionCode } from '../../modbus/protocol/function-code.js';
import { MAX_BITS_READ, MAX_REGISTERS_READ } from '../../modbus/protocol/limits.js';
import { type Asker, type ReadRefusal, refusalOf, type Taken } from './asker.js';

/** The first and the last address, both inclusive. */
export type Range = readonly [first: number, last: number];

export const READ_FUNCTIONS: Readonly<Record<TableName, number>> = {
  coils: FunctionCode.readCoils,
  discrete: FunctionCode.readDiscreteInputs,
  input: FunctionCode.readInputRegisters,
  holding: FunctionCode.readHoldingRegisters,
};

/** How many registers or bits one request reads. The two register tables share it, and so do the two bit tables. */
export class BlockSize {
  /** The quantity that the specification allows. */
  readonly maximum: number;
  /** The maximum quantity to request. */
  most: number;
  /** The greatest quantity that the device has answered. */
  answered = 0;
  /** How the device refuses more than `most`; undefined if it allows the specification's maximum. */
  otherwise: ReadRefusal | undefined;

  constructor(isBits: boolean) {
    this.maximum = isBits ? MAX_BITS_READ : MAX_REGISTERS_READ;
    this.most = this.maximum;
  }
}

/** Determines what a device has in one table, using only reads. */
export class TableSurvey {
  readonly table: TableName;
  readonly ranges: readonly Range[];
  readonly isBits: boolean;
  readonly values = new Map<number, number>();
  readonly block: BlockSize;
  /** How the device refuses the function itself; undefined if it has the function. */
  unsupported: ReadRefusal | undefined;
  /** The number of requests after which the table was given up because none of them was answered. */
  givenUpAfter: number | undefined;
  /**
   * Values of several registers that the device refuses to read in part: the number of registers by the first
   * address.
   */
  readonly wholes = new Map<number, number>();
  /** How the device refuses quantities that the specification does not allow, if not with exception 03. */
  readonly wrongQuantities = new Map<string, ReadRefusal>();
  /** Quantities that the specification does not allow but the device answers. */
  readonly sloppyQuantities: string[] = [];
  readonly #asker: Asker;
  /** The addresses that were refused, by quantity. */
  readonly #refused = new Map<number, Set<number>>();
  readonly #refusals = new Map<number, Map<ReadRefusal, number[]>>();
  /** How many times each quantity was answered where no smaller one was. */
  readonly #hits = new Map<number, number>();

  constructor(table: TableName, ranges: readonly Range[], asker: Asker, block: BlockSize) {
    this.table = table;
    this.ranges = ranges;
    this.isBits = table === 'coils' || table === 'discrete';
    this.#asker = asker;
    this.block = block;
  }

  /** True if no more requests are sent for this table. */
  get isOver(): boolean {
    return this.#asker.isOver || this.unsupported !== undefined;
  }

  /** The smallest quantity that the device answers: 1, unless it has only ever answered more. */
  get least(): number {
    return this.#hits.size === 0 ? 1 : Math.min(...this.#hits.keys());
  }

  /** True if a quantity was answered where smaller ones are refused. */
  answers(quantity: number): boolean {
    return this.#hits.has(quantity);
  }

  /** How the device refuses reads of addresses that do not exist, and the addresses that it refused in each way. */
  get refusals(): ReadonlyMap<ReadRefusal, readonly number[]> {
    return this.#refusals.get(this.least) ?? new Map();
  }

  /** How a device that answers only larger reads refuses single registers or bits. */
  get tooFew(): ReadRefusal | undefined {
    const [first] = this.least > 1 && this.wholes.size === 0 ? (this.#refusals.get(1)?.keys() ?? []) : [];
    return first;
  }

  /** True if nothing new can be learned at an address: it was read, or refused. */
  isKnown(address: number): boolean {
    return this.values.has(address) || this.#refused.get(this.least)?.has(address) === true;
  }

  /**
   * Reads at an address with the given quantities, smallest first, and then as far as the device allows in
   * both directions.
   * @param isSure true to repeat a request without an answer
   * @returns the new addresses, or undefined if there are none
   */
  async look(address: number, quantities: readonly number[], isSure: boolean): Promise<Range | undefined> {
    const range = this.ranges.find(([first, last]) => first <= address && address <= last);
    if (!range || this.values.has(address)) return undefined;
    for (const quantity of quantities) {
      if (this.isOver) return undefined;
      const isDone = this.#refused.get(quantity)?.has(address) === true || quantity < this.least;
      const isAligned = quantity < 4 || address % quantity === 0;
      if (isDone || !isAligned || address + quantity - 1 > range[1]) continue;
      const refusal = await this.#read(address, quantity, isSure);
      if (refusal === undefined) {
        this.#hits.set(quantity, (this.#hits.get(quantity) ?? 0) + 1);
        const last = await this.#grow(address + quantity, range[1], 1);
        const first = await this.#grow(address - 1, range[0], -1);
        return [first + 1, last - 1];
      }
      this.#countRefusal(address, quantity, refusal);
    }
    return undefined;
  }

  /**
   * Reads from an address on, in blocks of doubling size, until the device refuses.
   * @returns the first address in this direction that was not read
   */
  async #grow(from: number, limit: number, direction: 1 | -1): Promise<number> {
    let at = from;
    const read = async (quantity: number) => {
      const start = direction > 0 ? at : at - quantity + 1;
      const isRead = (await this.#read(start, quantity, true)) === undefined;
      if (isRead) at += direction * quantity;
      return isRead;
    };
    for (let quantity = this.least; (limit - at) * direction >= 0 && !this.isOver; ) {
      const size = Math.min(quantity, this.block.most, Math.abs(limit - at) + 1);
      if (await read(size)) {
        quantity = 2 * size;
        continue;
      }
      const end = at + direction * size;
      let refused = end;
      while (Math.abs(refused - at) > 1 && !this.isOver) {
        const half = Math.abs(refused - at) >> 1;
        if (!(await read(half))) refused = at + direction * half;
      }
      const isTooLong = size > 1 && refused === end && (await read(1));
      if (!isTooLong) break;
      // Every address in the refused block exists, so it was too long.
      this.block.most = size >> 1;
      quantity = this.block.most;
    }
    return this.#edge(at, limit, direction);
  }

  /** Reads the last register of a run, on a device that refuses to read a single one. */
  async #edge(at: number, limit: number, direction: 1 | -1): Promise<number> {
    const { least } = this;
    if (least === 1 || (limit - at) * direction < 0) return at;
    const start = direction > 0 ? at - least + 1 : at;
    return (await this.#read(start, least, true)) === undefined ? at + direction : at;
  }

  /** Reads all known values again. @returns the values that have changed since, by address */
  async readAgain(): Promise<Map<number, number>> {
    const changed = new Map<number, number>();
    for (const { start, length } of runsOf(this.values)) {
      for (let done = 0; done < length && !this.isOver; ) {
        const count = Math.min(this.block.most, length - done);
        const first = start + Math.max(0, Math.min(done, done + count - this.least));
        const quantity = start + done + count - first;
        const taken = await this.#ask(first, quantity, true);
        if (taken.kind === 'data')
          this.#valuesIn(taken.pdu, quantity).forEach((value, i) => {
            if (this.values.get(first + i) !== value) changed.set(first + i, value);
          });
        done += count;
      }
    }
    return changed;
  }

  /** Finds the maximum quantity of one request in a run, between what was answered and what was refused. */
  async findLimit({ start, length }: Run): Promise<void> {
    const { block } = this;
    let fits = Math.min(block.answered, block.most, length);
    let refused = Math.min(block.maximum, length) + 1;
    let otherwise: ReadRefusal | undefined;
    while (refused - fits > 1 && !this.isOver) {
      const quantity = Math.floor((fits + refused) / 2);
      const taken = await this.#ask(start, quantity, true);
      if (taken.kind === 'data') fits = quantity;
      else {
        refused = quantity;
        otherwise = refusalOf(taken);
      }
    }
    if (otherwise === undefined) return;
    block.most = Math.max(1, fits);
    block.otherwise = otherwise;
  }

  /**
   * Finds where values of several registers begin, on a device that refuses to read part of one: it reads
   * single registers where a larger quantity was answered and a smaller one was not.
   */
  async findWholes(): Promise<void> {
    if (this.isBits || ![...this.#hits.keys()].some((quantity) => quantity > 1)) return;
    for (const { start, length } of runsOf(this.values)) {
      for (let at = start; at < start + length && !this.isOver; ) {
        const fits = [1, 2, 4].filter((quantity) => at + quantity <= start + length);
        const asked: boolean[] = [];
        for (const quantity of fits)
          if (!asked.includes(true)) asked.push((await this.#ask(at, quantity, true)).kind === 'data');
        const size = fits[asked.indexOf(true)] ?? 1;
        // A device that answers two registers beginning at the second refuses short reads rather than parts
        // of values.
        const isSingle = size > 1 && at + size < start + length;
        if (isSingle && (await this.#ask(at + 1, size, true)).kind === 'data') return this.wholes.clear();
        if (size > 1) this.wholes.set(at, size);
        at += size;
      }
    }
  }

  /**
   * Requests quantities that the specification does not allow (Application Protocol V1.1b3, 6.1 and 6.3): 0,
   * one more than the maximum, and the smallest whose byte count does not fit into a byte. If the quantities
   * between the last two are refused in two ways, finds the boundary.
   */
  async askWrongQuantities(): Promise<void> {
    const [start] = this.values.keys();
    if (start === undefined) return;
    const { maximum } = this.block;
    const overflow = this.isBits ? 8 * 0xff + 1 : 0x100 / 2;
    const ranges = [
      [0, 0],
      [maximum + 1, overflow - 1],
      [overflow, 0xffff],
    ] as const;
    for (const [first, last] of ranges) {
      const below = await this.#refusalFor(start, first);
      const above = last === overflow - 1 ? await this.#refusalFor(start, last) : below;
      let [low, high] = [first, last];
      while (below !== above && high - low > 1 && !this.isOver) {
        const middle = (low + high) >> 1;
        if ((await this.#refusalFor(start, middle)) === below) low = middle;
        else high = middle;
      }
      if (this.isOver) return;
      this.#keepWrong(first, below === above ? last : low, below);
      if (below !== above) this.#keepWrong(high, last, above);
    }
  }

  /** How the device refuses a quantity; undefined if it answers. */
  async #refusalFor(start: number, quantity: number): Promise<ReadRefusal | undefined> {
    const taken = await this.#ask(start, quantity, true, `${this.table}, ${quantity}`);
    return taken.kind === 'data' ? undefined : refusalOf(taken);
  }

  #keepWrong(first: number, last: number, refusal: ReadRefusal | undefined): void {
    const quantities = first === last ? String(first) : `${first}-${last}`;
    if (refusal === undefined) this.sloppyQuantities.push(quantities);
    else if (refusal !== ExceptionCode.illegalDataValue) this.wrongQuantities.set(quantities, refusal);
  }

  /** All ways in which the device has refused to read this table. */
  get ways(): ReadonlySet<ReadRefusal> {
    return new Set([...this.#refusals.values()].flatMap((counts) => [...counts.keys()]));
  }

  /** Reads, and stores the values. @returns how the device refused; undefined if it answered */
  async #read(start: number, quantity: number, isSure: boolean): Promise<ReadRefusal | undefined> {
    const taken = await this.#ask(start, quantity, isSure);
    if (taken.kind !== 'data') return refusalOf(taken);
    this.block.answered = Math.max(this.block.answered, quantity);
    this.#valuesIn(taken.pdu, quantity).forEach((value, i) => void this.values.set(start + i, value));
    return undefined;
  }

  #ask(start: number, count: number, isSure: boolean, kind?: string): Promise<Taken> {
    const pdu = concatBytes([READ_FUNCTIONS[this.table]], packWords([start, count]));
    return isSure ? this.#asker.ask(pdu, kind) : this.#asker.askOnce(pdu, kind);
  }

  #valuesIn(pdu: Uint8Array, count: number): number[] {
    return this.isBits ? bitsAt(pdu, 2, count).map(Number) : wordsAt(pdu, 2, count);
  }

  #countRefusal(address: number, quantity: number, refusal: ReadRefusal): void {
    if (this.#asker.isOver) return;
    const refused = this.#refused.get(quantity) ?? new Set();
    this.#refused.set(quantity, refused.add(address));
    const ways = this.#refusals.get(quantity) ?? new Map<ReadRefusal, number[]>();
    this.#refusals.set(quantity, ways);
    const addresses = ways.get(refusal);
    if (addresses) addresses.push(address);
    else ways.set(refusal, [address]);
  }
}

/** Addresses without a gap. */
export interface Run {
  readonly start: number;
  readonly length: number;
}

/** Groups addresses into runs without gaps, in ascending order. */
export function runsOf(values: ReadonlyMap<number, unknown>): Run[] {
  const runs: { start: number; length: number }[] = [];
  for (const address of [...values.keys()].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last.start + last.length === address) last.length++;
    else runs.push({ start: address, length: 1 });
  }
  return runs;
}
