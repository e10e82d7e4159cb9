import { effect, signal } from '@preact/signals';
import type { Summary } from '../../../../simulator/commands/schemas/summary.js';
import { summary } from '../../live.js';

type LineSummary = Summary['lines'][number];
type Counters = LineSummary['counters'];

/** Measurements of a line in each of the last seconds, the oldest first. */
export interface LineHistory {
  readonly requests: readonly (number | undefined)[];
  /** The mean turnaround of each second, in ms; undefined for a second without replies. */
  readonly turnaround: readonly (number | undefined)[];
  /** Events per second over the last five seconds; undefined before there are two summaries. */
  readonly rates: Counters | undefined;
}

/** Length of the history, in s. */
export const LENGTH = 120;
const RATE_OVER = 5;

/** Histories by line. They are kept while other views are shown. */
export const histories = signal<ReadonlyMap<string, LineHistory>>(new Map());

/** The last summaries, the newest last. */
let recent: readonly Summary[] = [];

effect(() => {
  const now = summary.value;
  if (now) {
    const last = recent.at(-1);
    // A simulator counts from zero after a restart.
    const isNewRun = last !== undefined && last.program.run !== now.program.run;
    recent = isNewRun ? [now] : [...recent.slice(-RATE_OVER), now];
    const before = isNewRun ? new Map<string, LineHistory>() : histories.peek();
    histories.value = new Map(now.lines.map((line) => [line.name, extended(before.get(line.name), line)]));
  }
});

function extended(before: LineHistory | undefined, line: LineSummary): LineHistory {
  const { requests = [], turnaround = [] } = before ?? {};
  const last = since(recent.at(-2), line);
  const first = since(recent[0], line);
  return {
    requests: added(requests, last && (line.counters.requests - last.line.counters.requests) / last.seconds),
    turnaround: added(turnaround, last && meanBetween(last.line, line)),
    rates: first && ratesBetween(first.line.counters, line.counters, first.seconds),
  };
}

/** The line in an earlier summary; undefined if it was not there, or was another line of the same name. */
function since(earlier: Summary | undefined, line: LineSummary) {
  const now = recent.at(-1);
  const found = earlier?.lines.find(({ name }) => name === line.name);
  if (!now || !earlier || earlier === now || !found) return undefined;
  if (found.counters.requests > line.counters.requests) return undefined;
  return { line: found, seconds: (now.monotonicUs - earlier.monotonicUs) / 1e6 };
}

function meanBetween(from: LineSummary, to: LineSummary): number | undefined {
  const count = to.turnaround.count - from.turnaround.count;
  return count > 0 ? (to.turnaround.sumMs - from.turnaround.sumMs) / count : undefined;
}

function ratesBetween(from: Counters, to: Counters, seconds: number): Counters {
  const entries = Object.entries(to) as [keyof Counters, number][];
  return Object.fromEntries(entries.map(([key, value]) => [key, (value - from[key]) / seconds])) as Counters;
}

function added<Value>(values: readonly Value[], value: Value): readonly Value[] {
  return [...values.slice(1 - LENGTH), value];
}
