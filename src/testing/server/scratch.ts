import { bitsAt } from '../../modbus/protocol/bytes.js';
import { MAX_BITS_READ, MAX_REGISTERS_READ } from '../../modbus/protocol/limits.js';
import { BROADCAST } from '../../modbus/protocol/rtu.js';
import { type Asker, Ended, orWhenEnded } from './asker.js';
import type { AskOptions, Exchange } from './exchange.js';
import { type LostValue, runsOf } from './lost.js';
import { otherUnits } from './other-units.js';
import { WAYS } from './put-back.js';
import { hasOtherQuantity } from './reading.js';
import { type AddressSpan, readPdu, type ScratchTable, valuesOf, writtenBy } from './requests.js';

/** The parts of the bench that are needed here. */
interface ScratchBench {
  readonly asker: Asker;
  readonly order: {
    readonly unitId: number;
    readonly scratch: { readonly [Table in ScratchTable]?: AddressSpan };
    readonly broadcast: boolean;
  };
  readonly facts: { absentUnit?: number };
  readonly goodRead: Uint8Array;
  readonly progress: (text: string) => void;
  ask(pdu: Uint8Array, options?: AskOptions): Promise<Exchange>;
  cells(table: ScratchTable, first: number, many: number): Promise<number[] | undefined>;
  words(code: 3, address: number, quantity: number): Promise<number[] | undefined>;
  isBack(limit: number): Promise<boolean>;
}

/** The original values in one table of one unit, by address. Coils are 0 and 1. */
interface Kept {
  readonly unitId: number;
  readonly table: ScratchTable;
  readonly values: Map<number, number>;
}

/** How many registers or coils one request reads or restores. */
const AT_ONCE = 100;
/** A coil is read together with the next ones. */
const NEIGHBOURS = 8;
/** Maximum number of reads until two agree: some servers sometimes return another value. */
const MOST_READS = 5;
/** When a restored value may be read back, in ms after the write. */
export const READ_BACK_MS = [0, 1000, 2000];
/** How many times the range is read before anything is written, and at what interval in ms. */
const WATCHED = 3;
const MOST_WATCHED = 6;
const WATCH_MS = 300;
/** Cells that can't be read in blocks of this size are not watched. */
const FEWEST_WATCHED = 8;
/** How long to wait for a server that does not answer before values count as lost, in ms. */
const RETURN_MS = 10_000;

/** The addresses that the user permits to be written: nothing else is written, and their values are restored. */
export class Scratch {
  readonly #bench: ScratchBench;
  readonly #kept = new Map<string, Kept>();
  readonly #lost: LostValue[] = [];
  #others: readonly number[] | undefined;
  /** True if blocks differ from individual reads, or change: if so, each register is read individually. */
  isSingle = false;
  /** Whether reads of coils agree with each other; undefined until that was tested. */
  #isReadable: boolean | undefined;
  /** The cells that change on their own, once that was tested. */
  readonly #moving: { [Table in ScratchTable]?: Set<number> } = {};
  /** The cells that requests may have changed, as `unit table address`. */
  readonly #touched = new Set<string>();
  /** True if the server did not come back in time. */
  #isGone = false;

  constructor(bench: ScratchBench) {
    this.#bench = bench;
  }

  /**
   * The first registers in the range that do not change on their own, with their values recorded; the first
   * of all if every one does. Ends the check if that is not possible.
   */
  register(many = 1): Promise<number> {
    return this.#first('holding', many);
  }

  coil(many = 1): Promise<number> {
    return this.#first('coils', many);
  }

  async #first(table: ScratchTable, many: number): Promise<number> {
    const { first, last } = this.#rangeOf(table);
    await this.#watched(table, first);
    let at = first;
    while (at + many - 1 < last && !this.#isQuiet(table, at, many)) at++;
    const address = this.#isQuiet(table, at, many) ? at : first;
    await this.keep(table, address, many);
    return address;
  }

  #rangeOf(table: ScratchTable): AddressSpan {
    return this.#bench.order.scratch[table] ?? { first: 0, last: 0 };
  }

  /**
   * Where to write: the first, the last, a middle and an odd address of the range, with room for as many
   * cells as possible, all with their values recorded. Cells that change on their own or can't be read are
   * left out.
   */
  async places(table: ScratchTable, many: number): Promise<{ places: readonly number[]; size: number }> {
    const { first, last } = this.#rangeOf(table);
    await this.#watched(table, first);
    const size = Math.min(many, last - first + 1);
    const end = last - size + 1;
    const middle = (first + end) >> 1;
    const odd = middle % 2 === first % 2 ? middle + 1 : middle;
    const quiet = (at: number) => this.#isQuiet(table, at, size);
    const start = Array.from({ length: end - first + 1 }, (_, i) => first + i).find(quiet);
    if (start === undefined) return { places: [], size };
    await this.keep(table, start, size);
    const places = [start];
    for (const at of this.#bench.asker.waits.isSlow ? [end] : new Set([end, middle, odd])) {
      if (at <= start || at > end || !quiet(at)) continue;
      const isKept = await this.keep(table, at, size)
        .then(() => true)
        .catch(orWhenEnded(false));
      if (isKept) places.push(at);
    }
    return { places, size };
  }

  #isQuiet(table: ScratchTable, first: number, many: number): boolean {
    return !Array.from({ length: many }, (_, i) => first + i).some((each) => this.isMoving(table, each));
  }

  /** True for a cell that changed on its own before anything was written. */
  isMoving(table: ScratchTable, address: number): boolean {
    return this.#moving[table]?.has(address) === true;
  }

  /** Records that a cell changes on its own. */
  moves(table: ScratchTable, address: number): void {
    this.#moving[table]?.add(address);
  }

  /** Records the first cell and watches all. Ends the check if written values could not be read back. */
  async #watched(table: ScratchTable, first: number): Promise<void> {
    await this.keep(table, first, 1);
    await this.#watch(table);
    if (table === 'coils') this.#isReadable ??= await this.#coilsAgree(first);
    if (table === 'coils' && !this.#isReadable) throw new Ended({ code: 'coils-contradict', first });
  }

  /** False if coils shared by two reads repeatedly have different values in each, while each read repeats its own. */
  async #coilsAgree(first: number): Promise<boolean> {
    const reads: (string | undefined)[] = [];
    for (const from of [first, first + 1, first, first + 1])
      reads.push((await this.#bench.cells('coils', from, NEIGHBOURS))?.join(''));
    const [a, b, again, bAgain] = reads;
    if (a === undefined || b === undefined || a !== again || b !== bAgain) return true;
    return a.slice(1) === b.slice(0, -1);
  }

  /**
   * Reads the range and its neighbours several times, before anything is written, to find cells that change
   * on their own.
   */
  async #watch(table: ScratchTable): Promise<void> {
    if (this.#moving[table]) return;
    this.#moving[table] = new Set();
    const range = this.#rangeOf(table);
    const most = table === 'holding' ? MAX_REGISTERS_READ : MAX_BITS_READ;
    const [first, last] = [Math.max(0, range.first - NEIGHBOURS), range.last + NEIGHBOURS];
    for (let at = first; at <= last; at += most)
      await this.#watchBlock(table, at, Math.min(most, last - at + 1));
  }

  /** True if the first registers of a block have the same values as in individual reads. */
  async #agrees(from: number, values: readonly number[]): Promise<boolean> {
    for (const [i, value] of values.slice(0, 2).entries())
      if ((await this.#bench.words(3, from + i, 1))?.[0] !== value) return false;
    return true;
  }

  async #watchBlock(table: ScratchTable, from: number, many: number): Promise<void> {
    const reads: string[][] = [];
    // If a server sometimes returns other values, only a single read differs.
    for (let most = WATCHED; reads.length < most; ) {
      if (reads.length > 0) await this.#bench.asker.wait(WATCH_MS);
      const values = await this.#bench.cells(table, from, many);
      if (!values) {
        const half = many >> 1;
        if (reads.length > 0 || half < FEWEST_WATCHED) return;
        await this.#watchBlock(table, from, half);
        return this.#watchBlock(table, from + half, many - half);
      }
      if (reads.length === 0 && table === 'holding') this.isSingle ||= !(await this.#agrees(from, values));
      reads.push(values.map(String));
      if (differing(reads.map((each) => each.join())) > 0) most = MOST_WATCHED;
    }
    if (differing(reads.map((each) => each.join())) < 2) return;
    for (let i = 0; i < many; i++)
      if (differing(reads.map((each) => each[i] ?? '')) > 1) this.moves(table, from + i);
  }

  /** Reads and records values that a check will change. Ends the check if one of them can't be read. */
  async keep(table: ScratchTable, first: number, many: number, unitId?: number): Promise<void> {
    const { values } = this.#of(table, unitId);
    const missing = Array.from({ length: many }, (_, i) => first + i).filter((each) => !values.has(each));
    for (const { from, length } of runsOf(missing)) {
      const read = await this.read(table, from, length, unitId);
      if (!read) {
        const unit = unitId === undefined ? {} : { unit: unitId };
        throw new Ended({ code: 'not-read', ...unit, table, first: from, last: from + length - 1 });
      }
      read.forEach((value, i) => void values.set(from + i, value));
    }
  }

  /** The values of registers or coils before the first check. */
  values(table: ScratchTable, first: number, many: number): number[] {
    const { values } = this.#of(table);
    return Array.from({ length: many }, (_, i) => values.get(first + i) ?? 0);
  }

  /**
   * Records the value at the address of a broadcast write for every other unit on the bus. Ends the check if
   * a unit does not allow it to be read.
   */
  async keepOfOthers(table: ScratchTable, address: number): Promise<void> {
    this.#others ??= await otherUnits(this.#bench);
    for (const unitId of this.#others) await this.keep(table, address, 1, unitId);
  }

  /** Records those of the cells that are in the range, if they can be read. */
  async keepWithin(table: ScratchTable, first: number, many: number): Promise<void> {
    const range = this.#rangeOf(table);
    const from = Math.max(first, range.first);
    const last = Math.min(first + many - 1, range.last);
    if (last >= from) await this.keep(table, from, last - from + 1).catch(orWhenEnded(undefined));
  }

  /**
   * Records that a write has changed a cell next to its own.
   * @returns false for a cell outside the range, which is not restored
   */
  changed(table: ScratchTable, address: number, had: number): boolean {
    const { unitId } = this.#bench.order;
    const { first, last } = this.#rangeOf(table);
    if (address >= first && address <= last) {
      this.#touched.add(`${unitId} ${table} ${address}`);
      return true;
    }
    if (!this.#isLost(table, address)) this.#lost.push({ unitId, table, address, had, has: undefined });
    return false;
  }

  #isLost(table: ScratchTable, address: number): boolean {
    return this.#lost.some((each) => each.table === table && each.address === address);
  }

  /** Records that an unreadable register was written: its original value is unknown. */
  lose(table: ScratchTable, address: number): void {
    const { unitId } = this.#bench.asker;
    if (!this.#isLost(table, address))
      this.#lost.push({ unitId, table, address, had: undefined, has: undefined });
  }

  /** Ends a check that would write outside the range. */
  guard(unitId: number, pdu: Uint8Array): void {
    const span = writtenBy(pdu);
    if (!span) return;
    const { order } = this.#bench;
    const range = order.scratch[span.table];
    const isWithin = range && span.first >= range.first && span.last <= range.last;
    const isOwn = unitId === order.unitId || (unitId === BROADCAST && order.broadcast);
    if (isWithin && (isOwn || this.#others?.includes(unitId))) {
      const units = unitId === BROADCAST ? [order.unitId, ...(this.#others ?? [])] : [unitId];
      for (let at = span.first; at <= span.last; at++)
        for (const unit of units) this.#touched.add(`${unit} ${span.table} ${at}`);
      return;
    }
    throw new Ended({ code: 'outside-scratch', ...span });
  }

  /**
   * Restores the recorded values: reads them, writes those that differ, reads them back, and tries another
   * function for those that still differ.
   * @returns the values that are lost
   */
  async putBack(): Promise<readonly LostValue[]> {
    const { asker } = this.#bench;
    asker.check = 'put-back';
    // The reply to the last request may still come.
    if (asker.isSerial) await asker.pause(asker.silence);
    else await asker.disconnect();
    for (const kept of [...this.#kept.values()].reverse()) {
      const isOurs = (address: number) => this.#isOurs(kept.unitId, kept.table, address);
      const addresses = [...kept.values.keys()].filter(isOurs).sort((a, b) => a - b);
      for (const { from, length } of runsOf(addresses)) {
        for (let at = from; at < from + length; at += AT_ONCE)
          await this.#putBackRun(kept, at, Math.min(AT_ONCE, from + length - at));
      }
    }
    return this.#lost;
  }

  async #putBackRun({ unitId, table, values }: Kept, first: number, many: number): Promise<void> {
    const bench = this.#bench;
    const read = () => this.read(table, first, many, unitId);
    const had = Array.from({ length: many }, (_, i) => values.get(first + i) ?? 0);
    let has = await read();
    if (!has && !this.#isGone && unitId === bench.order.unitId) {
      this.#isGone = !(await bench.isBack(RETURN_MS));
      has = await read();
    }
    const differing = () => had.flatMap((value, i) => (has?.[i] === value ? [] : [i]));
    for (const way of WAYS[table]) {
      if (differing().length === 0) return;
      // Without this, a server that is gone would cost one time-out per value.
      if (!has) break;
      if (!(await way(bench, { unitId, first, had, differing: differing() }))) continue;
      for (const [i, ms] of READ_BACK_MS.entries()) {
        await bench.asker.pause(ms - (READ_BACK_MS[i - 1] ?? 0));
        has = await read();
        if (!has || differing().length === 0) break;
      }
    }
    // A cell that changes on its own is restored too, but has a different value by now.
    for (const i of differing().filter((each) => !this.isMoving(table, first + each)))
      this.#lost.push({ unitId, table, address: first + i, had: had[i], has: has?.[i] });
  }

  /** False for a cell that was never written, which must not be restored. */
  #isOurs(unitId: number, table: ScratchTable, address: number): boolean {
    return this.#touched.has(`${unitId} ${table} ${address}`);
  }

  #of(table: ScratchTable, unitId = this.#bench.order.unitId): Kept {
    const key = `${unitId} ${table}`;
    const kept = this.#kept.get(key) ?? { unitId, table, values: new Map() };
    this.#kept.set(key, kept);
    return kept;
  }

  /**
   * Reads values: in blocks, or in smaller ones if blocks are too large for the server, or differ from
   * individual reads.
   */
  async read(
    table: ScratchTable,
    first: number,
    many: number,
    unitId?: number,
  ): Promise<number[] | undefined> {
    const isBlock = many <= AT_ONCE && !(this.isSingle && table === 'holding' && many > 1);
    const block = isBlock ? await this.#steady(table, first, many, unitId) : undefined;
    if (many === 1 || (block && table === 'coils')) return block;
    if (block && (await this.#steady(table, first + 1, 1, unitId))?.[0] === block[1]) return block;
    const half = many > AT_ONCE ? AT_ONCE : many >> 1;
    const before = await this.read(table, first, half, unitId);
    const after = before && (await this.read(table, first + half, many - half, unitId));
    return before && after && [...before, ...after];
  }

  /** Reads a block until two consecutive reads agree: some servers sometimes return other values. */
  async #steady(
    table: ScratchTable,
    first: number,
    many: number,
    unitId = this.#bench.order.unitId,
  ): Promise<number[] | undefined> {
    // A read of a single coil may be odd.
    if (table === 'coils' && many === 1) {
      const those = await this.#steady(table, first, NEIGHBOURS, unitId);
      if (those) return those.slice(0, 1);
    }
    const pdu = readPdu(table === 'holding' ? 3 : 1, first, many);
    let before: number[] | undefined;
    for (let i = 0; i < MOST_READS; i++) {
      const exchange = await this.#bench.ask(pdu, { unitId });
      const { answer } = exchange;
      // With more or fewer values than requested, it is unknown which are meant.
      if (answer.kind !== 'data' || hasOtherQuantity(exchange)) return undefined;
      const now = table === 'holding' ? valuesOf(answer.pdu) : bitsAt(answer.pdu, 2, many).map(Number);
      if (now.join() === before?.join()) return now;
      before = now;
    }
    return before;
  }
}

/** How many texts differ from the most frequent one. */
export function differing(texts: readonly string[]): number {
  const most = Math.max(0, ...texts.map((text) => texts.filter((each) => each === text).length));
  return texts.length - most;
}
