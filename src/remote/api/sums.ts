import { addTo, newRow, SUM_NAMES, type SumName, type SumRow } from '../../simulator/traffic/sums.js';
import { allParts, type Rpc } from '../rpc/rpc.js';

/** The length of each period, and how many periods are stored: ten minutes, an hour, a day. */
const RINGS = [
  { seconds: 1, most: 600 },
  { seconds: 10, most: 360 },
  { seconds: 60, most: 1440 },
] as const;

/** Maximum number of rows in all rings, of 56 bytes each. Beyond it, the ring with the most rows drops its oldest. */
const MOST_ROWS = 200_000;
/** Maximum number of rows in an unfinished period, as a fraction of these. */
const MOST_OPEN = 0.1;

/** The sums for one line, unit and function in a period. */
export interface KeptSums extends SumRow {
  /** The start, in s on the clock of the events. */
  readonly from: number;
  /** The length, in s. */
  readonly seconds: number;
  readonly line: string;
}

/** Line, unit and function come before the sums. */
const KEYS = 3;
const WIDTH = KEYS + SUM_NAMES.length;
const SLOWEST = KEYS + SUM_NAMES.indexOf('slowestMs' satisfies SumName);

/** The sums of equal periods, oldest first. New sums are added to the newest period; the others are packed. */
class Ring {
  readonly seconds: number;
  readonly #most: number;
  readonly #mostOpen: number;
  readonly #packed: { readonly index: number; readonly rows: Float32Array }[] = [];
  #open = new Map<number, number[]>();
  #index = -1;
  /** Number of packed rows. */
  rows = 0;

  /** @param mostOpen maximum number of rows in a period; further units and functions are summed per line */
  constructor({ seconds, most }: (typeof RINGS)[number], mostOpen: number) {
    this.seconds = seconds;
    this.#most = most;
    this.#mostOpen = mostOpen;
  }

  /** @param row line, unit, function and the sums */
  add(second: number, row: readonly number[]): void {
    const index = Math.floor(second / this.seconds);
    if (index > this.#index) this.#turn(index);
    const [line = 0, unit = 0, code = 0] = row;
    const key = ((line + 1) * 512 + unit) * 512 + code;
    const known = this.#open.get(key);
    if (!known && this.#open.size >= this.#mostOpen && unit >= 0)
      this.add(second, [line, -1, -1, ...row.slice(KEYS)]);
    else if (!known) this.#open.set(key, row.slice());
    else
      for (let i = KEYS; i < WIDTH; i++) {
        const [before = 0, more = 0] = [known[i], row[i]];
        known[i] = i === SLOWEST ? Math.max(before, more) : before + more;
      }
  }

  dropOldest(): void {
    this.rows -= (this.#packed.shift()?.rows.length ?? 0) / WIDTH;
  }

  /** The periods from a second on, each with its rows. */
  *from(second: number): Generator<{ readonly from: number; readonly rows: Float32Array }> {
    const open = { index: this.#index, rows: Float32Array.from([...this.#open.values()].flat()) };
    for (const { index, rows } of [...this.#packed, open])
      if ((index + 1) * this.seconds > second) yield { from: index * this.seconds, rows };
  }

  #turn(index: number): void {
    if (this.#open.size > 0) {
      this.#packed.push({ index: this.#index, rows: Float32Array.from([...this.#open.values()].flat()) });
      this.rows += this.#open.size;
      this.#open = new Map();
    }
    this.#index = index;
    while ((this.#packed[0]?.index ?? index) <= index - this.#most) this.dropOldest();
  }
}

/** The times in sums, rounded to µs. */
export function rounded({ speakingMs, slowestMs }: Pick<SumRow, 'speakingMs' | 'slowestMs'>) {
  const toMicros = (ms: number) => Math.round(ms * 1000) / 1000;
  return { speakingMs: toMicros(speakingMs), slowestMs: toMicros(slowestMs) };
}

/** How often the completed seconds are fetched, in ms. */
const FETCH_MS = 1000;

/** The summed traffic of the lines: per second for ten minutes, per ten seconds for an hour, per minute for a day. */
export class Sums {
  readonly #rpc: Pick<Rpc, 'list'>;
  readonly #rings: readonly Ring[];
  readonly #lines: string[] = [];
  readonly #mostRows: number;
  #after = -1;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param mostRows maximum number of rows in all rings */
  constructor(rpc: Pick<Rpc, 'list'>, mostRows = MOST_ROWS) {
    this.#rpc = rpc;
    this.#mostRows = mostRows;
    this.#rings = RINGS.map((ring) => new Ring(ring, mostRows * MOST_OPEN));
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.read(), FETCH_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The last second that was read, on the clock of the events; -1 before the first. */
  get last(): number {
    return this.#after;
  }

  /** Fetches the completed seconds. */
  read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * The sums of periods from a second on, oldest first.
   * @param seconds the length of each period: 1, 10 or 60
   */
  *from(seconds: number, second: number): Generator<KeptSums> {
    const ring = this.#rings.find((each) => each.seconds === seconds);
    for (const { from, rows } of ring?.from(second) ?? [])
      for (let at = 0; at < rows.length; at += WIDTH) {
        const [line = 0, unit = -1, code = -1] = rows.subarray(at, at + KEYS);
        const sums = SUM_NAMES.map((name, i) => [name, rows[at + KEYS + i]]);
        const named = { line: this.#lines[line] ?? '', unit, function: code };
        yield { from, seconds, ...named, ...(Object.fromEntries(sums) as Record<SumName, number>) };
      }
  }

  /** The sums of each line over all units, from a stored second on. */
  byLine(second: number): Omit<SumRow, 'unit' | 'function'>[] {
    const lines = new Map<string, SumRow>();
    for (const each of this.from(1, second)) {
      const sum = lines.get(each.line) ?? newRow(-1, -1);
      addTo(sum, each);
      lines.set(each.line, sum);
    }
    return Array.from(lines, ([line, { unit: _, function: __, ...sums }]) => ({
      line,
      ...sums,
      ...rounded(sums),
    }));
  }

  async #read(): Promise<void> {
    const lines = await allParts(await this.#rpc.list('line.sums', { after: this.#after }));
    // The lines may be busy; the next fetch gets these too.
    if ('ok' in lines) return;
    for (const { name, second, rows } of lines.sort((a, b) => a.second - b.second)) {
      this.#after = Math.max(this.#after, second);
      const line = this.#number(name);
      // Packed rows contain everything but the line.
      for (let at = 0; at < rows.length; at += WIDTH - 1) {
        const row = [line, ...rows.subarray(at, at + WIDTH - 1)];
        for (const ring of this.#rings) ring.add(second, row);
      }
      while (this.#rings.reduce((sum, ring) => sum + ring.rows, 0) > this.#mostRows)
        this.#rings.reduce((a, b) => (a.rows > b.rows ? a : b)).dropOldest();
    }
  }

  #number(name: string): number {
    const known = this.#lines.indexOf(name);
    return known >= 0 ? known : this.#lines.push(name) - 1;
  }
}
