import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Work } from '../work.js';

/** The longest time in ms to work for somebody else before the lines get their turn of the event loop. */
export const SLICE_MS = 0.5;

/**
 * Does long work in slices, each in a turn of the event loop of its own.
 * @returns what the work returns
 */
export async function inSlices<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    const endsAt = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < endsAt);
    await nextTurn();
  }
}
