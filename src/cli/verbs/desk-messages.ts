import { type MessagePort, Worker } from 'node:worker_threads';
import { fileBesideCode } from '../../common/package.js';
import { keepYoungGenerations } from '../../common/platform.js';
import type { TrafficFileDefinition } from '../../document/configuration.js';
import type { ApiRules } from '../../remote/api/app.js';
import type { LinkOrder } from '../../remote/mqtt/part.js';

/** Niceness of the desk thread, so that the lines come first when all threads share one core. */
export const NICENESS = 10;

/** Heap limits of a desk. Exceeding them ends the desk, but not the program. */
const LIMITS = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 12 };

/** A desk thread that is loading its modules, or has loaded them and waits for its order. */
export interface DeskThread {
  readonly worker: Worker;
  /** Why the thread failed or ended before it received its order. */
  failure: Error | undefined;
  /** The thread's ID in the operating system, once the thread has sent it. */
  id: number | undefined;
}

/** Starts a desk thread. If the process can't open more files, the thread fails while it loads its modules. */
export function startDeskThread(code = fileBesideCode('desk-thread.js')): DeskThread {
  const worker = new Worker(code, { resourceLimits: LIMITS });
  const thread: DeskThread = { worker, failure: undefined, id: undefined };
  worker.once('online', keepYoungGenerations);
  worker.on('message', (message: FromDesk) => {
    if (message.kind === 'thread') thread.id = message.id;
  });
  worker.on('error', (error) => {
    thread.failure = error;
  });
  worker.once('exit', (code) => {
    thread.failure ??= new Error(`exited with code ${code}`);
  });
  return thread;
}

/** The order that the desk thread starts with. */
export interface DeskOrder {
  /** The desk's end of the channel to the lines. */
  readonly rpc: MessagePort;
  readonly rules: ApiRules;
  readonly port: number;
  readonly level: string;
  /** Directory in which clients may write files. */
  readonly writesIn: string;
  /** Number of events that the traffic stream keeps. */
  readonly events: number;
  readonly trafficFile: TrafficFileDefinition | undefined;
  /** The simulator's MQTT broker; undefined for none. */
  readonly mqtt: Omit<LinkOrder, 'rest'> | undefined;
  /** The `process.hrtime` in ns at which the lines' `performance.now()` was 0. Each thread has its own zero. */
  readonly zero: bigint;
}

export type ToDesk =
  | { readonly kind: 'begin'; readonly order: DeskOrder }
  | { readonly kind: 'ping' }
  | { readonly kind: 'end' };

export type FromDesk =
  /** The thread's ID in the operating system; this is the first message. */
  | { readonly kind: 'thread'; readonly id: number | undefined }
  | { readonly kind: 'listening'; readonly addresses: readonly string[]; readonly port: number }
  /** The desk can't start; the error is one sentence. */
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'pong' }
  /** A log entry as JSON. */
  | { readonly kind: 'log'; readonly entry: string };
