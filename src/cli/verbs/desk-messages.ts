import type { MessagePort } from 'node:worker_threads';
import type { TrafficFileDefinition } from '../../files/config/configuration.js';
import type { ApiRules } from '../../remote/api/app.js';
import type { LinkOrder } from '../../remote/mqtt/link.js';

/** What the thread of the desk gets to begin with. */
export interface DeskOrder {
  /** Its end of the door. */
  readonly rpc: MessagePort;
  readonly rules: ApiRules;
  readonly port: number;
  readonly level: string;
  /** The directory in which clients may let files be made. */
  readonly writesIn: string;
  /** How many events the stream of the traffic keeps. */
  readonly events: number;
  readonly trafficFile: TrafficFileDefinition | undefined;
  /** The broker that the simulator is on. */
  readonly mqtt: Omit<LinkOrder, 'rest'> | undefined;
  /** The moment of `performance.now()` 0 of the lines by `process.hrtime`, in ns: each thread has a beginning of its own. */
  readonly zero: bigint;
}

export type ToDesk =
  | { readonly kind: 'begin'; readonly order: DeskOrder }
  | { readonly kind: 'ping' }
  | { readonly kind: 'end' };

export type FromDesk =
  | { readonly kind: 'listening'; readonly addresses: readonly string[]; readonly port: number }
  /** It can't begin; one sentence. */
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'pong' }
  /** An entry of the log, as JSON. */
  | { readonly kind: 'log'; readonly entry: string };
