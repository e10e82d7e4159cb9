import type { SumsView } from '../../../api/v1/sums.js';

/** How far the score looks back: the length of its times, and how many there are. */
export const RANGES = [
  { every: '1s', seconds: 1, count: 600, title: '10 min' },
  { every: '10s', seconds: 10, count: 360, title: '1 h' },
  { every: '1m', seconds: 60, count: 1440, title: '24 h' },
] as const;

export type ScoreRange = (typeof RANGES)[number];

/** What became of requests, from the bottom of a column to its top, in words. */
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

/** The columns of a unit; `unit` is null for damage, whose unit nobody knows. */
export interface UnitRow {
  readonly unit: number | null;
  /** A path in a box of one pixel for each time, and `HEIGHT` high, for each outcome that occurs. */
  readonly paths: readonly (readonly [Fate, string])[];
  readonly words: string;
}

/** Height of a row, in units of its path. */
export const HEIGHT = 16;

type Counts = Record<Fate, number>;

/** The key of sums: those that are read again replace what was known of their time. */
export function keyOf({ monotonicUs, line, unit, function: code }: SumsView): string {
  return [monotonicUs, line, unit, code].join();
}

/** The place of a time in a range whose last one, `count - 1`, has the moment `endUs`. */
export function placeOf(us: number, { seconds, count }: ScoreRange, endUs: number): number {
  return count - 1 - (Math.floor(endUs / (1e6 * seconds)) - Math.floor(us / (1e6 * seconds)));
}

/**
 * The rows of a line: one for each unit, in their order, and that of damage last.
 * @param served units that have a row even if nobody asks them
 */
export function unitRows(
  sums: readonly SumsView[],
  served: readonly number[],
  range: ScoreRange,
  endUs: number,
): UnitRow[] {
  const units = new Map<number | null, Map<number, Counts>>(served.map((unit) => [unit, new Map()]));
  const codes = new Map<number | null, Set<number>>();
  for (const each of sums) {
    const place = placeOf(each.monotonicUs, range, endUs);
    if (place < 0 || place >= range.count) continue;
    const columns = units.get(each.unit) ?? new Map<number, Counts>();
    const column = columns.get(place) ?? ({ ...NONE } as Counts);
    for (const name of NAMES) column[name] += each[name];
    units.set(each.unit, columns.set(place, column));
    codes.set(each.unit, (codes.get(each.unit) ?? new Set()).add(each.function ?? -1));
  }
  const order = (unit: number | null) => unit ?? Number.POSITIVE_INFINITY;
  return [...units]
    .sort(([a], [b]) => order(a) - order(b))
    .map(([unit, columns]) => ({
      unit,
      paths: pathsOf(columns),
      words: wordsOf(columns, [...(codes.get(unit) ?? [])], range),
    }));
}

const NONE: Readonly<Counts> = { good: 0, exceptions: 0, ordered: 0, missing: 0, foreign: 0, damaged: 0 };
/** The least height of a column with anything in it, as a share. */
const LEAST = 0.3;

function pathsOf(columns: ReadonlyMap<number, Counts>): UnitRow['paths'] {
  const most = Math.max(1, ...Array.from(columns.values(), totalOf));
  const paths = new Map<Fate, string>();
  for (const [place, counts] of columns) {
    const total = totalOf(counts);
    let bottom = HEIGHT;
    for (const name of NAMES) {
      if (counts[name] === 0) continue;
      const height = (HEIGHT * (LEAST + (1 - LEAST) * (total / most)) * counts[name]) / total;
      bottom -= height;
      paths.set(name, `${paths.get(name) ?? ''}M${place} ${bottom.toFixed(1)}h1v${height.toFixed(1)}h-1z`);
    }
  }
  return [...paths];
}

function totalOf(counts: Counts): number {
  return NAMES.reduce((sum, name) => sum + counts[name], 0);
}

/** Who is asked what, how often, and what went wrong: `fn 3, 24/s, exceptions 3 %`. */
function wordsOf(columns: ReadonlyMap<number, Counts>, codes: readonly number[], range: ScoreRange): string {
  if (columns.size === 0) return 'nobody asks';
  const sum = { ...NONE } as Counts;
  for (const counts of columns.values()) for (const name of NAMES) sum[name] += counts[name];
  const total = totalOf(sum);
  const places = [...columns.keys()];
  const seconds = (range.count - Math.min(...places)) * range.seconds;
  const known = codes.filter((code) => code >= 0).sort((a, b) => a - b);
  const parts = NAMES.filter((name) => name !== 'good' && sum[name] > 0).map(
    (name) => `${OUTCOMES[name]} ${shareText(sum[name] / total)}`,
  );
  const functions = known.length > 0 ? [`fn ${known.join(' ')}`] : [];
  return [...functions, `${rateText(total / seconds)}`, ...parts].join(', ');
}

function rateText(perSecond: number): string {
  return perSecond >= 1 ? `${Math.round(perSecond)}/s` : `${Math.max(1, Math.round(perSecond * 60))}/min`;
}

/** A share in percent; what occurred is never 0 %. */
export function shareText(share: number): string {
  const percent = 100 * share;
  return percent > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}

/** How full a line is: the share of each time in which characters were on the wire; undefined for sockets. */
export function loadOf(sums: readonly SumsView[], range: ScoreRange, endUs: number): number[] | undefined {
  const load = new Array<number>(range.count).fill(0);
  for (const { monotonicUs, speakingMs } of sums) {
    const place = placeOf(monotonicUs, range, endUs);
    if (place >= 0 && place < range.count)
      load[place] = (load[place] ?? 0) + speakingMs / (1000 * range.seconds);
  }
  return load.some((each) => each > 0) ? load.map((each) => Math.min(1, each)) : undefined;
}
