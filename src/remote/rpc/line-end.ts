import type { MessagePort } from 'node:worker_threads';
import { done, type Outcome, refusal } from '../../simulator/commands/refusal.js';
import { nextParts } from '../../simulator/commands/slices.js';
import type { Feed } from '../../simulator/traffic/stream.js';
import type { TestContext } from '../../testing/commands.js';
import { beginList, carryOut, revisionOf } from './local-rpc.js';
import type { DeskMessage, LineMessage, SomeParts } from './messages.js';
import type { ListName } from './rpc.js';

/** The methods of a `MessagePort` that are used here. */
export type Port = Pick<MessagePort, 'postMessage' | 'on' | 'off'>;

/**
 * Most lists that may be begun and not read to their end. Each takes little memory: its subject and its
 * position.
 */
const MOST_LISTS = 128;

/**
 * Longest time per turn of the event loop spent on calls of the desk, in ms. The lines are served between two
 * turns.
 */
const TURN_MS = 0.5;

/**
 * The lines' end of the way between the threads. It carries out the calls of the desk in their order, and
 * feeds the desk's mirror of the traffic.
 */
export class LineEnd {
  readonly #context: TestContext;
  readonly #port: Port;
  readonly #feed: Feed;
  readonly #waiting: DeskMessage[] = [];
  readonly #lists = new Map<number, Iterator<unknown>>();
  #revision = -1;
  #isScheduled = false;
  /** Messages of this turn. They go together, in the order in which they happened. */
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
        case 'call': {
          const result = carryOut(this.#context, asked.name, asked.input);
          if (!(result instanceof Promise)) this.#answer(id, result);
          else {
            this.#post({ kind: 'begun', id });
            result.then(
              (outcome) => this.#answer(id, outcome),
              (error: Error) => this.#fail(id, error),
            );
          }
          break;
        }
        case 'list':
          this.#post({ kind: 'answer', id, outcome: this.#beginList(id, asked.name, asked.input) });
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

  /** Begins a list. Its first parts go with the answer, so a short list need not be kept. */
  #beginList(id: number, name: ListName, input: unknown): Outcome<SomeParts> {
    const begun = beginList(this.#context, name, input);
    if (!begun.ok) return begun;
    const first = nextParts(begun.value);
    if (first.isLast) return done(first);
    if (this.#lists.size >= MOST_LISTS) {
      begun.value.return?.();
      const message = `expected at most ${MOST_LISTS} long lists at a time, and so many are being read`;
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
   * Tells the desk that lines or devices may have changed. This goes before the answer to the call that
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
