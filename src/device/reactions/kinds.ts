import type { At } from '../../common/schema/at.js';
import { EFFECTS } from './kinds/effects.js';
import { REFUSALS } from './kinds/refusals.js';
import type { ReactingEntry, ReactionDefinition } from './reaction.js';

/** Every kind of reaction by its key in an entry. A new kind is an entry of one of these tables. */
const KINDS = Object.entries({ ...REFUSALS, ...EFFECTS });

/** The keys of an entry that are reactions. */
export const REACTIONS: readonly string[] = KINDS.map(([name]) => name);

/** The kinds with the schemas of their parameters, and with their rows of docs/reactions.md. */
export const REACTION_KINDS = KINDS.map(([name, { doc, schema }]) => ({ name, schema, ...doc }));

/** Reads the reactions in an entry. Those with mistakes are reported and left out. */
export function readReactions(at: At, entry: Omit<ReactingEntry, 'reactions'>): ReactionDefinition[] {
  const reactions = REACTIONS.filter((key) => at.key(key).value !== undefined);
  return KINDS.flatMap(([name, kind]) =>
    reactions.includes(name) ? (kind.read(at.key(name), name, { ...entry, reactions }) ?? []) : [],
  );
}
