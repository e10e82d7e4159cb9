import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Outcome } from '../../simulator/commands/refusal.js';
import { nextParts } from '../../simulator/commands/slices.js';
import type { TestRoom } from '../../testing/commands.js';
import type { CallName, Door, Input, ListName, Part, Parts, Result } from './rpc.js';
import { CALLS, LISTS } from './table.js';

type AnyCall = (room: TestRoom, input: unknown) => Outcome<unknown> | Promise<Outcome<unknown>>;
type AnyList = (room: TestRoom, input: unknown) => Iterable<unknown> | Outcome<Iterable<unknown>>;

/** Carries out a call in this thread, at once where it needs to wait for nothing. */
export function carryOut(
  room: TestRoom,
  name: CallName,
  input: unknown,
): Outcome<unknown> | Promise<Outcome<unknown>> {
  return (CALLS[name] as AnyCall)(room, input);
}

/** Begins a list in this thread. */
export function beginList(room: TestRoom, name: ListName, input: unknown): Outcome<Iterator<unknown>> {
  const came = (LISTS[name] as AnyList)(room, input);
  if (Symbol.iterator in came) return { ok: true, value: came[Symbol.iterator]() };
  return came.ok ? { ok: true, value: came.value[Symbol.iterator]() } : came;
}

/** How often anything changed that `program.map` says. */
export function revisionOf({ simulator }: TestRoom): number {
  return simulator.revision;
}

/** The door to a simulator in this thread. */
export class LocalDoor implements Door {
  readonly #room: TestRoom;

  constructor(room: TestRoom) {
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
