import type { MessagePort } from 'node:worker_threads';
import { done, type Outcome, refusal } from '../../simulator/commands/refusal.js';
import { nextParts } from '../../simulator/commands/slices.js';
import type { Feed } from '../../simulator/traffic/stream.js';
import type { TestContext } from '../../testing/commands.js';
import { beginList, carryOut, revisionOf } from './local-rpc.js';
import type { DeskMessage, LineMessage, SomeParts } from './messages.js';
import type { ListName } from './rpc.js';

/** The part of a `MessagePort` that is used. */
export type Port = Pick<MessagePort, 'postMessage' | 'on' | 'off'>;

/** So many lists may be begun and not read to their end. Each keeps little: where it is, and what it is a list of. */
const MOST_LISTS = 128;

/** What the desk asks for in one turn of the event loop may take so long in ms; the lines are served between two turns. */
const TURN_MS = 0.5;

/**
 * The end of the door on the side of the lines: carries out what the desk asks for, in its order, and feeds its mirror of the
 * traffic.
 */
export class LineEnd {
  readonly #room: TestContext;
  readonly #port: Port;
  readonly #feed: Feed;
  readonly #waiting: DeskMessage[] = [];
  readonly #lists = new Map<number, Iterator<unknown>>();
  #revision = -1;
  #isScheduled = false;
  /** What is answered in one turn goes in one message, in the order in which it happened. */
  #outbox: LineMessage[] = [];
  #isServing = false;
  readonly #take = (all: readonly DeskMessage[]) => {
    this.#waiting.push(...all);
    if (this.#waiting.length > 0) this.#schedule();
  };

  constructor(room: TestContext, port: Port) {
    this.#room = room;
    this.#port = port;
    this.#feed = room.simulator.traffic.feed((change) => this.#post({ kind: 'traffic', change }));
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
          const result = carryOut(this.#room, asked.name, asked.input);
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

  /** The first parts come with the answer, so a short list is kept for nobody. */
  #beginList(id: number, name: ListName, input: unknown): Outcome<SomeParts> {
    const begun = beginList(this.#room, name, input);
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
    this.#room.log.error(error, 'a command failed');
    this.#post({ kind: 'failed', id, message: error.message });
  }

  #postParts(id: number): void {
    const list = this.#lists.get(id);
    if (!list) return;
    const next = nextParts(list);
    if (next.isLast) this.#lists.delete(id);
    this.#post({ kind: 'parts', id, ...next });
  }

  /** The desk hears of changes before the answer that made them. */
  #postRevision(): void {
    const revision = revisionOf(this.#room);
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
