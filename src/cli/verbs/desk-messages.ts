import type { MessagePort } from 'node:worker_threads';
import type { TrafficFileDefinition } from '../../files/config/configuration.js';
import type { ApiRules } from '../../remote/api/app.js';
import type { LinkOrder } from '../../remote/mqtt/link.js';

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
  | { readonly kind: 'listening'; readonly addresses: readonly string[]; readonly port: number }
  /** The desk can't start; the error is one sentence. */
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'pong' }
  /** An entry of the log as JSON. */
  | { readonly kind: 'log'; readonly entry: string };
