import type { TableName } from './tables.js';

/**
 * What real devices do and good ones would not. All of it is plain data; each key works alone, and times are
 * in ms. What a key does is in the schema that reads it (`files/config/native/manners-schema.ts`).
 */
export interface Manners {
  readonly most?: Most | undefined;
  readonly holes?: Holes | undefined;
  readonly wholeValues?: boolean | undefined;
  readonly writes?: 'single' | 'multiple' | 'both' | undefined;
  /** Tables with the same registers; those of the first are used. */
  readonly sharedMemory?: readonly (readonly TableName[])[] | undefined;
  /** The address in the file that is 0 on the wire. */
  readonly addresses?:
    | { readonly first: number | Readonly<Partial<Record<TableName, number | undefined>>> }
    | undefined;
  readonly pauseBefore?: number | undefined;
  readonly connectPause?: { readonly for: number; readonly otherwise: 'silence' | 'deaf' } | undefined;
  readonly sleeps?: { readonly after: number; readonly wakes: number } | undefined;
  readonly locksUp?: { readonly on: readonly Lock[]; readonly for: number | 'power' } | undefined;
  readonly firstReply?: { readonly slow: number; readonly on: 'start' | 'connect' | 'both' } | undefined;
}

export interface Most {
  readonly registers?: number | undefined;
  readonly bits?: number | undefined;
  /** An exception code, no answer, or an answer with so many. */
  readonly otherwise: number | 'silence' | 'cut';
}

/** What a read gets that touches undefined addresses. */
export type Holes =
  | 'exception'
  | 'silence'
  | 'shift'
  | { readonly fill: number }
  | { readonly unless: 'all' };

/** After which request, or which connection, a device locks up. */
export type Lock = 'function' | 'address' | 'value' | { readonly reconnect: number };
