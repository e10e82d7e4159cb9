import { openKernelTimer } from './port/kernel-timer.js';

/**
 * Calls `wake` in a later turn of the event loop and as near as possible to `ms` from now, but mostly earlier: then
 * sleep again for the rest. Returns a function that calls it off.
 */
type Sleep = (ms: number, wake: () => void) => () => void;

/**
 * The event loop's timers know whole milliseconds, and count from when the loop's turn began. So they are set to 0.35 ms
 * before the time, and the rest, mostly up to 1.4 ms, is spent in turns of the loop.
 */
const LOOP_LEAD_MS = 0.35;

/**
 * How long before the time the kernel's timer wakes the loop, which then needs about half of that to run. With 0.1 ms
 * the median is late by 0.05 ms, with 0.2 by 0.005 for 0.1 ms more of processor time, and 0.3 is no better (measured).
 */
const KERNEL_LEAD_MS = 0.2;

let current: Sleep = sleepByLoop;
let loading: Promise<void> | undefined;

/** @see Sleep */
export const sleep: Sleep = (ms, wake) => current(ms, wake);

/** Lets all waits use the kernel's timer from now on, where it can be had. */
export function useKernelTimer(): Promise<void> {
  loading ??= sleepByKernel().then((better) => {
    current = better ?? current;
  });
  return loading;
}

function sleepByLoop(ms: number, wake: () => void): () => void {
  if (ms <= LOOP_LEAD_MS + 1) return turn(wake);
  const timeout = setTimeout(wake, ms - LOOP_LEAD_MS);
  return () => clearTimeout(timeout);
}

function turn(wake: () => void): () => void {
  const immediate = setImmediate(wake);
  return () => clearImmediate(immediate);
}

interface Sleeper {
  readonly at: number;
  /** Absent when the sleep was called off. */
  wake?: (() => void) | undefined;
}

/** Sleeps by one timer of the kernel, set for the sleeper that is due first. @returns undefined where there is no such timer. */
async function sleepByKernel(): Promise<Sleep | undefined> {
  /** By the time at which they are due; the one that is due first stands last. */
  const sleepers: Sleeper[] = [];
  const timer = await openKernelTimer(() => {
    const now = performance.now();
    const woken: Sleeper[] = [];
    for (let next = sleepers.at(-1); next !== undefined && next.at <= now; next = sleepers.at(-1)) {
      woken.push(next);
      sleepers.pop();
    }
    set();
    // A sleeper that is woken may call off another one.
    for (const sleeper of woken) sleeper.wake?.();
  });
  if (timer === undefined) return undefined;

  const set = (): void => {
    const next = sleepers.at(-1);
    if (next) timer.set(Math.max(next.at - performance.now(), Number.MIN_VALUE));
    else timer.clear();
  };
  return (ms, wake) => {
    if (ms <= KERNEL_LEAD_MS) return turn(wake);
    const sleeper: Sleeper = { at: performance.now() + ms - KERNEL_LEAD_MS, wake };
    const index = sleepers.findLastIndex(({ at }) => at > sleeper.at) + 1;
    sleepers.splice(index, 0, sleeper);
    if (index === sleepers.length - 1) set();
    return () => {
      sleeper.wake = undefined;
      const isNext = sleeper === sleepers.at(-1);
      const place = sleepers.indexOf(sleeper);
      if (place < 0) return;
      sleepers.splice(place, 1);
      if (isNext) set();
    };
  };
}
