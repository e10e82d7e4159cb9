import { counted } from '../../../../common/words.js';
import type { SumsView } from '../../../api/v1/sums.js';
import { rateText } from '../../ui/format.js';

/** The periods that the simulator sums: the length of each, and how many are stored. */
export const RANGES = [
  { every: '1s', seconds: 1, count: 600, title: '10 min' },
  { every: '10s', seconds: 10, count: 360, title: '1 h' },
  { every: '1m', seconds: 60, count: 1440, title: '24 h' },
] as const;

export type ScoreRange = (typeof RANGES)[number];

/** Outcomes of requests as text, from the bottom of a column to its top. */
export const OUTCOMES = {
  good: 'good',
  exceptions: 'exceptions',
  ordered: 'changed by a rule',
  missing: 'no reply',
  foreign: 'between others',
  damaged: 'damaged',
} as const;

type Fate = keyof typeof OUTCOMES;

const NAMES = Object.keys(OUTCOMES) as readonly Fate[];

/** The finest range that goes back far enough. @param ageUs the age of the oldest time shown */
export function rangeFor(ageUs: number): ScoreRange {
  const reaches = ({ seconds, count }: ScoreRange) => 0.98 * ageUs <= 1e6 * seconds * count;
  return RANGES.find(reaches) ?? RANGES[2];
}

/** The number of the period that contains a time. */
export function indexOf(us: number, { seconds }: Pick<ScoreRange, 'seconds'>): number {
  return Math.floor(us / (1e6 * seconds));
}

/** A time span in periods of a range. */
export interface ShownSpan {
  readonly fromUs: number;
  readonly toUs: number;
}

type Counts = Readonly<Record<Fate, number>>;

/** The sums of a unit and function in the periods of a range; `unit` is null for damage, whose unit is not known. */
export interface AskedRow {
  readonly unit: number | null;
  readonly code: number | null;
  readonly sums: readonly SumsView[];
  /**
   * A path for each outcome that occurs: a period is 1 wide, the newest one starts at 0, and everything is
   * `HEIGHT` high.
   */
  readonly paths: readonly (readonly [Fate, string])[];
}

/** Height of a row, in units of its path. */
export const HEIGHT = 16;

/** Maximum number of units per line that have a row although no client polls them. */
const MOST_IDLE = 16;

/**
 * The rows of a line: one for each unit and function, in order, and one for damage at the end.
 * @param served units that have a row even if no client polls them @param newest number of the newest period
 * @param bunch how many periods are drawn as one: see `bunchFor`
 */
export function rowsOf(
  sums: readonly SumsView[],
  served: readonly number[],
  range: ScoreRange,
  newest: number,
  bunch = 1,
): AskedRow[] {
  const groups = new Map<number, SumsView[]>();
  const asked = new Set<number | null>();
  for (const each of sums) {
    const key = (each.unit ?? 999) * 256 + (each.function ?? 255);
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
    asked.add(each.unit);
  }
  const idle = served.filter((unit) => !asked.has(unit)).slice(0, MOST_IDLE);
  const rows = [...groups].map(([key, group]): readonly [number, AskedRow] => {
    const { unit, function: code } = group[0] as SumsView;
    return [key, { unit, code, sums: group, paths: pathsOf(group, range, newest, bunch) }];
  });
  return [...rows, ...idle.map((unit) => [unit * 256, { unit, code: null, sums: [], paths: [] }] as const)]
    .sort(([a], [b]) => a - b)
    .map(([, row]) => row);
}

/** Minimum height of a column that is not empty, as a fraction. */
const LEAST = 0.3;

/** How many periods are drawn as one column, so that none is narrower than a pixel: a power of two. */
export function bunchFor(usPerPixel: number, { seconds }: ScoreRange): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(usPerPixel / (1e6 * seconds))));
}

function pathsOf(
  sums: readonly SumsView[],
  range: ScoreRange,
  newest: number,
  bunch: number,
): AskedRow['paths'] {
  const columns = new Map<number, Record<Fate, number>>();
  for (const each of sums) {
    const at = Math.floor(indexOf(each.monotonicUs, range) / bunch);
    const column = columns.get(at);
    if (column) for (const name of NAMES) column[name] += each[name];
    else {
      const { good, exceptions, ordered, missing, foreign, damaged } = each;
      columns.set(at, { good, exceptions, ordered, missing, foreign, damaged });
    }
  }
  let most = 1;
  for (const column of columns.values()) most = Math.max(most, totalOf(column));
  const paths = new Map<Fate, Steps>();
  for (const [at, column] of columns) {
    const total = totalOf(column);
    let bottom = HEIGHT;
    for (const name of NAMES) {
      if (column[name] === 0) continue;
      const height = (HEIGHT * (LEAST + (1 - LEAST) * (total / most)) * column[name]) / total;
      bottom -= height;
      const steps = paths.get(name) ?? new Steps(bunch);
      steps.add(at * bunch - newest, bottom, height);
      paths.set(name, steps);
    }
  }
  return Array.from(paths, ([name, steps]) => [name, steps.path()] as const);
}

/** Adjacent columns. Equal ones are drawn as one, so a day of steady traffic needs only a few. */
class Steps {
  readonly #wide: number;
  #done = '';
  #from = 0;
  #to = 0;
  #shape = '';
  #height = '';

  constructor(wide: number) {
    this.#wide = wide;
  }

  add(x: number, top: number, height: number): void {
    const shape = top.toFixed(1);
    const tall = height.toFixed(1);
    if (x === this.#to && shape === this.#shape && tall === this.#height) {
      this.#to += this.#wide;
      return;
    }
    this.#done = this.path();
    [this.#from, this.#to, this.#shape, this.#height] = [x, x + this.#wide, shape, tall];
  }

  path(): string {
    if (this.#shape === '') return this.#done;
    return `${this.#done}M${this.#from} ${this.#shape}h${this.#to - this.#from}v${this.#height}h${this.#from - this.#to}z`;
  }
}

function totalOf(counts: Counts): number {
  return counts.good + counts.exceptions + counts.ordered + counts.missing + counts.foreign + counts.damaged;
}

/** The total of a row in a time span. */
export interface RowSum extends Counts {
  readonly total: number;
  readonly perSecond: number;
  readonly speakingMs: number;
  readonly slowestMs: number;
}

/** @param span whole periods that are known */
export function sumOf({ sums }: Pick<AskedRow, 'sums'>, span: ShownSpan, range: ScoreRange): RowSum {
  const sum = { good: 0, exceptions: 0, ordered: 0, missing: 0, foreign: 0, damaged: 0 };
  let [speakingMs, slowestMs, first] = [0, 0, Number.POSITIVE_INFINITY];
  for (const each of sums) {
    if (each.monotonicUs + 1e6 * each.seconds <= span.fromUs || each.monotonicUs >= span.toUs) continue;
    first = Math.min(first, each.monotonicUs);
    for (const name of NAMES) sum[name] += each[name];
    speakingMs += each.speakingMs;
    slowestMs = Math.max(slowestMs, each.slowestMs);
  }
  const total = totalOf(sum);
  const seconds = Math.max(range.seconds, (span.toUs - first) / 1e6);
  return { ...sum, total, perSecond: total === 0 ? 0 : total / seconds, speakingMs, slowestMs };
}

/** How often a poll is sent, and what went wrong: `24/s, exceptions 3 %, slowest 61 ms`. */
export function wordsOf({ sums }: AskedRow, sum: RowSum): string {
  if (sum.total === 0) return sums.length === 0 ? 'not polled' : 'not at this time';
  const parts = NAMES.filter((name) => name !== 'good' && sum[name] > 0).map(
    (name) => `${OUTCOMES[name]} ${shareText(sum[name] / sum.total)}`,
  );
  const slowest = sum.slowestMs >= 1 ? [`slowest ${Math.round(sum.slowestMs)} ms`] : [];
  return [rateText(sum.perSecond), ...parts, ...slowest].join(', ');
}

/** A fraction in percent; anything that occurred is never 0 %. */
export function shareText(share: number): string {
  const percent = 100 * share;
  return percent > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}

/** How full a wire is: the fractions of time used by characters, and by the pauses of t3.5 that frames need. */
export interface Load {
  readonly speaking: number;
  readonly pauses: number;
}

/** The load of a serial line in a time span; undefined if the line is not serial. @param span as for `sumOf` */
export function loadOf(rows: readonly AskedRow[], span: ShownSpan, t35Ms: number): Load | undefined {
  let [speakingMs, frames, first] = [0, 0, Number.POSITIVE_INFINITY];
  for (const { sums } of rows)
    for (const each of sums) {
      if (each.monotonicUs + 1e6 * each.seconds <= span.fromUs || each.monotonicUs >= span.toUs) continue;
      first = Math.min(first, each.monotonicUs);
      speakingMs += each.speakingMs;
      frames += framesOf(each);
    }
  if (speakingMs === 0) return undefined;
  const ms = (span.toUs - first) / 1000;
  return loadFrom(speakingMs, frames * t35Ms, Math.max(1000, ms));
}

function loadFrom(speakingMs: number, pausesMs: number, ms: number): Load {
  const speaking = Math.min(1, speakingMs / ms);
  return { speaking, pauses: Math.min(1 - speaking, pausesMs / ms) };
}

/** The approximate number of frames: a request, and its reply if there was one. */
function framesOf(sums: SumsView): number {
  return sums.requests + sums.good + sums.exceptions + sums.ordered + sums.foreign + sums.damaged;
}

/** The paths of the load, like the paths of a row: characters below, the pauses of t3.5 above. */
export function loadPaths(
  rows: readonly AskedRow[],
  range: ScoreRange,
  newest: number,
  t35Ms: number,
  bunch = 1,
) {
  const times = new Map<number, [speakingMs: number, frames: number]>();
  for (const { sums } of rows)
    for (const each of sums) {
      const index = Math.floor(indexOf(each.monotonicUs, range) / bunch);
      const [speakingMs, frames] = times.get(index) ?? [0, 0];
      times.set(index, [speakingMs + each.speakingMs, frames + framesOf(each)]);
    }
  const [speaking, pauses] = [new Steps(bunch), new Steps(bunch)];
  for (const [index, [speakingMs, frames]] of [...times].sort(([a], [b]) => a - b)) {
    const load = loadFrom(speakingMs, frames * t35Ms, 1000 * range.seconds * bunch);
    const [low, high] = [HEIGHT * load.speaking, HEIGHT * load.pauses];
    speaking.add(index * bunch - newest, HEIGHT - low, low);
    pauses.add(index * bunch - newest, HEIGHT - low - high, high);
  }
  return { speaking: speaking.path(), pauses: pauses.path() };
}

/** A reply is late after this time, in ms: many clients wait no longer. */
const LATE_MS = 500;
/** A wire is full above this fraction. */
const FULL = 0.8;
/** How much more often a unit must be polled than any other to be reported, and how often at least. */
const MUCH_MORE = 5;
const OFTEN = 2;

/**
 * What is wrong on a line, in sentences, worst first.
 * @param asked the rows with their sums @param nameOf returns the name of a unit: `unit 5 (meter)`
 */
export function troublesOf(
  asked: readonly { readonly row: AskedRow; readonly sum: RowSum }[],
  load: Load | undefined,
  nameOf: (unit: number) => string,
): string[] {
  const units = new Map<number, RowSum[]>();
  const idle: string[] = [];
  const found: string[] = [];
  for (const { row, sum } of asked) {
    if (row.unit === null && sum.damaged > 0)
      found.push(`Damage: ${counted(sum.damaged, 'message')}, ${rateText(sum.perSecond)}`);
    if (row.unit !== null && row.sums.length === 0) idle.push(nameOf(row.unit));
    else if (row.unit !== null) units.set(row.unit, [...(units.get(row.unit) ?? []), sum]);
  }
  const all = Array.from(units, ([unit, sums]) => {
    const add = (pick: (sum: RowSum) => number) => sums.reduce((total, sum) => total + pick(sum), 0);
    const slowestMs = sums.reduce((most, sum) => Math.max(most, sum.slowestMs), 0);
    const [total, perSecond] = [add((sum) => sum.total), add((sum) => sum.perSecond)];
    const [missing, exceptions] = [add((sum) => sum.missing), add((sum) => sum.exceptions)];
    return { unit, total, perSecond, missing, exceptions, slowestMs };
  });
  for (const { unit, missing, total } of all)
    if (missing > 0)
      found.push(`${nameOf(unit)} leaves ${shareText(missing / total)} of its requests unanswered`);
  for (const { unit, slowestMs } of all)
    if (slowestMs >= LATE_MS) found.push(`${nameOf(unit)} takes up to ${Math.round(slowestMs)} ms to reply`);
  for (const { unit, exceptions, total } of all)
    if (exceptions > 0)
      found.push(
        `${nameOf(unit)} answers ${shareText(exceptions / total)} of its requests with an exception`,
      );
  const byRate = all.filter(({ total }) => total > 0).sort((a, b) => b.perSecond - a.perSecond);
  const [most, next] = byRate;
  if (most && next && most.perSecond >= OFTEN && most.perSecond > MUCH_MORE * next.perSecond)
    found.push(
      `${nameOf(most.unit)} is polled ${rateText(most.perSecond)}, the others at most ${rateText(next.perSecond)}`,
    );
  if (load && load.speaking + load.pauses >= FULL)
    found.push(`The wire is ${shareText(load.speaking + load.pauses)} busy`);
  if (idle.length > 0) found.push(`No client polls ${idle.join(', ')}`);
  return found;
}
