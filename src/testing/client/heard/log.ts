import type { Clock } from '../../../modbus/transport/clock.js';
import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import { type Exchange, exchangeOf, type OwnRule, wentWell } from './exchange.js';

/** Maximum number of items of each kind; the newest are kept. A client may flood the line for the whole client test. */
const MOST_KEPT = 20_000;
const DROPPED_AT_ONCE = 5_000;
const MOST_NEWEST = 2_000;
/** Maximum number of known polls per client. */
const MOST_POLLS = 1_000;

/** A client that opens a new connection for this fraction of its requests does so whenever it finds no open one. */
const ANEW_EACH_TIME = 0.5;

/** All traffic of the client, in order. */
export class ExchangeLog {
  readonly #exchanges: Exchange[] = [];
  readonly #others: TrafficEvent[] = [];
  readonly #spoilt: Exchange[] = [];
  /** Exchanges that may still get replies. */
  readonly #open = new Map<number, Exchange>();
  readonly #latest = new Map<number, Exchange>();
  readonly #acted: () => OwnRule | undefined;
  readonly #listeners = new Set<(event: TrafficEvent) => void>();
  #last = 0;
  /** The number of requests, and of those that came over a new connection although the previous reply was good. */
  readonly #counts = { all: 0, anew: 0 };
  readonly #left: Exchange[] = [];
  /** Sequence number up to which the client polled as usual, except for the effects of faults. */
  usualUntil = 0;

  /**
   * @param acted called with each request; returns the client test's rule that has acted since the previous
   *   request
   */
  constructor(acted: () => OwnRule | undefined) {
    this.#acted = acted;
  }

  /** Sequence number of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** True for a client that opens a connection for nearly every request. */
  get isAnewEachTime(): boolean {
    return this.#counts.anew >= ANEW_EACH_TIME * this.#counts.all && this.#counts.anew > 1;
  }

  /** The number of connections that the client replaced by another one and has not closed since. */
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

  /** The exchanges after this sequence number, oldest first. */
  after(seq: number): readonly Exchange[] {
    return behind(this.#exchanges, seq);
  }

  /** The newest exchanges, oldest first. They are enough to determine the rhythm of any client. */
  newest(): readonly Exchange[] {
    return this.#exchanges.slice(-MOST_NEWEST);
  }

  /** The exchanges whose replies were altered, oldest first. */
  get spoilt(): readonly Exchange[] {
    return this.#spoilt;
  }

  /**
   * The events after this sequence number that are neither request nor reply: damage, clients that connect
   * and leave, notices.
   */
  othersAfter(seq: number): readonly TrafficEvent[] {
    return behind(this.#others, seq);
  }

  /** The first event after this sequence number that reports a client connecting or leaving. */
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
   * The newest exchange over the connection that this request's connection replaces, if the request is the
   * first one on it. The replaced connection was closed, or its reply was altered or lost and the client left
   * it open. Several clients may be on one line.
   */
  #ended(exchange: Exchange): Exchange | undefined {
    const latest = [...this.#latest.values()];
    // A client sends its own polls again. A poll that no client has sent yet could come from any of them.
    const those = latest.filter(({ asks }) => asks?.has(exchange.poll));
    const closed = (those.length > 0 ? those : latest).findLast(({ closedAt }) => closedAt !== undefined);
    if (closed) return closed;
    const left = those.findLast(({ rule }) => rule);
    if (!left || those.some(({ asks }) => asks !== left.asks)) return undefined;
    this.#left.push(left);
    return left;
  }

  /**
   * The last exchange over a connection that was wrongly taken as left open: the requests after it came from
   * another client.
   */
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

/** Unlinks an exchange that is dropped. Exchanges refer to each other, so it would otherwise stay in memory. */
function forget(exchange: Exchange): void {
  if (exchange.next) exchange.next.before = undefined;
  exchange.next = undefined;
  exchange.before = undefined;
}

/**
 * Adds an item.
 * @returns the items that are dropped
 */
function keep<Item>(items: Item[], item: Item): Item[] {
  items.push(item);
  return items.length > MOST_KEPT ? items.splice(0, DROPPED_AT_ONCE) : [];
}

/** The items after this sequence number. Usually these are the last few, so the search runs backwards. */
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

/** Waits for something to happen on the line. After `end` no wait resolves, so a caller needs no code for that case. */
export class Waits {
  readonly #clock: Clock;
  readonly #heard: Heard;
  readonly #stops = new Set<() => void>();
  #isOver = false;

  constructor(clock: Clock, heard: Heard) {
    this.#clock = clock;
    this.#heard = heard;
  }

  /** Ends all waits: none of them will resolve. */
  end(): void {
    this.#isOver = true;
    for (const stop of this.#stops) stop();
  }

  /**
   * Waits until `find` returns something. `find` is called now and after each event of the line, once the
   * line has planned its reply.
   * @returns undefined if nothing was found within `limitMs`
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
