import type { Outcome, Refusal } from '../../simulator/commands/refusal.js';
import type { CallName, ListName } from './declared.js';
import type { FUNCTIONS } from './line-end.js';

export type { CallName, ListName };

/** The function for each command and query. */
type Functions = typeof FUNCTIONS;

export type Input<Name extends CallName | ListName> = Functions[Name] extends (
  context: never,
  input: infer Given,
) => unknown
  ? unknown extends Given
    ? undefined
    : Given
  : never;

export type Result<Name extends CallName> =
  Awaited<ReturnType<Functions[Name]>> extends infer Settled
    ? Settled extends { readonly ok: true; readonly value: infer Value }
      ? Value
      : never
    : never;

export type Part<Name extends ListName> =
  ReturnType<Functions[Name]> extends infer Settled
    ? Settled extends Iterable<infer Each>
      ? Exclude<Each, undefined>
      : Settled extends { readonly ok: true; readonly value: Iterable<infer Each> }
        ? Exclude<Each, undefined>
        : never
    : never;

/** An answer in parts. Each step contains as many parts as could be produced without a yield. */
export type Parts<Each> = AsyncIterable<readonly Each[]>;

/** Calls a running simulator, in this thread or in another one. */
export interface Rpc {
  call<Name extends CallName>(name: Name, input: Input<Name>): Promise<Outcome<Result<Name>>>;
  list<Name extends ListName>(name: Name, input: Input<Name>): Promise<Outcome<Parts<Part<Name>>>>;
  /**
   * Number that changes when lines, units or devices may have changed; an earlier answer of `program.map` is
   * then outdated.
   */
  readonly revision: number;
}

/** Reads all parts of a list that is known to be short. @returns the refusal if there is no list */
export async function allParts<Each>(outcome: Outcome<Parts<Each>>): Promise<Each[] | Refusal> {
  if (!outcome.ok) return outcome;
  const all: Each[] = [];
  for await (const parts of outcome.value) all.push(...parts);
  return all;
}
