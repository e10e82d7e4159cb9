import type { TableName } from './tables.js';

/**
 * What real devices do and good devices would not. All of it is plain data; each key works alone, and times
 * are in ms. The schema that reads a key says what the key does (`files/config/native/manners-schema.ts`).
 */
export interface Manners {
  readonly most?: Most | undefined;
  readonly holes?: Holes | undefined;
  readonly wholeValues?: boolean | undefined;
  readonly writes?: 'single' | 'multiple' | 'both' | undefined;
  /** Groups of tables that have the same registers. The registers of the first table of a group are used. */
  readonly sharedMemory?: readonly (readonly TableName[])[] | undefined;
  /** The address in the file that is address 0 on the wire. */
  readonly addresses?:
    | { readonly first: number | Readonly<Partial<Record<TableName, number | undefined>>> }
    | undefined;
  readonly pauseBefore?: number | undefined;
  readonly connectPause?: { readonly for: number; readonly otherwise: 'silence' | 'deaf' } | undefined;
  readonly sleeps?: { readonly after: number; readonly wakes: number } | undefined;
  readonly locksUp?: { readonly on: readonly Lock[]; readonly for: number | 'power' } | undefined;
  /** The unit identifier with which the device answers requests to unit 0 on serial lines: its own, or 0. */
  readonly answersBroadcasts?: 'own' | 'zero' | undefined;
  readonly firstReply?: { readonly slow: number; readonly on: 'start' | 'connect' | 'both' } | undefined;
}

export interface Most {
  readonly registers?: number | undefined;
  readonly bits?: number | undefined;
  /** What a request for more gets: an exception code, no answer, or an answer with as many as are allowed. */
  readonly otherwise: number | 'silence' | 'cut';
}

/** What a read gets that touches undefined addresses. */
export type Holes =
  | 'exception'
  | 'silence'
  | 'shift'
  | { readonly fill: number }
  | { readonly unless: 'all' };

/** The request or the connection after which a device locks up. */
export type Lock = 'function' | 'address' | 'value' | { readonly reconnect: number };
