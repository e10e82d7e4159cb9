import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { rulerOfDay } from '../../../../common/timeline/times.js';
import type { SumsView } from '../../../api/v1/sums.js';
import { ask } from '../../api.js';
import { restarts, serverNow, summary, usOf } from '../../live.js';
import { past } from '../../past.js';
import { recorded, recordedSeconds } from '../../recorded.js';
import { go, hrefOf, route } from '../../route.js';
import { StripModel, sourceOf } from '../../strip/model.js';
import { together } from '../../ui/element.js';
import { indexOf, RANGES, rangeFor, type ScoreRange } from './score-model.js';

/** The time axis that all lanes share. */
export const axis = new StripModel();
/** The strip shows single bytes at this scale and below, in µs per pixel. */
export const FINE = 2000;
/** The fraction of the width used by periods; the rest is free for new ones. */
const FULL = 0.94;
/** The initial length of the axis, in s: ten minutes, or all of a file. */
export const FIRST_S = recorded ? 1 + 1.05 * recordedSeconds : RANGES[0].seconds * RANGES[0].count;

/** What was read of a range, by line, oldest first. */
interface Read {
  readonly range: ScoreRange;
  readonly lines: ReadonlyMap<string, readonly SumsView[]>;
  /** A time in its newest period. */
  readonly endUs: number;
}

export const read = signal<Read>({ range: RANGES[0], lines: new Map(), endUs: 0 });

/** The length of the axis, in s. */
export const spanS = computed(() => (axis.width.value * FULL * axis.scale.value.usPerPixel) / 1e6);

const range = computed(() => {
  const age = (summary.value?.monotonicUs ?? 0) - axis.scale.value.fromUs;
  return axis.width.value === 0 ? RANGES[0] : rangeFor(age);
});

/** A ruler that shows the time of day on the axis. */
export function dayRuler() {
  const { time, monotonicUs } = summary.peek() ?? { time: '', monotonicUs: 0 };
  const zone = new Date(serverNow()).getTimezoneOffset() * 60;
  return rulerOfDay(monotonicUs - 1000 * (Date.parse(time) - 1000 * zone));
}

/** Converts a time on the axis to the wall clock, in ms. */
export function wallAt(us: number): number {
  return serverNow() - ((summary.peek()?.monotonicUs ?? 0) - us) / 1000;
}

/** Shows this many seconds, up to the newest one. */
export function show(seconds: number): void {
  batch(() => {
    axis.scale.value = { fromUs: 0, usPerPixel: (1e6 * seconds) / (FULL * Math.max(1, axis.width.peek())) };
    axis.follow();
  });
}

let isPlaced = false;

/** Shows the traffic before a time on the wall clock. */
function endAt(ms: number): void {
  const { usPerPixel } = axis.scale.peek();
  axis.look({ usPerPixel, fromUs: usOf(ms) - FULL * axis.width.peek() * usPerPixel });
}

/** Call this when the width of the lanes is known. Initially they show the part that the address names. */
export function resizeAxis(width: number): void {
  axis.resize(width);
  if (isPlaced || width === 0 || !summary.peek()) return;
  isPlaced = true;
  const { query } = route.peek();
  const seconds = Number(query.get('span')) || FIRST_S;
  show(Math.min(2 * RANGES[2].seconds * RANGES[2].count, Math.max(1e-3, seconds)));
  const until = Date.parse(past.peek() ?? query.get('until') ?? '');
  if (until > 0) endAt(until);
}

/** How long the axis must be still before the address follows it, in ms. */
const REST_MS = 400;

/** Reads new sums as often as there are any, until the returned function is called. */
export function followScore(): () => void {
  isPlaced = false;
  return together(followSums(), followAddress(), followPast());
}

/** Ends the lanes at the past time shown, if there is one. */
function followPast(): () => void {
  let was: string | undefined;
  return effect(() => {
    const then = past.value;
    if (axis.width.value === 0 || then === was) return;
    was = then;
    untracked(() => (then === undefined ? axis.follow() : endAt(Date.parse(then))));
  });
}

function followSums(): () => void {
  let [known, at] = ['', -1];
  return effect(() => {
    const wanted = range.value;
    const now = indexOf(summary.value?.monotonicUs ?? 0, wanted);
    const key = `${wanted.every} ${restarts.value}`;
    if (!summary.value || (key === known && now === at)) return;
    const isNew = key !== known;
    [known, at] = [key, now];
    void readNew(wanted, isNew);
  });
}

async function readNew(wanted: ScoreRange, isNew: boolean): Promise<void> {
  // Only completed seconds are known.
  const endUs = (summary.peek()?.monotonicUs ?? 0) - (recorded ? 0 : 1e6);
  // The newest period may have been incomplete.
  const since = isNew ? '' : `&since=${Math.ceil((endUs - read.peek().endUs) / 1e6) + 2 * wanted.seconds}s`;
  const answer = await ask<{ readonly sums: readonly SumsView[] }>(
    'GET',
    `/sums?every=${wanted.every}${since}`,
  );
  if (!answer.ok || wanted !== range.peek()) return;
  const before = isNew ? new Map<string, readonly SumsView[]>() : read.peek().lines;
  const lines = joined(before, answer.value.sums, indexOf(endUs, wanted) - wanted.count, wanted);
  batch(() => {
    read.value = { range: wanted, lines, endUs };
    const oldestUs = endUs - 1e6 * wanted.seconds * wanted.count;
    axis.setSource({ ...sourceOf([]), oldestUs, newestUs: endUs, rulerAt: dayRuler });
  });
}

/**
 * Joins the sums of each line with new ones, which are complete from their first period on. Periods up to
 * `oldest` are dropped.
 */
function joined(
  before: Read['lines'],
  more: readonly SumsView[],
  oldest: number,
  wanted: ScoreRange,
): Read['lines'] {
  const fromUs = more[0]?.monotonicUs ?? Number.POSITIVE_INFINITY;
  const oldestUs = 1e6 * wanted.seconds * (oldest + 1);
  const isKept = ({ monotonicUs }: SumsView) => monotonicUs >= oldestUs && monotonicUs < fromUs;
  const lines = new Map(Array.from(before, ([name, line]) => [name, line.filter(isKept)]));
  for (const each of more) {
    const line = lines.get(each.line);
    if (line) line.push(each);
    else lines.set(each.line, [each]);
  }
  return lines;
}

/** Keeps the part that the axis shows in the address, unless it is the initial one. */
function followAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    const [span, isFollowing] = [spanS.value, axis.isFollowing.value];
    const until = isFollowing
      ? undefined
      : axis.scale.value.fromUs + FULL * axis.width.value * axis.scale.value.usPerPixel;
    clearTimeout(timer);
    if (span === 0) return;
    timer = setTimeout(() => {
      if (route.peek().view !== 'lines' || !isPlaced) return;
      const isFirst = Math.abs(span / FIRST_S - 1) < 0.01;
      const query = {
        ...((!isFirst || until !== undefined) && { span: String(Number(span.toPrecision(6))) }),
        ...(until !== undefined && { until: new Date(wallAt(until)).toISOString() }),
      };
      go(hrefOf('lines', [], query), 'replace');
    }, REST_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
