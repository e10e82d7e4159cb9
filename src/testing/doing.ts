import { longDuration } from './report/words.js';
import type { RunKind } from './run-kinds.js';

/** The current activity of a run. */
export interface Doing {
  /** The activity, as part of a sentence. */
  readonly what: string;
  /** The number of the current part, from 1, and the total. */
  readonly number?: number | undefined;
  readonly of?: number | undefined;
  /** Time left for the activity, in ms, if it has a fixed length. */
  readonly leftMs?: number | undefined;
  /** Estimated time left for the run, in ms; for a fuzz run, the maximum. */
  readonly moreMs?: number | undefined;
  /** What the client did last; fuzz runs only. */
  readonly last?: { readonly text: string; readonly agoMs: number } | undefined;
}

/** The names of the parts of a run, by kind. */
const PARTS: Readonly<Record<RunKind, string>> = {
  scenario: 'step',
  client: 'check',
  server: 'check',
  fuzz: 'move',
};

/** Describes the current activity of a run: `check 7 of 34, an outage of 60 s, 48 s left; about 4 min more`. */
export function doingText(kind: RunKind, { what, number, of, leftMs, moreMs, last }: Doing): string {
  const now = [
    ...(number === undefined ? [] : [`${PARTS[kind]} ${number}${of === undefined ? '' : ` of ${of}`}`]),
    what,
    ...(leftMs === undefined ? [] : [`${longDuration(leftMs / 1000)} left`]),
  ].join(', ');
  return [
    now,
    ...(last ? [`last from the client, ${agoText(last.agoMs)}: ${last.text}`] : []),
    ...(moreMs === undefined ? [] : [`${kind === 'fuzz' ? 'at most' : 'about'} ${roundedText(moreMs)} more`]),
  ].join('; ');
}

function agoText(ms: number): string {
  return ms < 1000 ? 'just now' : `${longDuration(ms / 1000)} ago`;
}

/** Formats an estimate, rounded to 5 s; from 1 min to 10 s, from 2 min to half a minute, from 10 min to a minute. */
function roundedText(ms: number): string {
  const seconds = ms / 1000;
  const step = seconds < 60 ? 5 : seconds < 120 ? 10 : seconds < 600 ? 30 : 60;
  return longDuration(Math.max(step, Math.round(seconds / step) * step)).replace(/ 0 \w+$/, '');
}
