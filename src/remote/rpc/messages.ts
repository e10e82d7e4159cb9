import type { Outcome } from '../../simulator/commands/refusal.js';
import type { StreamChange } from '../../simulator/traffic/stream.js';
import type { CallName, ListName } from './rpc.js';

/** From the desk to the lines. */
export type DeskMessage =
  | { readonly kind: 'call'; readonly id: number; readonly name: CallName; readonly input: unknown }
  | { readonly kind: 'list'; readonly id: number; readonly name: ListName; readonly input: unknown }
  /** The next parts of a list are wanted, or no more. */
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'enough'; readonly id: number };

/** Some parts of a list, and whether there are no more. */
export interface SomeParts {
  readonly parts: readonly unknown[];
  readonly isLast: boolean;
}

/** From the lines to the desk. The answer to a list that was begun has its first parts. */
export type LineMessage =
  | { readonly kind: 'answer'; readonly id: number; readonly outcome: Outcome<unknown> }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  /** The call was begun, and waits for something: a port, a name, or its next slice. */
  | { readonly kind: 'begun'; readonly id: number }
  | ({ readonly kind: 'parts'; readonly id: number } & SomeParts)
  | { readonly kind: 'revision'; readonly revision: number }
  | { readonly kind: 'traffic'; readonly change: StreamChange };
