import type { EventKind, EventOf, TrafficEvent } from './event.js';
import { mayPass, passes, type TrafficFilter } from './filter.js';
import type { KeptEvents } from './kept-events.js';

/** Which events are wanted, by their sequence numbers. */
interface Span {
  /** Only those with higher numbers; all when absent. */
  readonly after?: number;
  /** None with a higher number; up to the newest one when absent. */
  readonly until?: number;
}

/**
 * The events of some kinds, the newest first. Each is read when it is asked for, so
 * a slow reader keeps nothing in memory. Events that the stream has given up meanwhile are left out.
 */
export function* newestFirst<Kind extends EventKind>(
  stream: KeptEvents,
  kinds: readonly Kind[],
  span: Span = {},
): Generator<EventOf<Kind>> {
  for (const event of wantedNewestFirst(stream, { kinds: new Set(kinds) }, span)) {
    if (event) yield event as EventOf<Kind>;
  }
}

/**
 * The events that pass a filter, the newest first, read like those of `newestFirst`. Yields undefined from time to time
 * where none passes, so that a caller can pause in a long search.
 */
export function* wantedNewestFirst(
  stream: KeptEvents,
  filter: TrafficFilter,
  { after = 0, until = stream.last }: Span = {},
): Generator<TrafficEvent | undefined> {
  for (let seq = until; seq > after && seq >= stream.first; seq--) {
    const event = wanted(stream, filter, seq);
    if (event) yield event;
    else if (seq % PASSED_OVER === 0) yield undefined;
  }
}

/** All events that pass a filter, the oldest first, in the same way. */
export function wantedOldestFirst(
  stream: KeptEvents,
  filter: TrafficFilter,
): Generator<TrafficEvent | undefined> {
  return new TrafficCursor(stream, filter, stream.first - 1).events();
}

/** So many events that are not wanted are passed over before the caller may pause: a few µs. */
const PASSED_OVER = 64;

/**
 * Reads a stream forward from a sequence number, as fast as its caller asks, while the stream goes on. Nothing is read
 * twice. Of what the stream gives up before it is read, the number is kept.
 */
export class TrafficCursor {
  readonly #stream: KeptEvents;
  readonly #filter: TrafficFilter;
  #after: number;
  #missed = 0;

  /** @param after only events with higher numbers are read. A number that the stream has not reached means the newest. */
  constructor(stream: KeptEvents, filter: TrafficFilter, after: number) {
    this.#stream = stream;
    this.#filter = filter;
    this.#after = Math.min(after, stream.last);
  }

  /** Sequence number up to which everything was looked at. Another cursor that begins after it misses nothing. */
  get after(): number {
    return this.#after;
  }

  /** Whether everything was looked at. */
  get isAtEnd(): boolean {
    return this.#after >= this.#stream.last;
  }

  /** How many events the stream had given up before they could be looked at, whether or not the filter wanted them. */
  get missed(): number {
    return this.#missed;
  }

  /**
   * The wanted events up to the number `until`, the oldest first. Yields undefined from time to time where none is
   * wanted, so that a caller can pause in a long search.
   */
  *events(until = this.#stream.last): Generator<TrafficEvent | undefined> {
    for (let looked = 1; this.#after < until; looked++) {
      const seq = this.#next();
      if (seq > until) return;
      this.#after = seq;
      const event = wanted(this.#stream, this.#filter, seq);
      if (event) yield event;
      else {
        // It was given up while it was looked at.
        if (seq < this.#stream.first) this.#missed++;
        if (looked % PASSED_OVER === 0) yield undefined;
      }
    }
  }

  /** The next number that is kept. Counts those that are not kept any more. */
  #next(): number {
    const next = this.#after + 1;
    const { first } = this.#stream;
    if (next >= first) return next;
    this.#missed += first - next;
    this.#after = first - 1;
    return first;
  }
}

/**
 * Goes back from the newest event until `count` wanted ones are found. Returns the number after which they begin.
 * Yields from time to time, so that a caller can pause in a long search.
 */
export function* beginningOfNewest(
  stream: KeptEvents,
  filter: TrafficFilter,
  count: number,
  until: number,
): Generator<undefined, number> {
  let left = count;
  for (const event of wantedNewestFirst(stream, filter, { until })) {
    if (event && --left === 0) return event.seq - 1;
    yield undefined;
  }
  // What the stream gives up from now on was not looked at, so it is not missed.
  return stream.first - 1;
}

function wanted(stream: KeptEvents, filter: TrafficFilter, seq: number): TrafficEvent | undefined {
  const outline = stream.outline(seq);
  if (!outline || !mayPass(filter, outline)) return undefined;
  const event = stream.read(seq);
  return event && passes(filter, event, (other) => stream.read(other)) ? event : undefined;
}
