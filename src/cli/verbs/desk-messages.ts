import { type MessagePort, Worker } from 'node:worker_threads';
import { fileBesideCode } from '../../common/package.js';
import { keepYoungGenerations } from '../../common/platform.js';
import type { TrafficFileDefinition } from '../../document/configuration.js';
import type { ApiRules } from '../../remote/api/app.js';
import type { LinkOrder } from '../../remote/mqtt/part.js';

/** Niceness of the thread of the desk, so that the lines come first when all threads share one core. */
export const NICENESS = 10;

/** Limits of the heap of a desk. Exceeding them ends the desk, but not the program. */
const LIMITS = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 12 };

/** A thread of the desk that loads its modules, or has loaded them and waits for its order. */
export interface DeskThread {
  readonly worker: Worker;
  /** Why the thread failed, or ended, before it had its order. */
  failure: Error | undefined;
  /** The number of the thread in the system, once the thread has sent it. */
  id: number | undefined;
}

/**
 * Starts a thread of the desk. When the process may not open more files, the thread fails while it loads its
 * modules.
 */
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
    thread.failure ??= new Error(`ended with ${code}`);
  });
  return thread;
}

/** The order with which the thread of the desk starts. */
export interface DeskOrder {
  /** The desk's end of the channel to the lines. */
  readonly rpc: MessagePort;
  readonly rules: ApiRules;
  readonly port: number;
  readonly level: string;
  /** Directory in which clients may have files written. */
  readonly writesIn: string;
  /** Number of events that the traffic stream keeps. */
  readonly events: number;
  readonly trafficFile: TrafficFileDefinition | undefined;
  /** The MQTT broker of the simulator; undefined for none. */
  readonly mqtt: Omit<LinkOrder, 'rest'> | undefined;
  /**
   * The moment on `process.hrtime`, in ns, at which `performance.now()` of the lines was 0. Each thread has a
   * zero of its own.
   */
  readonly zero: bigint;
}

export type ToDesk =
  | { readonly kind: 'begin'; readonly order: DeskOrder }
  | { readonly kind: 'ping' }
  | { readonly kind: 'end' };

export type FromDesk =
  /** The number of the thread in the system, before anything else. */
  | { readonly kind: 'thread'; readonly id: number | undefined }
  | { readonly kind: 'listening'; readonly addresses: readonly string[]; readonly port: number }
  /** The desk can't start; the error is one sentence. */
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'pong' }
  /** An entry of the log as JSON. */
  | { readonly kind: 'log'; readonly entry: string };
