/**
 * The time and its timers, in ms. Everything that waits on a serial line gets a clock, so that tests can pass
 * their own.
 */
export interface Clock {
  /** Returns the time in ms. Only the difference between two of these times means something. */
  now(): number;
  /**
   * Calls back as soon as possible at or after `at`, never before and never at once. The end of the wait is
   * spent in turns of the event loop, so use this for replies and not for frequent waits. Returns a function
   * that calls it off.
   */
  callAt(at: number, callback: () => void): () => void;
  /**
   * Calls back some ms after `ms`, when everything that has arrived by then has been read. That holds even if
   * the process was stalled: after a stall, timers fire before received bytes are read. Returns a function
   * that calls it off.
   */
  callAfter(ms: number, callback: () => void): () => void;
}

/**
 * Calls `wake` in a later turn of the event loop, as near as possible to `ms` from now but mostly earlier;
 * the caller then sleeps again for the rest. Returns a function that calls it off.
 */
export type Sleep = (ms: number, wake: () => void) => () => void;

/**
 * The event loop's timers know whole milliseconds, and count from when the loop's turn began. So they are set
 * to 0.35 ms before the time, and the rest, mostly up to 1.4 ms, is spent in turns of the loop.
 */
const LOOP_LEAD_MS = 0.35;

let sleep: Sleep = (ms, wake) => {
  if (ms <= LOOP_LEAD_MS + 1) return nextTurn(wake);
  const timeout = setTimeout(wake, ms - LOOP_LEAD_MS);
  return () => clearTimeout(timeout);
};

/** Makes all waits use a better sleep from now on. */
export function useSleep(better: Sleep): void {
  sleep = better;
}

export const nextTurn = (wake: () => void): (() => void) => {
  const immediate = setImmediate(wake);
  return () => clearImmediate(immediate);
};

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
