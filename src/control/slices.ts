import { setImmediate as nextTurn } from 'node:timers/promises';

/** The longest time in ms to work for somebody else before the lines get their turn of the event loop. */
const SLICE_MS = 0.5;

/**
 * Does long work in slices, each in a turn of the event loop of its own. The work yields where it can pause.
 * @returns what the work returns
 */
export async function inSlices<Result>(work: Generator<unknown, Result>): Promise<Result> {
  for (;;) {
    const endsAt = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < endsAt);
    await nextTurn();
  }
}

/** The next parts of a long list, as many as can be made without a pause; `isLast` when there are no more. */
export function nextParts<Part>(parts: Iterator<Part | undefined>): {
  readonly parts: Part[];
  readonly isLast: boolean;
} {
  const made: Part[] = [];
  const endsAt = performance.now() + SLICE_MS;
  do {
    const { done, value } = parts.next();
    if (done) return { parts: made, isLast: true };
    if (value !== undefined) made.push(value);
  } while (performance.now() < endsAt);
  return { parts: made, isLast: false };
}
