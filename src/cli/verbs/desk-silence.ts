import { readFileSync } from 'node:fs';

/** How long a thread has run on a processor, and waited for one, since it began; in ms. */
export interface ThreadTimes {
  readonly ran: number;
  readonly waited: number;
}

/**
 * The times of a thread of this process. Undefined where the system does not say them: only Linux does.
 * @param thread its number, as /proc/thread-self has it
 */
export function threadTimes(thread: number | undefined): ThreadTimes | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8')
      .split(' ')
      .map((ns) => Number(ns) / 1e6);
    // A kernel that does not count them has three zeros.
    return ran + waited > 0 ? { ran, waited } : undefined;
  } catch {
    return undefined;
  }
}

/** The processor time in ms that a desk may use without an answer, and the same while it starts. */
const MOST_RUN_MS = 10_000;
const MOST_RUN_STARTING_MS = 60_000;
/**
 * The longest silence in ms without the time in which the thread waited for a processor. This ends a desk
 * that sleeps for ever, and any that is stuck where the system does not tell the times of threads.
 */
const MOST_SILENT_MS = 60_000;
/** The silence in ms after which a desk that is not stuck counts as slow. */
const SLOW_MS = 10_000;

export interface Silence {
  /** `stuck`: waiting longer is in vain. `slow`: it has been silent for long, but may well answer. */
  readonly state: 'short' | 'slow' | 'stuck';
  /** How long the desk has been silent, in ms. */
  readonly silent: number;
  /** How long it ran and waited meanwhile; undefined where the system does not say. */
  readonly times: ThreadTimes | undefined;
}

/**
 * Judges the silence of a desk. A thread is stuck when it has used much processor time without an answer. One
 * that gets no processor time, because the machine has other work, is not: a new one would get none either.
 */
export class DeskSilence {
  #mostRun = MOST_RUN_STARTING_MS;
  /** Undefined until the desk is asked, after it was heard. */
  #silent: number | undefined;
  #before: ThreadTimes | undefined;

  /** The desk has started, so it must answer sooner. */
  started(): void {
    this.#mostRun = MOST_RUN_MS;
    this.heard();
  }

  heard(): void {
    this.#silent = undefined;
    this.#before = undefined;
  }

  /**
   * To be called when the desk is asked for an answer.
   * @param ms time since the last call, at most the interval between two: a program that was stopped for a
   * while has asked nothing meanwhile
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
