import { sleep } from './sleep.js';

/**
 * The time and its timers, in ms. Everything that waits on a serial line gets a clock, so that tests can pass their
 * own.
 */
export interface Clock {
  /** Only the difference between two of these times means something. */
  now(): number;
  /**
   * Calls back as soon as possible at or after `at`, never before and never at once. The end of the wait is spent in
   * turns of the event loop (see `sleep.ts`), so use this for replies and not for frequent waits. Returns a function
   * that calls it off.
   */
  callAt(at: number, callback: () => void): () => void;
  /**
   * Calls back some ms after `ms`, when everything that has arrived by then has been read. This holds even if the
   * process was stalled: after a stall, timers fire before received bytes are read. Returns a function that calls it
   * off.
   */
  callAfter(ms: number, callback: () => void): () => void;
}

/** How long bytes that have arrived may take to reach us through the kernel and the event loop. */
const READING_MS = 3;

const now = () => performance.now();

export const systemClock: Clock = {
  now,

  callAt(at, callback) {
    let wake: () => void;
    const wait = () => {
      const remaining = at - now();
      if (remaining <= 0) callback();
      else wake = sleep(remaining, wait);
    };
    wake = sleep(Math.max(0, at - now()), wait);
    return () => wake();
  },

  callAfter(ms, callback) {
    let immediate: NodeJS.Immediate | undefined;
    let timeout = setTimeout(() => {
      timeout = setTimeout(() => {
        immediate = setImmediate(callback);
      }, READING_MS);
    }, ms);

    return () => {
      clearTimeout(timeout);
      clearImmediate(immediate);
    };
  },
};
