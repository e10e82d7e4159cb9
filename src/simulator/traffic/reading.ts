import { type Filter, matches } from '../filter/filter.js';
import type { EventKind, EventOf, TrafficEvent } from './event.js';
import { type DevicesInFilters, EventFacts, factsOfOutline } from './facts.js';
import type { KeptEvents } from './kept-events.js';

/** Which events are wanted. */
export interface TrafficFilter {
  /** All events when absent. */
  readonly wanted?: Filter | undefined;
  /** The properties of devices that it tests; absent if it tests none. */
  readonly devices?: DevicesInFilters | undefined;
}

/** A range of sequence numbers. */
interface Span {
  /** Only events with higher numbers are read; all when absent. */
  readonly after?: number;
  /** Events with higher numbers are not read; without it, reading ends at the newest one. */
  readonly until?: number;
}

/**
 * The events of some kinds, newest first. Each is read when it is requested, so a slow reader uses no memory.
 * Events that the stream drops in the meantime are left out.
 */
export function* newestFirst<Kind extends EventKind>(
  stream: KeptEvents,
  kinds: readonly Kind[],
  span: Span = {},
): Generator<EventOf<Kind>> {
  for (const event of wantedNewestFirst(stream, { wanted: { field: 'kind', texts: kinds } }, span)) {
    if (event) yield event as EventOf<Kind>;
  }
}

/**
 * The events that pass a filter, newest first, read like those of `newestFirst`. Yields undefined from time
 * to time if none passes, so that the caller can pause in a long search.
 */
export function* wantedNewestFirst(
  stream: KeptEvents,
  filter: TrafficFilter,
  { after = 0, until = stream.last }: Span = {},
): Generator<TrafficEvent | undefined> {
  for (let seq = until; seq > after && seq >= stream.first; seq--) {
    const event = wantedAt(stream, filter, seq);
    if (event) yield event;
    else if (seq % PASSED_OVER === 0) yield undefined;
  }
}

/** All events that pass a filter, oldest first, read like those of `newestFirst`. */
export function wantedOldestFirst(
  stream: KeptEvents,
  filter: TrafficFilter,
): Generator<TrafficEvent | undefined> {
  return new TrafficCursor(stream, filter, stream.first - 1).events();
}

/** How many unwanted events are skipped before the caller may pause. This takes a few µs. */
const PASSED_OVER = 64;

/**
 * Reads a stream forward from a sequence number, as fast as its caller requests, while the stream grows.
 * Nothing is read twice. Events that the stream drops before they are read are counted.
 */
export class TrafficCursor {
  readonly #stream: KeptEvents;
  readonly #filter: TrafficFilter;
  #after: number;
  #missed = 0;

  /**
   * @param after only events with higher numbers are read; a number that the stream has not reached means the
   * newest event
   */
  constructor(stream: KeptEvents, filter: TrafficFilter, after: number) {
    this.#stream = stream;
    this.#filter = filter;
    this.#after = Math.min(after, stream.last);
  }

  /** The sequence number up to which all events were searched. Another cursor that starts after it misses nothing. */
  get after(): number {
    return this.#after;
  }

  /** True if all events were searched. */
  get isAtEnd(): boolean {
    return this.#after >= this.#stream.last;
  }

  /** How many events the stream dropped before they could be looked at, wanted or not. */
  get missed(): number {
    return this.#missed;
  }

  /**
   * The wanted events up to the number `until`, oldest first. Yields undefined from time to time if none is
   * wanted, so that the caller can pause in a long search.
   */
  *events(until = this.#stream.last): Generator<TrafficEvent | undefined> {
    for (let looked = 1; this.#after < until; looked++) {
      const seq = this.#next();
      if (seq > until) return;
      this.#after = seq;
      const event = wantedAt(this.#stream, this.#filter, seq);
      if (event) yield event;
      else {
        // The event was dropped while it was being looked at.
        if (seq < this.#stream.first) this.#missed++;
        if (looked % PASSED_OVER === 0) yield undefined;
      }
    }
  }

  /** The next stored number. Dropped events are counted as missed. */
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
 * Goes back from the newest event until `count` wanted ones are found. Yields from time to time, so that the
 * caller can pause in a long search.
 * @returns the number after which these events start
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
  // Events that the stream drops from now on were not searched for, so they do not count as missed.
  return stream.first - 1;
}

/** The event with this number if it is wanted. Most events are rejected by their outline, and never read. */
function wantedAt(
  stream: KeptEvents,
  { wanted, devices }: TrafficFilter,
  seq: number,
): TrafficEvent | undefined {
  if (!wanted) return stream.read(seq);
  const outline = stream.outline(seq);
  if (!outline) return undefined;
  const facts = factsOfOutline(outline);
  const isWanted = matches(wanted, facts);
  if (isWanted === false) return undefined;
  const event = stream.read(seq);
  if (!event || isWanted) return event;
  const more = new EventFacts(event, (other) => stream.read(other), devices);
  return matches(wanted, { ...facts, more }) ? event : undefined;
}
