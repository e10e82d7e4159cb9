import { longDuration } from './report/words.js';
import type { RunKind } from './run-kinds.js';

/** What a run does now. */
export interface Doing {
  /** What is on, as a part of a sentence. */
  readonly what: string;
  /** Which part of the run that is, counted from 1, and how many there are. */
  readonly number?: number | undefined;
  readonly of?: number | undefined;
  /** How long it lasts yet, in ms, where it lasts a given time. */
  readonly leftMs?: number | undefined;
  /** About how long the rest of the run takes, in ms; of a fuzz run, at most. */
  readonly moreMs?: number | undefined;
  /** What the client did last; fuzz runs only. */
  readonly last?: { readonly text: string; readonly agoMs: number } | undefined;
}

/** What a run of each kind does one after the other. */
const PARTS: Readonly<Record<RunKind, string>> = {
  scenario: 'step',
  client: 'check',
  server: 'check',
  fuzz: 'move',
};

/** Says what a run does now: `check 7 of 34, an outage of 60 s, 48 s left; about 4 min more`. */
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

/** An estimate: to 5 s, from a minute on to 10 s, from two minutes on to half minutes, from ten on to minutes. */
function roundedText(ms: number): string {
  const seconds = ms / 1000;
  const step = seconds < 60 ? 5 : seconds < 120 ? 10 : seconds < 600 ? 30 : 60;
  return longDuration(Math.max(step, Math.round(seconds / step) * step)).replace(/ 0 \w+$/, '');
}
