import type { MessagePort } from 'node:worker_threads';
import { nextParts } from '../../common/work.js';
import { CATALOGUE_FUNCTIONS } from '../../simulator/commands/catalogue.js';
import { CELL_FUNCTIONS } from '../../simulator/commands/cells.js';
import { CONFIGURATION_FUNCTIONS } from '../../simulator/commands/configuration.js';
import { DEVICE_FUNCTIONS, INLET_FUNCTIONS } from '../../simulator/commands/devices.js';
import { RULE_FUNCTIONS } from '../../simulator/commands/faults.js';
import { LINE_FUNCTIONS } from '../../simulator/commands/lines.js';
import { PROGRAM_FUNCTIONS } from '../../simulator/commands/program.js';
import { done, type Outcome, refusal } from '../../simulator/commands/refusal.js';
import { VALUE_FUNCTIONS } from '../../simulator/commands/values.js';
import type { Feed, StreamChange } from '../../simulator/traffic/stream.js';
import { RUN_FUNCTIONS, type TestContext } from '../../testing/commands.js';
import type { CallName, ListName } from './declared.js';

/** A message from the desk to the lines. */
export type DeskMessage =
  | { readonly kind: 'call'; readonly id: number; readonly name: CallName; readonly input: unknown }
  | { readonly kind: 'list'; readonly id: number; readonly name: ListName; readonly input: unknown }
  /** Asks for the next parts of a list, or ends the list. */
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'enough'; readonly id: number };

/** Some parts of a list, and whether they are the last ones. */
export interface SomeParts {
  readonly parts: readonly unknown[];
  readonly isLast: boolean;
}

/** A message from the lines to the desk. The answer to a list contains its first parts. */
export type LineMessage =
  | { readonly kind: 'answer'; readonly id: number; readonly outcome: Outcome<unknown> }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  /** The call has started and waits for a port, a name, or its next slice. */
  | { readonly kind: 'begun'; readonly id: number }
  | ({ readonly kind: 'parts'; readonly id: number } & SomeParts)
  | { readonly kind: 'revision'; readonly revision: number }
  | { readonly kind: 'traffic'; readonly change: StreamChange };

/**
 * Carries out all commands and queries of a running simulator. Nothing else may change it. Each is a function
 * of a context and plain data. It checks its input against the running simulator, does all or nothing, and
 * returns plain data or a refusal with a stable code. Other threads call it through an `Rpc`.
 */
export const FUNCTIONS = {
  ...PROGRAM_FUNCTIONS,
  ...CONFIGURATION_FUNCTIONS,
  ...LINE_FUNCTIONS,
  ...DEVICE_FUNCTIONS,
  ...VALUE_FUNCTIONS,
  ...INLET_FUNCTIONS,
  ...CELL_FUNCTIONS,
  ...RULE_FUNCTIONS,
  ...CATALOGUE_FUNCTIONS,
  ...RUN_FUNCTIONS,
};

type AnyCall = (context: TestContext, input: unknown) => Outcome<unknown> | Promise<Outcome<unknown>>;
type BegunOrNot = Iterable<unknown> | Outcome<Iterable<unknown>>;
type AnyList = (context: TestContext, input: unknown) => BegunOrNot | Promise<BegunOrNot>;

/** Carries out a call in this thread. The outcome is available immediately if the call need not wait. */
export function carryOut(
  context: TestContext,
  name: CallName,
  input: unknown,
): Outcome<unknown> | Promise<Outcome<unknown>> {
  return (FUNCTIONS[name] as AnyCall)(context, input);
}

/** Starts a list in this thread; immediately if that need not wait. */
export function beginList(
  context: TestContext,
  name: ListName,
  input: unknown,
): Outcome<Iterator<unknown>> | Promise<Outcome<Iterator<unknown>>> {
  const begun = (FUNCTIONS[name] as AnyList)(context, input);
  return begun instanceof Promise ? begun.then(iteratorOf) : iteratorOf(begun);
}

function iteratorOf(begun: BegunOrNot): Outcome<Iterator<unknown>> {
  if (Symbol.iterator in begun) return { ok: true, value: begun[Symbol.iterator]() };
  return begun.ok ? { ok: true, value: begun.value[Symbol.iterator]() } : begun;
}

/** A number that changes when anything that `program.map` shows has changed. */
export function revisionOf({ simulator }: TestContext): number {
  return simulator.revision;
}

/** The methods of a `MessagePort` that are used here. */
export type Port = Pick<MessagePort, 'postMessage' | 'on' | 'off'>;

/**
 * Maximum number of lists that may be started but not fully read. Each takes little memory: its subject and
 * its position.
 */
const MOST_LISTS = 128;

/** Maximum time per turn of the event loop spent on the desk's calls, in ms. The lines are served between two turns. */
const TURN_MS = 0.5;

/**
 * The lines' end of the channel between the threads. It carries out the desk's calls in order, and feeds the
 * desk's mirror of the traffic.
 */
export class LineEnd {
  readonly #context: TestContext;
  readonly #port: Port;
  readonly #feed: Feed;
  readonly #waiting: DeskMessage[] = [];
  readonly #lists = new Map<number, Iterator<unknown>>();
  #revision = -1;
  #isScheduled = false;
  /** Messages in this turn. They are sent together, in the order in which things happened. */
  #outbox: LineMessage[] = [];
  #isServing = false;
  readonly #take = (all: readonly DeskMessage[]) => {
    this.#waiting.push(...all);
    if (this.#waiting.length > 0) this.#schedule();
  };

  constructor(context: TestContext, port: Port) {
    this.#context = context;
    this.#port = port;
    this.#feed = context.simulator.traffic.feed((change) => this.#post({ kind: 'traffic', change }));
    this.#postRevision();
    port.on('message', this.#take);
  }

  end(): void {
    this.#port.off('message', this.#take);
    this.#feed.end();
    this.#waiting.length = 0;
    for (const list of this.#lists.values()) list.return?.();
    this.#lists.clear();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#isServing = true;
      const endsAt = performance.now() + TURN_MS;
      do {
        const asked = this.#waiting.shift();
        if (!asked) break;
        this.#serve(asked);
      } while (performance.now() < endsAt);
      this.#isServing = false;
      this.#flush();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #serve(asked: DeskMessage): void {
    const { kind, id } = asked;
    try {
      switch (kind) {
        case 'call':
          this.#when(id, carryOut(this.#context, asked.name, asked.input), (outcome) =>
            this.#answer(id, outcome),
          );
          break;
        case 'list':
          this.#when(id, beginList(this.#context, asked.name, asked.input), (begun) =>
            this.#post({ kind: 'answer', id, outcome: this.#firstParts(id, begun) }),
          );
          break;
        case 'more':
          this.#postParts(id);
          break;
        case 'enough':
          this.#lists.get(id)?.return?.();
          this.#lists.delete(id);
      }
    } catch (error) {
      this.#lists.delete(id);
      this.#fail(id, error as Error);
    }
  }

  /** Continues with the result of a call: immediately, or once the call has waited. */
  #when<Result>(id: number, result: Result | Promise<Result>, then: (result: Result) => void): void {
    if (!(result instanceof Promise)) {
      then(result);
      return;
    }
    this.#post({ kind: 'begun', id });
    result.then(then).catch((error: Error) => this.#fail(id, error));
  }

  /** The first parts of a started list are sent with the answer, so a short list need not be stored. */
  #firstParts(id: number, begun: Outcome<Iterator<unknown>>): Outcome<SomeParts> {
    if (!begun.ok) return begun;
    const first = nextParts(begun.value);
    if (first.isLast) return done(first);
    if (this.#lists.size >= MOST_LISTS) {
      begun.value.return?.();
      const message = `expected at most ${MOST_LISTS} long lists at a time; that many are already being read`;
      return refusal('readers.too_many', '', message);
    }
    this.#lists.set(id, begun.value);
    return done(first);
  }

  #answer(id: number, outcome: Outcome<unknown>): void {
    this.#postRevision();
    this.#post({ kind: 'answer', id, outcome });
  }

  #fail(id: number, error: Error): void {
    this.#context.log.error(error, 'a command failed');
    this.#post({ kind: 'failed', id, message: error.message });
  }

  #postParts(id: number): void {
    const list = this.#lists.get(id);
    if (!list) return;
    const next = nextParts(list);
    if (next.isLast) this.#lists.delete(id);
    this.#post({ kind: 'parts', id, ...next });
  }

  /**
   * Tells the desk that lines or devices may have changed. This is sent before the answer to the call that
   * changed them.
   */
  #postRevision(): void {
    const revision = revisionOf(this.#context);
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#post({ kind: 'revision', revision });
  }

  #post(message: LineMessage): void {
    this.#outbox.push(message);
    if (!this.#isServing) this.#flush();
  }

  #flush(): void {
    if (this.#outbox.length === 0) return;
    this.#port.postMessage(this.#outbox);
    this.#outbox = [];
  }
}
