import type { Outcome, Refusal } from '../../simulator/commands/refusal.js';
import type { CALLS, LISTS } from './table.js';

type Calls = typeof CALLS;
type Lists = typeof LISTS;

export type CallName = keyof Calls;
export type ListName = keyof Lists;

/** Complete by its type. Who has only a name asks here, and does not load what answers. */
const LIST_NAMES: Readonly<Record<ListName, true>> = {
  'program.configuration': true,
  'line.list': true,
  'line.metrics': true,
  'device.list': true,
  'device.names': true,
  'value.list': true,
  'value.named': true,
  'inlet.list': true,
  'rule.list': true,
  'test.findings': true,
  'examination.findings': true,
};

/** Whether the answer comes in parts: `Door.list` asks for it, and `Door.call` for all others. */
export function isList(name: CallName | ListName): name is ListName {
  return Object.hasOwn(LIST_NAMES, name);
}

/** What a call takes, and what it returns in the end. */
export type Input<Name extends CallName | ListName> = (Calls & Lists)[Name] extends (
  room: never,
  input: infer Given,
) => unknown
  ? unknown extends Given
    ? undefined
    : Given
  : never;

export type Result<Name extends CallName> =
  Awaited<ReturnType<Calls[Name]>> extends infer Came
    ? Came extends { readonly ok: true; readonly value: infer Value }
      ? Value
      : never
    : never;

/** One part of a list. */
export type Part<Name extends ListName> =
  ReturnType<Lists[Name]> extends infer Came
    ? Came extends Iterable<infer Each>
      ? Exclude<Each, undefined>
      : Came extends { readonly ok: true; readonly value: Iterable<infer Each> }
        ? Exclude<Each, undefined>
        : never
    : never;

/** Lists and other answers in parts: some parts at a time, as many as could be made without a pause. */
export type Parts<Each> = AsyncIterable<readonly Each[]>;

/** The way to a running simulator, in this thread or in another one. */
export interface Rpc {
  call<Name extends CallName>(name: Name, input: Input<Name>): Promise<Outcome<Result<Name>>>;
  list<Name extends ListName>(name: Name, input: Input<Name>): Promise<Outcome<Parts<Part<Name>>>>;
  /** Another number when lines, units or devices may have changed: what was remembered of `program.map` is old. */
  readonly revision: number;
}

/** All parts of a list, or why there is none. For lists that are known to be short. */
export async function allParts<Each>(outcome: Outcome<Parts<Each>>): Promise<Each[] | Refusal> {
  if (!outcome.ok) return outcome;
  const all: Each[] = [];
  for await (const parts of outcome.value) all.push(...parts);
  return all;
}
