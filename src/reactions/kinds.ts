import type { At } from '../schema/at.js';
import { allowed } from './kinds/allowed.js';
import { busyFor } from './kinds/busy-for.js';
import { latch } from './kinds/latch.js';
import { limits } from './kinds/limits.js';
import { onWrite } from './kinds/on-write.js';
import { password } from './kinds/password.js';
import { pulse } from './kinds/pulse.js';
import type { ReactingEntry, Reaction, ReactionContext, ReactionKind, Use } from './reaction.js';

/** A checked reaction of an entry: a kind with its parameters, ready to be started. */
export interface ReactionDefinition {
  readonly kind: string;
  readonly uses: readonly Use[];
  start(context: ReactionContext): Reaction;
}

/** A kind of reaction, without the type of its parameters. */
interface KindEntry {
  readonly doc: ReactionKind<unknown>['doc'];
  read(at: At, entry: ReactingEntry): ReactionDefinition | undefined;
}

/** Every kind of reaction by its key in an entry. A new kind is a file in `kinds/` and a line here. */
const KINDS: ReadonlyMap<string, KindEntry> = new Map([
  kind('limits', limits),
  kind('allowed', allowed),
  kind('password', password),
  kind('pulse', pulse),
  kind('latch', latch),
  kind('busyFor', busyFor),
  kind('onWrite', onWrite),
]);

/** The keys of an entry that are reactions. */
export const REACTIONS: readonly string[] = [...KINDS.keys()];

/** The kinds with their rows of docs/reactions.md. */
export function reactionKinds(): (ReactionKind<unknown>['doc'] & { readonly name: string })[] {
  return Array.from(KINDS, ([name, { doc }]) => ({ name, ...doc }));
}

/** The reactions that stand in an entry; those with mistakes are told and left out. */
export function readReactions(at: At, entry: Omit<ReactingEntry, 'reactions'>): ReactionDefinition[] {
  const reactions = REACTIONS.filter((key) => at.key(key).value !== undefined);
  return Array.from(KINDS).flatMap(([name, { read }]) => {
    const place = at.key(name);
    return place.value === undefined ? [] : (read(place, { ...entry, reactions }) ?? []);
  });
}

function kind<Parameters>(
  name: string,
  { schema, doc, whyUnfit, uses, start }: ReactionKind<Parameters>,
): [string, KindEntry] {
  return [
    name,
    {
      doc,
      read(at, entry) {
        const parameters = at.check(schema);
        if (parameters === undefined) return undefined;
        const unfit = whyUnfit(entry, parameters);
        if (unfit !== undefined) return at.wrong(unfit);
        return {
          kind: name,
          uses: uses?.(parameters) ?? [],
          start: (context) => start(parameters, context),
        };
      },
    },
  ];
}
