import type { SerialTimes } from '../../transport/serial/serial-times.js';
import { ENOUGH } from './percentiles.js';

/** Limits of the queries: their number, and the time in ms. */
const MOST = 500;
const USUAL_MS = 5000;
/** Time limit in ms while all requests are answered but there are fewer than `ENOUGH`. */
const LONGEST_MS = 15_000;
/** Requests that are sent however long they take: one short and one long. */
const FEWEST = 2;

/** In ms; longer than an adapter, the system and a busy machine delay a reply that is not lost. */
const SLACK_MS = 3000;

/** Whether to send another request, `elapsed` ms after the first. */
export function asksOn(asked: number, answered: number, elapsed: number): boolean {
  if (asked < FEWEST) return true;
  if (asked >= MOST) return false;
  return elapsed < (asked === answered && asked < ENOUGH ? LONGEST_MS : USUAL_MS);
}

/** How long to wait for a reply, in ms. `bytes` is the length of request and reply; only serial lines have `times`. */
export function patience(times: SerialTimes | undefined, bytes: number): number {
  return SLACK_MS + (times ? (times.turnaround ?? 0) + bytes * times.characterTime : 0);
}

/** The pause of a client on a bus before its next request, in ms: at least t3.5. */
export function pauseBetween({ t35 }: SerialTimes): number {
  return Math.max(5, t35 + 1);
}
