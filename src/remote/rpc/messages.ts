import type { Outcome } from '../../simulator/commands/refusal.js';
import type { StreamChange } from '../../simulator/traffic/stream.js';
import type { CallName, ListName } from './declared.js';

/** A message from the desk to the lines. */
export type DeskMessage =
  | { readonly kind: 'call'; readonly id: number; readonly name: CallName; readonly input: unknown }
  | { readonly kind: 'list'; readonly id: number; readonly name: ListName; readonly input: unknown }
  /** Asks for the next parts of a list, or gives the list up. */
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'enough'; readonly id: number };

/** Some parts of a list, and whether they are the last. */
export interface SomeParts {
  readonly parts: readonly unknown[];
  readonly isLast: boolean;
}

/** A message from the lines to the desk. The answer to a list has its first parts. */
export type LineMessage =
  | { readonly kind: 'answer'; readonly id: number; readonly outcome: Outcome<unknown> }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  /** The call has begun and waits for a port, a name, or its next slice. */
  | { readonly kind: 'begun'; readonly id: number }
  | ({ readonly kind: 'parts'; readonly id: number } & SomeParts)
  | { readonly kind: 'revision'; readonly revision: number }
  | { readonly kind: 'traffic'; readonly change: StreamChange };
