import { ExceptionCode } from '../../modbus/protocol/function-code.js';
import { type Range, runsOf, type TableSurvey } from './table-survey.js';

/*
 * Searches for a device's registers, most likely addresses first. Most devices refuse a read across a hole as
 * a whole, so a refused block shows nothing: only single addresses do, and there are too many of them. The
 * search therefore probes every address where devices have most of their registers, then round addresses,
 * addresses used in other tables, and addresses at intervals; wherever it finds something, it probes every
 * address around it.
 */

/** How many addresses are all probed at the beginning of the first range, and of each other range. */
const DENSE = { first: 128, others: 16 };
/** Ranges up to this length are probed completely. */
const SMALL_RANGE = 512;
/** The number of first addresses at which the search also looks for values that can't be read in part. */
const WHOLES = 64;
/** After that, every 8th address is probed up to the first of these distances, and every 16th up to the second. */
const COARSE: Steps = [
  [8, 512],
  [16, 1024],
];
/** Everywhere, multiples of these are probed, and for the greatest also the next addresses. */
const ROUND = {
  bits: [
    [100, 0],
    [1000, 1],
  ],
  registers: [
    [100, 0],
    [256, 0],
    [1000, 1],
  ],
} as const;
/** The distance from a find within which every address is probed, and within which every eighth is. */
const NEAR = 32;
const RING = { distance: 128, step: 8 };
/** Devices often have more of the same at these distances from a find. */
const PERIODS = [1000, 100, 256, 4096];
/** Steps for the remaining addresses, and how many of them to probe: a table in which more was found gets more. */
const FINER: Steps = [
  [10, 512],
  [4, 512],
  [50, 65_536],
  [16, 10_000],
  [25, 65_536],
  [4, 65_536],
];
const FURTHER = { least: 32, perValue: 8 };
/** If another table has registers, addresses up to this distance from them are probed. */
const HINT = { distance: 4, most: 192 };

/** Steps between addresses, each with the distance from the beginning of the range up to which it applies. */
type Steps = readonly (readonly [step: number, distance: number])[];

/** The quantities to try at an address: values of two or four registers may not be readable in part. */
const QUANTITIES = { registers: [1, 2, 4], bits: [1] };

/** The input of the search. */
export interface SearchOrder {
  /** True to probe every address. */
  readonly isThorough: boolean;
  /** Called with the address that the search has reached. */
  readonly progress: (table: TableSurvey, address: number) => void;
}

/** Searches all tables: first each separately, then where the others have something. */
export async function searchTables(tables: readonly TableSurvey[], order: SearchOrder): Promise<void> {
  for (const survey of tables) {
    const search = new TableSearch(survey, order);
    if (await search.isAnswered()) await search.likely();
  }
  for (const survey of tables) {
    if (survey.isOver) continue;
    const search = new TableSearch(survey, order);
    const others = tables.filter((each) => each !== survey && each.isBits === survey.isBits);
    await search.hinted(others);
    await search.rest();
  }
}

class TableSearch {
  readonly #survey: TableSurvey;
  readonly #order: SearchOrder;

  constructor(survey: TableSurvey, order: SearchOrder) {
    this.#survey = survey;
    this.#order = order;
  }

  get #all(): readonly number[] {
    return this.#survey.isBits ? QUANTITIES.bits : QUANTITIES.registers;
  }

  /**
   * Probes the first addresses, and some round ones. A table is given up if the device does not answer any of
   * these requests, or answers only with exception 01.
   */
  async isAnswered(): Promise<boolean> {
    const survey = this.#survey;
    const [[first, last] = [0, 0]] = survey.ranges;
    const larger = [2, 4, 10];
    const requests = [
      ...[0, 1, 2, 3].map((address) => [first + address, [1]] as const),
      ...larger.map((quantity) => [first, [quantity]] as const),
      ...[4, 9, 10, 99, 100, 1000].map((address) => [first + address, [1]] as const),
      ...survey.ranges.slice(1, 3).map(([start]) => [start, [1]] as const),
    ].filter(([address]) => address <= last || survey.ranges.some(([start]) => start === address));
    for (const [address, quantities] of requests) {
      await this.visit([address], quantities);
      const ways = [...survey.ways];
      const isKnown = ways.some((way) => way !== 'silence' && way !== ExceptionCode.illegalFunction);
      if (isKnown || ways.length > 1 || survey.values.size > 0 || survey.isOver) return true;
    }
    const [way = 'silence'] = survey.ways;
    if (this.#order.isThorough && way === 'silence') return true;
    survey.unsupported = way;
    if (way === 'silence') survey.givenUpAfter = requests.length;
    return false;
  }

  /** Probes the addresses where devices have most of their registers. */
  async likely(): Promise<void> {
    const { ranges, isBits } = this.#survey;
    for (const [i, [first, last]] of ranges.entries()) {
      const size = last - first + 1;
      const usual = i === 0 ? DENSE.first : DENSE.others;
      const dense = Math.min(last, first + (size <= SMALL_RANGE ? size : usual) - 1);
      await this.visit(
        every(1, first, Math.min(dense, first + (i === 0 ? WHOLES : DENSE.others) - 1)),
        this.#all,
      );
      await this.visit(every(1, first, dense), this.#usual);
      if (i === 0) await this.visit(steps(COARSE, first, last), this.#usual);
      for (const [step, offset] of isBits ? ROUND.bits : ROUND.registers)
        await this.visit(every(step, dense, last, offset), this.#usual);
    }
  }

  /** Probes near the addresses at which other tables have something. */
  async hinted(others: readonly TableSurvey[]): Promise<void> {
    const addresses = new Set<number>();
    for (const { values } of others) {
      let before: number | undefined;
      for (const { start, length } of runsOf(values)) {
        const end = start + length;
        const gap = before === undefined || start - before > 4 * HINT.distance ? undefined : before;
        for (let at = gap ?? start - HINT.distance; at < start + HINT.distance; at++) addresses.add(at);
        for (let at = end - 1; at < end + HINT.distance; at++) addresses.add(at);
        before = end;
      }
    }
    const unknown = [...addresses].filter((address) => !this.#survey.isKnown(address));
    await this.visit(unknown.slice(0, HINT.most), this.#usual);
  }

  /** Probes the rest: all of it, or as many addresses as the table is worth. */
  async rest(): Promise<void> {
    const { values, ranges } = this.#survey;
    if (this.#order.isThorough) {
      for (const [first, last] of ranges) await this.visit(every(1, first, last), this.#all, true);
      return;
    }
    if (values.size === 0) return;
    let asked = 0;
    for (const address of this.#further()) {
      if (asked >= FURTHER.least + FURTHER.perValue * values.size) break;
      if (this.#survey.isKnown(address)) continue;
      asked++;
      await this.visit([address], this.#usual);
    }
  }

  /** Further addresses, most likely first. */
  *#further(): Generator<number> {
    const { values, ranges } = this.#survey;
    const seen = new Set<number>();
    for (let isNew = true; isNew; ) {
      isNew = false;
      for (const { start } of runsOf(values)) {
        if (seen.has(start)) continue;
        seen.add(start);
        isNew = true;
        for (const period of PERIODS) yield* [start + period, start - period];
      }
    }
    for (const step of FINER) for (const [first, last] of ranges) yield* steps([step], first, last);
  }

  /** The quantities that have been answered where smaller ones were not. */
  get #usual(): readonly number[] {
    return this.#all.filter((quantity) => quantity === 1 || this.#survey.answers(quantity));
  }

  /** Probes these addresses, and around each find. */
  async visit(addresses: Iterable<number>, quantities: readonly number[], isSure = false): Promise<void> {
    for (const address of addresses) {
      if (this.#survey.isOver) return;
      if (!this.#survey.ranges.some(([first, last]) => first <= address && address <= last)) continue;
      this.#order.progress(this.#survey, address);
      const found = await this.#survey.look(address, quantities, isSure);
      if (found) await this.#around(found);
    }
  }

  async #around(first: Range): Promise<void> {
    const found = [first];
    for (let run = found.pop(); run; run = found.pop()) {
      for (const address of near(run)) {
        if (this.#survey.isOver) return;
        const more = await this.#survey.look(address, this.#usual, true);
        if (more) found.push(more);
      }
    }
  }
}

/** The addresses around a run, nearest first. */
function* near([first, last]: Range): Generator<number> {
  const { distance, step } = RING;
  for (let away = 1; away <= distance; away += away < NEAR ? 1 : step) {
    yield last + away;
    yield first - away;
  }
}

/** The multiples of a step within a range, plus `offset`. */
function* every(step: number, first: number, last: number, offset = 0): Generator<number> {
  for (let at = Math.ceil((first - offset) / step) * step + offset; at <= last; at += step) yield at;
}

function* steps(all: Steps, first: number, last: number): Generator<number> {
  for (const [step, distance] of all) yield* every(step, first, Math.min(last, first + distance - 1));
}
