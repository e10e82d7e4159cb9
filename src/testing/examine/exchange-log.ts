import type { TrafficEvent } from '../../traffic/event.js';
import { type Exchange, exchangeOf } from './exchange.js';

/** Of each kind, the newest so many are kept: a client may flood the line for the whole examination. */
const MOST_KEPT = 20_000;
const DROPPED_AT_ONCE = 5_000;
const MOST_NEWEST = 2_000;

/** Everything that was heard of the client, in its order. */
export class ExchangeLog {
  readonly #exchanges: Exchange[] = [];
  readonly #others: TrafficEvent[] = [];
  /** Exchanges that may still get their replies. */
  readonly #open = new Map<number, Exchange>();
  /** How often the faults of the examination have acted. */
  readonly #hits: () => number;
  #newest: { readonly exchange: Exchange; readonly hits: number } | undefined;
  #last = 0;

  constructor(hits: () => number) {
    this.#hits = hits;
  }

  /** Sequence number of the newest event. */
  get last(): number {
    return this.#last;
  }

  add(event: TrafficEvent): void {
    this.#last = event.seq;
    if (event.kind === 'reply') {
      this.#reply(event);
      return;
    }
    const exchange = exchangeOf(event);
    if (!exchange) {
      keep(this.#others, event);
      return;
    }
    this.settle();
    this.#newest = { exchange, hits: this.#hits() };
    keep(this.#exchanges, exchange);
    if (event.kind === 'request') this.#open.set(event.seq, exchange);
  }

  /**
   * Notes whether a fault acted on the newest request. A rule counts its hit after the request has become an event, so
   * call this later than that, and before a rule is removed with its count.
   */
  settle(): void {
    if (this.#newest && this.#hits() > this.#newest.hits) this.#newest.exchange.isSpoilt = true;
  }

  /** The exchanges with higher sequence numbers than this, the oldest first. */
  after(seq: number): readonly Exchange[] {
    this.settle();
    return behind(this.#exchanges, seq);
  }

  /** The newest exchanges, the oldest of them first: enough to know the rhythm of any client. */
  newest(): readonly Exchange[] {
    this.settle();
    return this.#exchanges.slice(-MOST_NEWEST);
  }

  /** What is no request and no reply, after this sequence number: damage, clients that come and go, notices. */
  othersAfter(seq: number): readonly TrafficEvent[] {
    return behind(this.#others, seq);
  }

  #reply(event: Extract<TrafficEvent, { kind: 'reply' }>): void {
    const exchange = this.#open.get(event.request);
    if (!exchange) return;
    exchange.reply = event;
    this.#open.delete(event.request);
  }
}

function keep<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > MOST_KEPT) items.splice(0, DROPPED_AT_ONCE);
}

/** The items with higher numbers. They are mostly the newest few, so the search goes back from the end. */
function behind<Item extends { readonly seq: number }>(items: readonly Item[], seq: number): Item[] {
  let first = items.length;
  while (first > 0 && (items[first - 1] as Item).seq > seq) first--;
  return items.slice(first);
}
