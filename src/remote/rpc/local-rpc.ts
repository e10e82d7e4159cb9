import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Outcome } from '../../simulator/commands/refusal.js';
import { nextParts } from '../../simulator/commands/slices.js';
import type { TestContext } from '../../testing/commands.js';
import type { CallName, Input, ListName, Part, Parts, Result, Rpc } from './rpc.js';
import { FUNCTIONS } from './table.js';

type AnyCall = (context: TestContext, input: unknown) => Outcome<unknown> | Promise<Outcome<unknown>>;
type AnyList = (context: TestContext, input: unknown) => Iterable<unknown> | Outcome<Iterable<unknown>>;

/** Carries out a call in this thread. The outcome is there at once if the call need not wait. */
export function carryOut(
  context: TestContext,
  name: CallName,
  input: unknown,
): Outcome<unknown> | Promise<Outcome<unknown>> {
  return (FUNCTIONS[name] as AnyCall)(context, input);
}

/** Begins a list in this thread. */
export function beginList(context: TestContext, name: ListName, input: unknown): Outcome<Iterator<unknown>> {
  const outcome = (FUNCTIONS[name] as AnyList)(context, input);
  if (Symbol.iterator in outcome) return { ok: true, value: outcome[Symbol.iterator]() };
  return outcome.ok ? { ok: true, value: outcome.value[Symbol.iterator]() } : outcome;
}

/** Number of changes of anything that `program.map` shows. */
export function revisionOf({ simulator }: TestContext): number {
  return simulator.revision;
}

/** Calls a simulator in this thread. */
export class LocalRpc implements Rpc {
  readonly #context: TestContext;

  constructor(context: TestContext) {
    this.#context = context;
  }

  get revision(): number {
    return revisionOf(this.#context);
  }

  async call<Name extends CallName>(name: Name, input: Input<Name>): Promise<Outcome<Result<Name>>> {
    return carryOut(this.#context, name, input) as Outcome<Result<Name>> | Promise<Outcome<Result<Name>>>;
  }

  async list<Name extends ListName>(name: Name, input: Input<Name>): Promise<Outcome<Parts<Part<Name>>>> {
    const begun = beginList(this.#context, name, input);
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
