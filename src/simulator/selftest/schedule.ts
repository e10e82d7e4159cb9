import type { SerialTimes } from '../../transport/serial/serial-times.js';
import { ENOUGH } from './percentiles.js';

/** At most so many requests, and for so long in ms. */
const MOST = 500;
const USUAL_MS = 5000;
/** While all are answered and there are not `ENOUGH`, for so long in ms. */
const LONGEST_MS = 15_000;
/** However long they take: a short one and a long one. */
const FEWEST = 2;

/** Longer than adapter, system and a busy machine keep back a reply that is not lost, in ms. */
const SLACK_MS = 3000;

/** Whether another request is to be asked, `elapsed` ms after the first. */
export function asksOn(asked: number, answered: number, elapsed: number): boolean {
  if (asked < FEWEST) return true;
  if (asked >= MOST) return false;
  return elapsed < (asked === answered && asked < ENOUGH ? LONGEST_MS : USUAL_MS);
}

/** How long a reply may take in ms, with so many `bytes` in request and reply; `times` of a serial line. */
export function patience(times: SerialTimes | undefined, bytes: number): number {
  return SLACK_MS + (times ? (times.turnaround ?? 0) + bytes * times.characterTime : 0);
}

/** What a client on a bus lets pass before it asks again, in ms: t3.5 at least. */
export function pauseBetween({ t35 }: SerialTimes): number {
  return Math.max(5, t35 + 1);
}
