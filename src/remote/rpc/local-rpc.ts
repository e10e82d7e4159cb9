import { setImmediate as nextTurn } from 'node:timers/promises';
import { nextParts } from '../../common/work.js';
import type { Outcome } from '../../simulator/commands/refusal.js';
import type { TestContext } from '../../testing/commands.js';
import { beginList, carryOut, revisionOf } from './line-end.js';
import type { CallName, Input, ListName, Part, Parts, Result, Rpc } from './rpc.js';

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
    const begun = await beginList(this.#context, name, input);
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
