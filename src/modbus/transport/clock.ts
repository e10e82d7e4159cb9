/**
 * A clock and its timers, in ms. Everything that waits on a serial line is given a clock, so that tests can
 * pass their own.
 */
export interface Clock {
  /** Returns the time in ms. Only differences between these times have a meaning. */
  now(): number;
  /**
   * Calls back as soon as possible at or after `at`: never earlier, and never synchronously. The end of the
   * wait is spent in turns of the event loop, so use this for replies, not for frequent waits. Returns a
   * function that cancels it.
   */
  callAt(at: number, callback: () => void): () => void;
  /**
   * Calls back a little later than `ms` from now, when everything that had arrived by then has been read.
   * That holds even if the process was stalled: after a stall, timers fire before received bytes are read.
   * Returns a function that cancels it.
   */
  callAfter(ms: number, callback: () => void): () => void;
}

/**
 * Calls `wake` in a later turn of the event loop, as close as possible to `ms` from now, but usually earlier;
 * the caller then sleeps again for the rest. Returns a function that cancels it.
 */
export type Sleep = (ms: number, wake: () => void) => () => void;

/**
 * Timers of the event loop have a resolution of 1 ms, and count from the beginning of the loop's turn. So
 * they are set 0.35 ms early, and the rest, usually up to 1.4 ms, is spent in turns of the loop.
 */
const LOOP_LEAD_MS = 0.35;

let sleep: Sleep = (ms, wake) => {
  if (ms <= LOOP_LEAD_MS + 1) return nextTurn(wake);
  const timeout = setTimeout(wake, ms - LOOP_LEAD_MS);
  return () => clearTimeout(timeout);
};

/** Makes all further waits use a better sleep. */
export function useSleep(better: Sleep): void {
  sleep = better;
}

export const nextTurn = (wake: () => void): (() => void) => {
  const immediate = setImmediate(wake);
  return () => clearImmediate(immediate);
};

/** How long bytes that have arrived may take to reach the program through the kernel and the event loop. */
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
