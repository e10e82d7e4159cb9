import { done, type Outcome } from '../../simulator/commands/refusal.js';
import { TrafficMirror } from '../../simulator/traffic/mirror.js';
import type { DeskMessage, LineMessage, Port, SomeParts } from './line-end.js';
import type { CallName, Input, ListName, Part, Parts, Result, Rpc } from './rpc.js';

/** Maximum number of calls in progress; more wait here, where they use neither memory nor time of the lines. */
const MOST_ASKED = 16;

/**
 * Maximum number of further calls that have started and wait for a port or a name look-up. Other calls are
 * answered in the meantime.
 */
const MOST_BEGUN = 48;

interface PendingAnswer {
  readonly resolve: (outcome: never) => void;
  readonly reject: (error: Error) => void;
}

/** The worker's end of the channel between the threads: sends commands, and keeps a mirror of the traffic. */
export class DeskEnd implements Rpc {
  readonly traffic: TrafficMirror;
  revision = 0;
  readonly #port: Port;
  #last = 0;
  /** Calls that wait for an answer, or for the next parts of a list, by number. */
  readonly #asking = new Map<number, PendingAnswer>();
  readonly #unsent: (() => void)[] = [];
  /** The calls in `#asking` that have started. */
  readonly #begun = new Set<number>();
  /**
   * Messages in this turn of the event loop. They are sent together, because each message wakes the other
   * thread, which costs 30 µs.
   */
  #outbox: DeskMessage[] = [];

  /** @param events number of events that the lines' stream stores */
  constructor(port: Port, events: number) {
    this.#port = port;
    this.traffic = new TrafficMirror(events);
    port.on('message', (messages: readonly LineMessage[]) => {
      for (const message of messages) this.#take(message);
    });
  }

  call<Name extends CallName>(name: Name, input: Input<Name>): Promise<Outcome<Result<Name>>> {
    return this.#ask((id) => ({ kind: 'call', id, name, input }));
  }

  async list<Name extends ListName>(name: Name, input: Input<Name>): Promise<Outcome<Parts<Part<Name>>>> {
    const id = ++this.#last;
    const begun: Outcome<SomeParts> = await this.#ask(() => ({ kind: 'list', id, name, input }), id);
    if (!begun.ok) return begun;
    const more = () => this.#ask<SomeParts>(() => ({ kind: 'more', id }), id);
    const enough = () => this.#post({ kind: 'enough', id });
    return done(new BegunList<Part<Name>>(begun.value, more, enough));
  }

  #ask<Answer>(question: (id: number) => DeskMessage, id = ++this.#last): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const send = () => {
        this.#asking.set(id, { resolve, reject });
        this.#post(question(id));
      };
      if (this.#hasRoom) send();
      else this.#unsent.push(send);
    });
  }

  #take(message: LineMessage): void {
    switch (message.kind) {
      case 'traffic':
        this.traffic.take(message.change);
        break;
      case 'revision':
        this.revision = message.revision;
        break;
      case 'answer':
        this.#answered(message.id)?.resolve(message.outcome as never);
        break;
      case 'parts':
        this.#answered(message.id)?.resolve(message as never);
        break;
      case 'begun':
        this.#begun.add(message.id);
        this.#sendNext();
        break;
      case 'failed':
        this.#answered(message.id)?.reject(new Error(message.message));
    }
  }

  #answered(id: number): PendingAnswer | undefined {
    const waiting = this.#asking.get(id);
    this.#asking.delete(id);
    this.#begun.delete(id);
    this.#sendNext();
    return waiting;
  }

  get #hasRoom(): boolean {
    return this.#asking.size - Math.min(this.#begun.size, MOST_BEGUN) < MOST_ASKED;
  }

  #sendNext(): void {
    if (this.#hasRoom) this.#unsent.shift()?.();
  }

  #post(message: DeskMessage): void {
    if (this.#outbox.push(message) > 1) return;
    setImmediate(() => {
      this.#port.postMessage(this.#outbox);
      this.#outbox = [];
    });
  }
}

/**
 * A list that the side of the lines keeps until it has been read to the end, or `return` is called. It is not
 * a generator, because a generator that was never started does not notice its end.
 */
class BegunList<Each> implements AsyncIterableIterator<readonly Each[]> {
  #next: SomeParts | undefined;
  readonly #more: () => Promise<SomeParts>;
  readonly #enough: () => void;
  #isOver: boolean;

  /** @param first the first parts of the list */
  constructor(first: SomeParts, more: () => Promise<SomeParts>, enough: () => void) {
    this.#next = first;
    this.#more = more;
    this.#enough = enough;
    this.#isOver = first.isLast;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<readonly Each[], undefined>> {
    if (this.#isOver && !this.#next) return { done: true, value: undefined };
    const { parts, isLast } = this.#next ?? (await this.#more());
    this.#next = undefined;
    if (isLast) this.#isOver = true;
    return { done: false, value: parts as readonly Each[] };
  }

  async return(): Promise<IteratorResult<readonly Each[], undefined>> {
    if (!this.#isOver) this.#enough();
    this.#isOver = true;
    this.#next = undefined;
    return { done: true, value: undefined };
  }
}
