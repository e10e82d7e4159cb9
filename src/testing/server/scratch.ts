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

/** What is needed of the server on the bench. */
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

/** Values of one table of one unit as they were, by their addresses. Coils are 0 and 1. */
interface Kept {
  readonly unitId: number;
  readonly table: ScratchTable;
  readonly values: Map<number, number>;
}

/** How many registers, or coils, one request reads or puts back. */
const AT_ONCE = 100;
/** One coil is read together with those behind it. */
const NEIGHBOURS = 8;
/** How often a value is read until two reads agree: some servers give another one now and then. */
const MOST_READS = 5;
/** When a value that was put back may be read, in ms after the write. */
export const READ_BACK_MS = [0, 1000, 2000];
/** How often, and how far apart in ms, the range is read before anything is written. */
const WATCHED = 3;
const MOST_WATCHED = 6;
const WATCH_MS = 300;
/** What can't be read in blocks of this many is not watched. */
const FEWEST_WATCHED = 8;
/** How long a server that does not answer is waited for before values are lost, in ms. */
const RETURN_MS = 10_000;

/** The addresses that the user gives away: nothing else is written, and what is written is put back. */
export class Scratch {
  readonly #bench: ScratchBench;
  readonly #kept = new Map<string, Kept>();
  readonly #lost: LostValue[] = [];
  #others: readonly number[] | undefined;
  /** True when blocks have other values than their registers, or these change: then each is read alone. */
  isSingle = false;
  /** Whether reads of coils agree with each other; undefined until that was looked for. */
  #isReadable: boolean | undefined;
  /** What changes by itself, once that was looked for. */
  readonly #moving: { [Table in ScratchTable]?: Set<number> } = {};
  /** The cells that requests may have changed, as `unit table address`. */
  readonly #touched = new Set<string>();
  /** True when the server was waited for in vain. */
  #isGone = false;

  constructor(bench: ScratchBench) {
    this.#bench = bench;
  }

  /**
   * The first registers of the range that do not change by themselves, after they were kept; the first of all
   * if every one does. Otherwise the check ends.
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
   * Where to write: the first, the last, a middle and an odd address of the range, with room for as many cells
   * as there are, all of them kept. Those that change by themselves or are not read are left out.
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

  /** True for what changed by itself before anything was written. */
  isMoving(table: ScratchTable, address: number): boolean {
    return this.#moving[table]?.has(address) === true;
  }

  /** Notes that a cell changes by itself. */
  moves(table: ScratchTable, address: number): void {
    this.#moving[table]?.add(address);
  }

  /** Keeps the first cell and watches all. Ends the check where nobody could read what was written. */
  async #watched(table: ScratchTable, first: number): Promise<void> {
    await this.keep(table, first, 1);
    await this.#watch(table);
    if (table === 'coils') this.#isReadable ??= await this.#coilsAgree(first);
    if (table === 'coils' && !this.#isReadable) throw new Ended({ code: 'coils-contradict', first });
  }

  /** False when coils that two reads share have other values in each, again and again, and each read repeats its own. */
  async #coilsAgree(first: number): Promise<boolean> {
    const reads: (string | undefined)[] = [];
    for (const from of [first, first + 1, first, first + 1])
      reads.push((await this.#bench.cells('coils', from, NEIGHBOURS))?.join(''));
    const [a, b, again, bAgain] = reads;
    if (a === undefined || b === undefined || a !== again || b !== bAgain) return true;
    return a.slice(1) === b.slice(0, -1);
  }

  /** Reads the range and what is beside it some times, before anything is written: what changes moves by itself. */
  async #watch(table: ScratchTable): Promise<void> {
    if (this.#moving[table]) return;
    this.#moving[table] = new Set();
    const range = this.#rangeOf(table);
    const most = table === 'holding' ? MAX_REGISTERS_READ : MAX_BITS_READ;
    const [first, last] = [Math.max(0, range.first - NEIGHBOURS), range.last + NEIGHBOURS];
    for (let at = first; at <= last; at += most)
      await this.#watchBlock(table, at, Math.min(most, last - at + 1));
  }

  /** True when the first registers of a block have the values that they have alone. */
  async #agrees(from: number, values: readonly number[]): Promise<boolean> {
    for (const [i, value] of values.slice(0, 2).entries())
      if ((await this.#bench.words(3, from + i, 1))?.[0] !== value) return false;
    return true;
  }

  async #watchBlock(table: ScratchTable, from: number, many: number): Promise<void> {
    const reads: string[][] = [];
    // A server that gives other values now and then differs in one read alone.
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

  /** Reads values that a check will change. Ends the check if one of them is not read. */
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

  /** The values of registers, or coils, as they were before the first check. */
  values(table: ScratchTable, first: number, many: number): number[] {
    const { values } = this.#of(table);
    return Array.from({ length: many }, (_, i) => values.get(first + i) ?? 0);
  }

  /**
   * Keeps the value at the address of a broadcast write of every other unit on the bus. A unit that does not
   * let it be read ends the check.
   */
  async keepOfOthers(table: ScratchTable, address: number): Promise<void> {
    this.#others ??= await otherUnits(this.#bench);
    for (const unitId of this.#others) await this.keep(table, address, 1, unitId);
  }

  /** Keeps those of the cells that lie in the range, as far as they are read. */
  async keepWithin(table: ScratchTable, first: number, many: number): Promise<void> {
    const range = this.#rangeOf(table);
    const from = Math.max(first, range.first);
    const last = Math.min(first + many - 1, range.last);
    if (last >= from) await this.keep(table, from, last - from + 1).catch(orWhenEnded(undefined));
  }

  /**
   * Notes that a write has changed a cell beside its own ones.
   * @returns false for one outside of the range, which nobody puts back
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

  /** Notes that a register which is not read was written: nobody knows what it had. */
  lose(table: ScratchTable, address: number): void {
    const { unitId } = this.#bench.asker;
    if (!this.#isLost(table, address))
      this.#lost.push({ unitId, table, address, had: undefined, has: undefined });
  }

  /** Ends a check that would write outside of the range. */
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
   * Puts back what was kept: reads it, writes what differs, reads it back, and tries another function for
   * what still differs.
   * @returns the values that are lost
   */
  async putBack(): Promise<readonly LostValue[]> {
    const { asker } = this.#bench;
    asker.check = 'put-back';
    // The reply to what was asked last may still come.
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
      // A server that is gone would be asked for as long as all of them take.
      if (!has) break;
      if (!(await way(bench, { unitId, first, had, differing: differing() }))) continue;
      for (const [i, ms] of READ_BACK_MS.entries()) {
        await bench.asker.pause(ms - (READ_BACK_MS[i - 1] ?? 0));
        has = await read();
        if (!has || differing().length === 0) break;
      }
    }
    // What moves by itself gets its value back, too, and has another one by now.
    for (const i of differing().filter((each) => !this.isMoving(table, first + each)))
      this.#lost.push({ unitId, table, address: first + i, had: had[i], has: has?.[i] });
  }

  /** False for what was never written: it is not ours to put back. */
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
   * Reads values: in blocks, or in smaller ones where blocks are too large for the server, or have other values
   * than their registers.
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

  /** Reads a block until two reads in a row agree: some servers give other values now and then. */
  async #steady(
    table: ScratchTable,
    first: number,
    many: number,
    unitId = this.#bench.order.unitId,
  ): Promise<number[] | undefined> {
    // A read of one coil alone may be odd.
    if (table === 'coils' && many === 1) {
      const those = await this.#steady(table, first, NEIGHBOURS, unitId);
      if (those) return those.slice(0, 1);
    }
    const pdu = readPdu(table === 'holding' ? 3 : 1, first, many);
    let before: number[] | undefined;
    for (let i = 0; i < MOST_READS; i++) {
      const exchange = await this.#bench.ask(pdu, { unitId });
      const { answer } = exchange;
      // Nobody knows which values are meant where there are more of them, or fewer.
      if (answer.kind !== 'data' || hasOtherQuantity(exchange)) return undefined;
      const now = table === 'holding' ? valuesOf(answer.pdu) : bitsAt(answer.pdu, 2, many).map(Number);
      if (now.join() === before?.join()) return now;
      before = now;
    }
    return before;
  }
}

/** How many of some texts are not the one that most are. */
export function differing(texts: readonly string[]): number {
  const most = Math.max(0, ...texts.map((text) => texts.filter((each) => each === text).length));
  return texts.length - most;
}
