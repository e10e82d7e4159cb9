import type { Clock } from '../../../modbus/transport/clock.js';
import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import { type Exchange, exchangeOf, type OwnRule, wentWell } from './exchange.js';

/**
 * How many items of each kind are kept, the newest ones: a client may flood the line for the whole
 * client test.
 */
const MOST_KEPT = 20_000;
const DROPPED_AT_ONCE = 5_000;
const MOST_NEWEST = 2_000;
/** How many polls of a client are known. */
const MOST_POLLS = 1_000;

/** A client that opens a new connection for this fraction of its requests does so for each that finds no open one. */
const ANEW_EACH_TIME = 0.5;

/** Everything that was heard of the client, in its order. */
export class ExchangeLog {
  readonly #exchanges: Exchange[] = [];
  readonly #others: TrafficEvent[] = [];
  readonly #spoilt: Exchange[] = [];
  /** Exchanges that may still get their replies. */
  readonly #open = new Map<number, Exchange>();
  readonly #latest = new Map<number, Exchange>();
  readonly #acted: () => OwnRule | undefined;
  readonly #listeners = new Set<(event: TrafficEvent) => void>();
  #last = 0;
  /** How many requests came, and how many of them over a new connection although the reply before was good. */
  readonly #counts = { all: 0, anew: 0 };
  readonly #left: Exchange[] = [];
  /** Sequence number up to which the client polled as usual, apart from what the faults did. */
  usualUntil = 0;

  /**
   * @param acted called with each request; returns the rule of the client test that has acted since the
   *   request before
   */
  constructor(acted: () => OwnRule | undefined) {
    this.#acted = acted;
  }

  /** Sequence number of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** True for a client that opens a connection for each request, or nearly so. */
  get isAnewEachTime(): boolean {
    return this.#counts.anew >= ANEW_EACH_TIME * this.#counts.all && this.#counts.anew > 1;
  }

  /** How many connections the client has left open for another one, and not closed since. */
  get leftOpen(): number {
    return this.#left.filter(
      ({ request }) => this.clientEvent(0, 'client gone', request.clientId) === undefined,
    ).length;
  }

  /**
   * Calls back after each event of the line.
   * @returns a function that ends the calls
   */
  onEvent(listener: (event: TrafficEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  add(event: TrafficEvent): void {
    this.#last = event.seq;
    this.#keep(event);
    for (const listener of this.#listeners) listener(event);
  }

  #keep(event: TrafficEvent): void {
    if (event.kind === 'reply') {
      this.#reply(event);
      return;
    }
    const exchange = exchangeOf(event);
    if (exchange) {
      this.#asked(exchange);
      return;
    }
    keep(this.#others, event);
    if (event.kind !== 'client gone') return;
    const latest = this.#latest.get(event.clientId);
    if (latest) latest.closedAt = event.at;
  }

  /** The exchanges after this sequence number, the oldest first. */
  after(seq: number): readonly Exchange[] {
    return behind(this.#exchanges, seq);
  }

  /** The newest exchanges, the oldest of them first. They are enough to know the rhythm of any client. */
  newest(): readonly Exchange[] {
    return this.#exchanges.slice(-MOST_NEWEST);
  }

  /** The exchanges whose replies were spoilt, the oldest of them first. */
  get spoilt(): readonly Exchange[] {
    return this.#spoilt;
  }

  /**
   * The events after this sequence number that are neither request nor reply: damage, clients that come and
   * go, notices.
   */
  othersAfter(seq: number): readonly TrafficEvent[] {
    return behind(this.#others, seq);
  }

  /** The first event after this sequence number that tells of a client that came or went. */
  clientEvent(seq: number, kind: 'client' | 'client gone', clientId?: number): TrafficEvent | undefined {
    return this.othersAfter(seq).find(
      (event) => event.kind === kind && (clientId === undefined || event.clientId === clientId),
    );
  }

  #asked(exchange: Exchange): void {
    const { clientId } = exchange.request;
    this.#counts.all++;
    exchange.rule = this.#acted();
    const before = this.#latest.get(clientId) ?? this.#isBack(clientId) ?? this.#ended(exchange);
    exchange.asks = before?.asks ?? new Set();
    if (exchange.asks.size < MOST_POLLS) exchange.asks.add(exchange.poll);
    if (before) {
      exchange.before = before;
      if (before.request.clientId !== clientId && wentWell(before)) this.#counts.anew++;
      before.next = exchange;
      this.#latest.delete(before.request.clientId);
    }
    this.#latest.set(clientId, exchange);
    for (const old of keep(this.#exchanges, exchange)) forget(old);
    if (exchange.rule) keep(this.#spoilt, exchange);
    if (exchange.request.kind === 'request') this.#open.set(exchange.seq, exchange);
  }

  /**
   * The newest exchange over a connection that this request, the first one over its own, takes the place of: it has closed,
   * or its reply was spoilt or lost and the client has left it open. Several clients may be on one line.
   */
  #ended(exchange: Exchange): Exchange | undefined {
    const latest = [...this.#latest.values()];
    // A client asks again what it has asked. What nobody has asked yet, any of them may ask.
    const those = latest.filter(({ asks }) => asks?.has(exchange.poll));
    const closed = (those.length > 0 ? those : latest).findLast(({ closedAt }) => closedAt !== undefined);
    if (closed) return closed;
    const left = those.findLast(({ rule }) => rule);
    if (!left || those.some(({ asks }) => asks !== left.asks)) return undefined;
    this.#left.push(left);
    return left;
  }

  /** The last exchange over a connection that was taken as left open: what followed it was another client's. */
  #isBack(clientId: number): Exchange | undefined {
    const at = this.#left.findIndex(({ request }) => clientId > 0 && request.clientId === clientId);
    const [left] = at < 0 ? [] : this.#left.splice(at, 1);
    if (!left?.next) return left;
    left.next.before = undefined;
    for (let each: Exchange | undefined = left.next, asks = new Set<string>(); each; each = each.next) {
      asks.add(each.poll);
      each.asks = asks;
    }
    return left;
  }

  #reply(event: Extract<TrafficEvent, { kind: 'reply' }>): void {
    const exchange = this.#open.get(event.request);
    if (!exchange) return;
    exchange.reply = event;
    this.#open.delete(event.request);
  }
}

/**
 * Unlinks an exchange that is no longer kept. Exchanges refer to each other, so it would stay in memory
 * otherwise.
 */
function forget(exchange: Exchange): void {
  if (exchange.next) exchange.next.before = undefined;
  exchange.next = undefined;
  exchange.before = undefined;
}

/**
 * Adds an item.
 * @returns the items that are no longer kept
 */
function keep<Item>(items: Item[], item: Item): Item[] {
  items.push(item);
  return items.length > MOST_KEPT ? items.splice(0, DROPPED_AT_ONCE) : [];
}

/**
 * The items after this sequence number. They are mostly the newest few, so the search goes back from the end.
 */
function behind<Item extends { readonly seq: number }>(items: readonly Item[], seq: number): Item[] {
  let first = items.length;
  while (first > 0 && (items[first - 1] as Item).seq > seq) first--;
  return items.slice(first);
}

interface Heard {
  /**
   * Calls back after each event.
   * @returns a function that ends the calls
   */
  onEvent(listener: () => void): () => void;
}

/** Waits for something to happen on the line. After `end` no wait resolves, so a caller needs no way out. */
export class Waits {
  readonly #clock: Clock;
  readonly #heard: Heard;
  readonly #stops = new Set<() => void>();
  #isOver = false;

  constructor(clock: Clock, heard: Heard) {
    this.#clock = clock;
    this.#heard = heard;
  }

  /** Ends all waits: none of them resolves any more. */
  end(): void {
    this.#isOver = true;
    for (const stop of this.#stops) stop();
  }

  /**
   * Waits until `find` returns something. `find` is called now and after each event of the line, when the
   * line has planned its answer.
   * @returns undefined when nothing was found within `limitMs`
   */
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined> {
    return new Promise((resolve) => {
      if (this.#isOver) return;
      const now = find();
      if (now !== undefined) return resolve(now);
      let isAsked = false;
      const stop = () => {
        callOff();
        unsubscribe();
        this.#stops.delete(stop);
      };
      const look = () => {
        isAsked = false;
        if (!this.#stops.has(stop)) return;
        const result = find();
        if (result === undefined) return;
        stop();
        resolve(result);
      };
      const unsubscribe = this.#heard.onEvent(() => {
        if (isAsked) return;
        isAsked = true;
        queueMicrotask(look);
      });
      const callOff = this.#clock.callAfter(limitMs, () => {
        stop();
        resolve(find());
      });
      this.#stops.add(stop);
    });
  }
}
