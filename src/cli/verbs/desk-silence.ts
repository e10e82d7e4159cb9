import { readFileSync } from 'node:fs';

/** How long a thread has run on a processor, and has waited for one, since it started; in ms. */
export interface ThreadTimes {
  readonly ran: number;
  readonly waited: number;
}

/**
 * The times of a thread of this process. Undefined if the system does not provide them: only Linux does.
 * @param thread its ID, as in /proc/thread-self
 */
export function threadTimes(thread: number | undefined): ThreadTimes | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8')
      .split(' ')
      .map((ns) => Number(ns) / 1e6);
    // A kernel that does not count them shows three zeros.
    return ran + waited > 0 ? { ran, waited } : undefined;
  } catch {
    return undefined;
  }
}

/** The processor time in ms that a desk may use without answering: once started, and while starting. */
const MOST_RUN_MS = 10_000;
const MOST_RUN_STARTING_MS = 60_000;
/**
 * The longest silence in ms, not counting the time in which the thread waited for a processor. This ends a
 * desk that sleeps for ever, and any stuck desk on a system that does not provide thread times.
 */
const MOST_SILENT_MS = 60_000;
/** A desk that is not stuck counts as slow after this silence, in ms. */
const SLOW_MS = 10_000;

export interface Silence {
  /** `stuck`: waiting longer is pointless. `slow`: silent for a long time, but may still answer. */
  readonly state: 'short' | 'slow' | 'stuck';
  /** How long the desk has been silent, in ms. */
  readonly silent: number;
  /** How long it ran and waited during the silence; undefined if the system does not provide it. */
  readonly times: ThreadTimes | undefined;
}

/**
 * Judges the silence of a desk. A thread is stuck if it has used a lot of processor time without answering. A
 * thread that gets no processor time, because the machine is busy, is not stuck: a new one would get none
 * either.
 */
export class DeskSilence {
  #mostRun = MOST_RUN_STARTING_MS;
  /** Undefined from an answer until the next ping. */
  #silent: number | undefined;
  #before: ThreadTimes | undefined;

  /** Call this when the desk has started: it must answer faster from now on. */
  started(): void {
    this.#mostRun = MOST_RUN_MS;
    this.heard();
  }

  heard(): void {
    this.#silent = undefined;
    this.#before = undefined;
  }

  /**
   * Call this with every ping.
   * @param ms time since the last call, at most the interval between two pings: a program that was stopped
   * for a while sent no pings
   */
  look(ms: number, times: ThreadTimes | undefined): Silence {
    this.#before ??= times;
    const silent = this.#silent === undefined ? 0 : this.#silent + ms;
    this.#silent = silent;
    const since = times &&
      this.#before && { ran: times.ran - this.#before.ran, waited: times.waited - this.#before.waited };
    const { ran, waited } = since ?? { ran: 0, waited: 0 };
    const isStuck = ran >= this.#mostRun || silent - waited >= MOST_SILENT_MS;
    return { state: isStuck ? 'stuck' : silent >= SLOW_MS ? 'slow' : 'short', silent, times: since };
  }
}
