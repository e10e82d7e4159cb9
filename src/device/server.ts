import type { Files } from './files.js';
import type { IdentityObjects } from './identification.js';
import type { Reactions } from './reactions.js';
import type { Access } from './read-write.js';
import type { Tables } from './tables.js';

/** The values of FIFO queues by pointer address. Undefined means that every address has an empty queue. */
type FifoQueues = { get(address: number): readonly number[] | undefined } | undefined;

/** The data of function 17: an identifier of any length, whether the server runs, and additional text. */
export interface ServerId {
  readonly id: readonly number[];
  readonly running: boolean;
  readonly additional: string;
}

/** The data that the functions of a server work on. */
export interface Server {
  readonly tables: Tables;
  /** How clients read and write the tables. */
  readonly access: Access;
  /** What the values do when they are written. */
  readonly reactions: Reactions;
  /** The objects of the device identification, always including the basic objects. */
  readonly identity: IdentityObjects;
  readonly files: Files;
  readonly queues: FifoQueues;
  /** The addresses of up to eight coils for the exception status. The first is the least significant bit. */
  readonly exceptionStatus: readonly number[];
  readonly serverId: ServerId;
}
