import type { Work } from '../common/work.js';

/** The longest time, in ms, for other work before the lines get their turn of the event loop. */
export const SLICE_MS = 0.5;

/**
 * Work that waits for its next slice. All work shares one slice in a turn of the event loop, however much
 * there is.
 */
const waiting: (() => void)[] = [];

function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(beginNext);
  });
}

function beginNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(beginNext);
}

/** Does long work in slices, each in a turn of the event loop of its own. @returns the result of the work */
export async function inSlices<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    const endsAt = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < endsAt);
    await nextSlice();
  }
}
