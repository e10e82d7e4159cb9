import type { Files } from './files.js';
import type { IdentityObjects } from './identification.js';
import type { Tables } from './tables.js';

/** Values of FIFO queues by the address of their pointer; undefined means that every address has an empty one. */
type FifoQueues = ReadonlyMap<number, readonly number[]> | undefined;

/** What function 17 reports: an identifier of any length, whether the server runs, more in text. */
export interface ServerId {
  readonly id: readonly number[];
  readonly running: boolean;
  readonly additional: string;
}

/** What the functions of a server work on. */
export interface Server {
  readonly tables: Tables;
  /** Objects of the device identification; the basic ones are always there. */
  readonly identity: IdentityObjects;
  readonly files: Files;
  readonly queues: FifoQueues;
  /** Coils that the exception status shows, the first in its least significant bit; up to eight. */
  readonly exceptionStatus: readonly number[];
  readonly serverId: ServerId;
}
