import { closeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { LinuxPortBinding } from '@serialport/bindings-cpp';
import { HERE } from '../../../common/platform.js';
import { nextTurn, type Sleep, useSleep } from '../clock.js';
import { loadLibc, loadWinmm } from './libc.js';

/** The numbers of `EVENTS` in serialport's poller, which does not export them. */
export const READABLE = 1;
export const NOTHING = 0;

/** Settings for a serialport port of which only the poller is used. */
const NO_OPTIONS = {} as never;

/**
 * Makes the event loop watch a descriptor for which Node has no stream. serialport's poller can watch any
 * descriptor, but only a serialport port can create a poller.
 * @returns undefined if the loop can't watch it: no serialport, or a worker thread, in which the poller would
 * wake another thread's loop
 */
export async function newPoller(fd: number): Promise<LinuxPortBinding['poller'] | undefined> {
  if (!isMainThread) return undefined;
  try {
    const { LinuxPortBinding } = await import('@serialport/bindings-cpp');
    return new LinuxPortBinding(fd, NO_OPTIONS).poller;
  } catch {
    return undefined;
  }
}

/**
 * How far ahead the kernel's timer wakes the loop, in ms. The loop needs about half of that to run. With 0.1
 * ms the median wait ends 0.05 ms late; with 0.2 ms it ends 0.005 ms late, for 0.1 ms more of processor time;
 * 0.3 ms is no better (measured).
 */
const KERNEL_LEAD_MS = 0.2;

let loading: Promise<void> | undefined;

/** Makes all further waits use the kernel's timer, if there is one; on Windows, its finest clock. */
export function useKernelTimer({ isWindows } = HERE, winmm = loadWinmm): Promise<void> {
  loading ??= isWindows
    ? winmm().then((timeBeginPeriod) => void timeBeginPeriod?.(WINDOWS_TICK_MS))
    : sleepByKernel().then((better) => {
        if (better) useSleep(better);
      });
  return loading;
}

/**
 * The Windows clock ticks every 15.6 ms unless a program requests more, and timers expire on a tick. This is
 * the shortest tick available, in ms; the request ends with the process.
 */
const WINDOWS_TICK_MS = 1;

interface Sleeper {
  readonly at: number;
  /** Wakes the sleeper; absent once the sleep was cancelled. */
  wake?: (() => void) | undefined;
}

/**
 * Creates a sleep from one kernel timer, which is always set for the sleeper that is due first.
 * @returns undefined if there is no such timer
 */
async function sleepByKernel(): Promise<Sleep | undefined> {
  /** The sleepers in order of time; the one that is due first comes last. */
  const sleepers: Sleeper[] = [];
  const timer = await openKernelTimer(() => {
    const now = performance.now();
    const woken: Sleeper[] = [];
    for (let next = sleepers.at(-1); next !== undefined && next.at <= now; next = sleepers.at(-1)) {
      woken.push(next);
      sleepers.pop();
    }
    set();
    // A sleeper may cancel another one when it wakes.
    for (const sleeper of woken) sleeper.wake?.();
  });
  if (timer === undefined) return undefined;

  const set = (): void => {
    const next = sleepers.at(-1);
    if (next) timer.set(Math.max(next.at - performance.now(), Number.MIN_VALUE));
    else timer.clear();
  };
  return (ms, wake) => {
    if (ms <= KERNEL_LEAD_MS) return nextTurn(wake);
    const sleeper: Sleeper = { at: performance.now() + ms - KERNEL_LEAD_MS, wake };
    const index = sleepers.findLastIndex(({ at }) => at > sleeper.at) + 1;
    sleepers.splice(index, 0, sleeper);
    if (index === sleepers.length - 1) set();
    return () => {
      sleeper.wake = undefined;
      const isNext = sleeper === sleepers.at(-1);
      const index = sleepers.indexOf(sleeper);
      if (index < 0) return;
      sleepers.splice(index, 1);
      if (isNext) set();
    };
  };
}

/** Wakes the event loop once. Setting a new time replaces the previous one. */
interface WakeUp {
  /** Sets the time. @param ms from now, more than 0 */
  set(ms: number): void;
  /** Stops the timer, so that it does not keep the process alive. */
  clear(): void;
}

/** Flags of timerfd_create(2), as for open(2). */
const CLOCK_MONOTONIC = 1;
const TFD_NONBLOCK = 0o4000;
const TFD_CLOEXEC = 0o2000000;

/** `struct itimerspec`, four words of 64 bits: interval (none), then seconds and ns of the expiry. */
const ITIMERSPEC_BYTES = 32;
const SECONDS_AT = 16;
const NANOSECONDS_AT = 24;

/** The machines on which the fields have 64 bits with any C library. */
const KNOWN_MACHINES = ['x64', 'arm64', 'riscv64', 'loong64'];

/**
 * Opens a timer of the kernel, timerfd(2). The event loop's own timers have a resolution of 1 ms; this one
 * wakes the loop within 0.1 ms (median, measured), so little is left to wait for in turns of the loop.
 * @param woken called once after each `set`, soon after the time; if the poller fails, before it
 * @returns undefined if there is no such timer: no koffi, no serialport, a 32-bit machine, or a worker thread
 */
export async function openKernelTimer(woken: () => void): Promise<WakeUp | undefined> {
  if (!KNOWN_MACHINES.includes(process.arch)) return undefined;
  const loaded = await loadLibc();
  if (!loaded.ok) return undefined;
  const { libc } = loaded;
  const fd = libc.timerfdCreate(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) return undefined;
  const poller = await newPoller(fd);
  if (poller === undefined) {
    closeSync(fd);
    return undefined;
  }
  // An expired timer stays readable until it is set again; the poller reports it once per request.
  poller.on('readable', woken);
  return {
    set(ms) {
      libc.timerfdSettime(fd, itimerspec(ms));
      poller.poll(READABLE);
    },
    clear: () => poller.poll(NOTHING),
  };
}

/** The structure passed to the kernel, reused for each time. */
const time = Buffer.alloc(ITIMERSPEC_BYTES);

/**
 * Returns the `struct itimerspec` of a time `ms` from now, more than 0. The result is valid until the next
 * call.
 */
export function itimerspec(ms: number): Uint8Array {
  // Zero would stop the timer.
  const nanoseconds = Math.max(1, Math.round(ms * 1e6));
  const seconds = Math.floor(nanoseconds / 1e9);
  time.writeBigInt64LE(BigInt(seconds), SECONDS_AT);
  time.writeBigInt64LE(BigInt(nanoseconds - seconds * 1e9), NANOSECONDS_AT);
  return time;
}
