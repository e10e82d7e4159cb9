import { type Filter, matches } from '../filter/filter.js';
import type { EventKind, EventOf, TrafficEvent } from './event.js';
import { type DevicesInFilters, EventFacts, factsOfOutline } from './facts.js';
import type { KeptEvents } from './kept-events.js';

/** Which events are wanted. */
export interface TrafficFilter {
  /** All events without it. */
  readonly wanted?: Filter | undefined;
  /** What it asks of devices; absent where it does not. */
  readonly devices?: DevicesInFilters | undefined;
}

/** A range of sequence numbers. */
interface Span {
  /** Only events with higher numbers are read; all when absent. */
  readonly after?: number;
  /** No event with a higher number is read; without it, reading ends at the newest one. */
  readonly until?: number;
}

/**
 * The events of some kinds, the newest first. Each is read when it is requested, so a slow reader keeps
 * nothing in memory. Events that the stream has dropped meanwhile are left out.
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
 * The events that pass a filter, the newest first, read like those of `newestFirst`. Sometimes yields
 * undefined while none passes, so that the caller can pause in a long search.
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

/** All events that pass a filter, the oldest first, read like those of `newestFirst`. */
export function wantedOldestFirst(
  stream: KeptEvents,
  filter: TrafficFilter,
): Generator<TrafficEvent | undefined> {
  return new TrafficCursor(stream, filter, stream.first - 1).events();
}

/** The number of unwanted events that are passed over before the caller may pause. They take a few µs. */
const PASSED_OVER = 64;

/**
 * Reads a stream forward from a sequence number, as fast as its caller asks, while the stream grows. Nothing
 * is read twice. Events that the stream drops before they are read are counted.
 */
export class TrafficCursor {
  readonly #stream: KeptEvents;
  readonly #filter: TrafficFilter;
  #after: number;
  #missed = 0;

  /**
   * @param after only events with higher numbers are read; a number that the stream has not reached stands
   * for the newest event
   */
  constructor(stream: KeptEvents, filter: TrafficFilter, after: number) {
    this.#stream = stream;
    this.#filter = filter;
    this.#after = Math.min(after, stream.last);
  }

  /**
   * The sequence number up to which everything was looked at. Another cursor that begins after it misses
   * nothing.
   */
  get after(): number {
    return this.#after;
  }

  /** True when everything was looked at. */
  get isAtEnd(): boolean {
    return this.#after >= this.#stream.last;
  }

  /**
   * How many events the stream has dropped before they could be looked at, whether or not the filter wanted
   * them.
   */
  get missed(): number {
    return this.#missed;
  }

  /**
   * The wanted events up to the number `until`, the oldest first. Sometimes yields undefined while none is
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
        // The event was dropped while it was looked at.
        if (seq < this.#stream.first) this.#missed++;
        if (looked % PASSED_OVER === 0) yield undefined;
      }
    }
  }

  /** The next number that is kept. Dropped events are counted as missed. */
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
 * Goes back from the newest event until `count` wanted ones are found. Sometimes yields, so that the caller
 * can pause in a long search.
 * @returns the number after which these events begin
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
  // Events that the stream drops from now on were not looked at, so they do not count as missed.
  return stream.first - 1;
}

/** The event of a number if it is wanted. Most events are rejected by their outline, and never read. */
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
