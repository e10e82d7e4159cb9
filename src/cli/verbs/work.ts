import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { fileBesideCode } from '../../common/package.js';
import { keepYoungGenerations } from '../../common/platform.js';
import type { Asked } from '../../common/work.js';

export interface ParseOrder {
  readonly kind: 'parse';
  readonly file: string;
  /** Maximum size of the file, in bytes. */
  readonly most: number;
  /** The digest of the text that the caller already has. */
  readonly digest: string | undefined;
}

/** The order for a thread that does long work (`work-thread.ts`). */
export type WorkOrder = ParseOrder | { readonly kind: 'extension'; readonly name: string };

/** The ID of this thread in the system; undefined without /proc. */
export function thisThread(): number | undefined {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/**
 * Sets the priority of a thread; on Linux each thread has its own. Raising it needs permission
 * (`LimitNICE=`).
 * @param thread its system ID; undefined if not known
 * @param niceness 19 is the lowest priority; without it, the main thread's
 * @returns whether it was set
 */
export function setNiceness(thread: number | undefined, niceness?: number): boolean {
  if (thread === undefined) return false;
  try {
    setPriority(thread, niceness ?? getPriority(process.pid));
    return true;
  } catch {
    return false;
  }
}

/** Sent instead of a question to end a work thread. */
export const END = 'end';

/**
 * Starts a thread for one piece of work, which answers one question at a time. A question rejects if the
 * thread fails: with `ERR_WORKER_OUT_OF_MEMORY` if its heap needed more than `limits`.
 */
export function startWork<Question, Answer>(
  order: WorkOrder,
  limits?: ResourceLimits,
): Asked<Question, Answer> {
  const thread = new Worker(fileBesideCode('work-thread.js'), {
    workerData: order,
    ...(limits && { resourceLimits: limits }),
  });
  let settle: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void };
  let failure: Error | undefined;
  let isLoaded = false;
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const fail = (error: Error) => {
    failure ??= error;
    settle?.reject(failure);
  };
  thread.once('online', keepYoungGenerations);
  thread.on('message', (answer: Answer) => {
    isLoaded = true;
    settle.resolve(answer);
  });
  thread.on('error', fail);
  thread.once('exit', () =>
    fail(new Error(`the thread for ${'name' in order ? order.name : order.kind} exited`)),
  );
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        if (failure) reject(failure);
        else thread.postMessage(question);
      }),
    async end() {
      // A thread that is terminated while it loads its code leaves its files open.
      if (isLoaded) return void thread.terminate();
      thread.postMessage(END);
      await ended;
    },
  };
}
