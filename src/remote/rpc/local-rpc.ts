import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Outcome } from '../../simulator/commands/refusal.js';
import { nextParts } from '../../simulator/commands/slices.js';
import type { TestContext } from '../../testing/commands.js';
import type { CallName, Input, ListName, Part, Parts, Result, Rpc } from './rpc.js';
import { CALLS, LISTS } from './table.js';

type AnyCall = (room: TestContext, input: unknown) => Outcome<unknown> | Promise<Outcome<unknown>>;
type AnyList = (room: TestContext, input: unknown) => Iterable<unknown> | Outcome<Iterable<unknown>>;

/** Carries out a call in this thread, at once where it needs to wait for nothing. */
export function carryOut(
  room: TestContext,
  name: CallName,
  input: unknown,
): Outcome<unknown> | Promise<Outcome<unknown>> {
  return (CALLS[name] as AnyCall)(room, input);
}

/** Begins a list in this thread. */
export function beginList(room: TestContext, name: ListName, input: unknown): Outcome<Iterator<unknown>> {
  const outcome = (LISTS[name] as AnyList)(room, input);
  if (Symbol.iterator in outcome) return { ok: true, value: outcome[Symbol.iterator]() };
  return outcome.ok ? { ok: true, value: outcome.value[Symbol.iterator]() } : outcome;
}

/** How often anything changed that `program.map` says. */
export function revisionOf({ simulator }: TestContext): number {
  return simulator.revision;
}

/** The door to a simulator in this thread. */
export class LocalRpc implements Rpc {
  readonly #room: TestContext;

  constructor(room: TestContext) {
    this.#room = room;
  }

  get revision(): number {
    return revisionOf(this.#room);
  }

  async call<Name extends CallName>(name: Name, input: Input<Name>): Promise<Outcome<Result<Name>>> {
    return carryOut(this.#room, name, input) as Outcome<Result<Name>> | Promise<Outcome<Result<Name>>>;
  }

  async list<Name extends ListName>(name: Name, input: Input<Name>): Promise<Outcome<Parts<Part<Name>>>> {
    const begun = beginList(this.#room, name, input);
    return begun.ok ? { ok: true, value: inTurns(begun.value as Iterator<Part<Name>>) } : begun;
  }
}

async function* inTurns<Each>(list: Iterator<Each>): AsyncGenerator<readonly Each[]> {
  try {
    for (;;) {
      const { parts, isLast } = nextParts(list);
      yield parts;
      if (isLast) return;
      await nextTurn();
    }
  } finally {
    list.return?.();
  }
}
