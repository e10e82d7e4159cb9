import type { TrafficEvent } from '../../traffic/event.js';
import type { TrafficFilter } from '../../traffic/filter.js';
import { beginningOfNewest, TrafficCursor } from '../../traffic/reading.js';
import type { TrafficStream } from '../../traffic/stream.js';
import { leftOut } from './traffic-view.js';

/** Which part of the traffic a client asks for. */
interface Asked {
  readonly filter: TrafficFilter;
  /** The events after this one, the oldest first; the newest events when undefined. */
  readonly after: number | undefined;
  readonly limit: number;
}

/**
 * A part of the traffic, the oldest event first. What happens after it was asked for belongs to the next page, which
 * begins after `next`.
 */
export class TrafficPage {
  readonly #stream: TrafficStream;
  readonly #asked: Asked;
  readonly #until: number;
  #cursor: TrafficCursor;

  constructor(stream: TrafficStream, asked: Asked) {
    this.#stream = stream;
    this.#asked = asked;
    this.#until = stream.last;
    this.#cursor = new TrafficCursor(stream, asked.filter, asked.after ?? this.#until);
  }

  /** What a client should pass as `after` to go on; true when all events were read. */
  get next(): number {
    return this.#cursor.after;
  }

  /** Events after the one asked for that were gone before they could be read, wanted or not. */
  get missed(): number {
    return this.#cursor.missed;
  }

  /** The wanted events. Yields undefined in a long search, so that the lines get their turn. */
  *events(): Generator<TrafficEvent | undefined> {
    const { filter, limit, after } = this.#asked;
    if (after === undefined) {
      const begin = yield* beginningOfNewest(this.#stream, filter, limit, this.#until);
      this.#cursor = new TrafficCursor(this.#stream, filter, begin);
    }
    let left = limit;
    for (const event of this.#cursor.events(this.#until)) {
      yield event;
      if (event && --left === 0) return;
    }
  }

  /** The answer as an object for JSON. @param key under which the events are */
  answer<View>(key: string, view: (event: TrafficEvent) => View): object {
    return {
      [key]: this.views(view),
      next: () => this.next,
      first: () => this.#stream.first,
      last: () => this.#stream.last,
      missed: () => this.missed,
    };
  }

  /** A line of JSON for each event. A line that tells of missing events stands where they are missing. */
  *ndjson(view: (event: TrafficEvent) => object): Generator<string> {
    const text = (event: TrafficEvent) => JSON.stringify(view(event));
    for (const each of withGaps(this.events(), this, text)) {
      yield each.map((line) => `${line}\n`).join('');
    }
  }

  /** Like `events`, as a client sees them. */
  *views<View>(view: (event: TrafficEvent) => View): Generator<View | undefined> {
    for (const event of this.events()) yield event && view(event);
  }
}

/**
 * Events as JSON, each together with what is missing before it, so that nobody can stop between the two. An empty list
 * is a pause in a long search.
 * @param text an event as JSON
 * @param told how many missing events were told before
 */
export function* withGaps(
  events: Iterable<TrafficEvent | undefined>,
  counted: { readonly missed: number },
  text: (event: TrafficEvent) => string,
  told = 0,
): Generator<readonly string[]> {
  let before = told;
  const gap = () => {
    const count = counted.missed - before;
    before = counted.missed;
    return count > 0 ? [JSON.stringify(leftOut(count))] : [];
  };
  for (const event of events) yield event ? [...gap(), text(event)] : [];
  yield gap();
}
