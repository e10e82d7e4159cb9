import type { TrafficEvent } from '../../traffic/event.js';
import { HitCount } from '../hit-count.js';
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
  readonly #hits: HitCount;
  #last = 0;

  /** @param hits how often the faults of the examination have acted */
  constructor(hits: () => number) {
    this.#hits = new HitCount(hits);
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
    exchange.isSpoilt = this.#hits.haveGrown();
    keep(this.#exchanges, exchange);
    if (event.kind === 'request') this.#open.set(event.seq, exchange);
  }

  /** Call when rules were removed with their counts. */
  rulesRemoved(): void {
    this.#hits.begin();
  }

  /** The exchanges with higher sequence numbers than this, the oldest first. */
  after(seq: number): readonly Exchange[] {
    return behind(this.#exchanges, seq);
  }

  /** The newest exchanges, the oldest of them first: enough to know the rhythm of any client. */
  newest(): readonly Exchange[] {
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
