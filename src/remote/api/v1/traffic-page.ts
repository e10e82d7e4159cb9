import type { NamedView } from '../../../simulator/commands/shown-values.js';
import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import type { TrafficFilter } from '../../../simulator/traffic/filter.js';
import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';
import { beginningOfNewest, TrafficCursor } from '../../../simulator/traffic/reading.js';
import type { LineMap } from '../line-map.js';
import { type LeftOut, leftOut } from './traffic-view.js';

/** Which part of the traffic a client asks for. */
interface PageQuery {
  readonly filter: TrafficFilter;
  /** The events after this one, the oldest first; the newest events when undefined. */
  readonly after: number | undefined;
  readonly limit: number;
}

/** Some events, and how many before the first of them were gone before they could be read. */
interface Batch {
  readonly events: readonly TrafficEvent[];
  readonly missed: number;
  /** Everything up to this sequence number is in this batch or those before it. */
  readonly until: number;
}

type ShowEvents = (events: readonly TrafficEvent[]) => readonly unknown[] | Promise<readonly unknown[]>;

/** So many events are shown at a time. */
const BATCH = 64;

/**
 * The wanted events of a cursor in batches; an empty batch is a pause in a long search. A gap begins a batch of its own.
 * @param cursor where the events come from
 */
export function* batchesOf(
  events: Iterable<TrafficEvent | undefined>,
  cursor: { readonly missed: number; readonly after: number },
): Generator<Batch> {
  let batch: TrafficEvent[] = [];
  let [missed, before, until] = [0, cursor.missed, cursor.after];
  const take = (gap: number) => {
    const made = { events: batch, missed, until };
    [batch, missed] = [[], gap];
    return made;
  };
  for (const event of events) {
    const gap = cursor.missed - before;
    before = cursor.missed;
    if (gap > 0) yield take(gap);
    until = cursor.after;
    if (event) batch.push(event);
    if (!event || batch.length >= BATCH) yield take(0);
  }
  const gap = cursor.missed - before;
  if (gap > 0) yield take(gap);
  until = cursor.after;
  yield take(0);
}

/** Events as REST shows them, with what is missing where it is missing. */
export async function streamed(
  { events, missed }: Batch,
  map: LineMap,
): Promise<readonly (NamedView | LeftOut)[]> {
  const views = await map.views(events);
  return missed > 0 ? [leftOut(missed), ...views] : views;
}

/**
 * A part of the traffic, the oldest event first. What happens after it was asked for belongs to the next page, which
 * begins after `next`.
 */
export class TrafficPage {
  readonly #traffic: KeptEvents;
  readonly #asked: PageQuery;
  readonly #until: number;
  #cursor: TrafficCursor;

  constructor(traffic: KeptEvents, asked: PageQuery) {
    this.#traffic = traffic;
    this.#asked = asked;
    this.#until = traffic.last;
    this.#cursor = new TrafficCursor(traffic, asked.filter, asked.after ?? this.#until);
  }

  /** What a client should pass as `after` to go on; true when all events were read. */
  get after(): number {
    return this.#cursor.after;
  }

  /** Events after the one asked for that were gone before they could be read, wanted or not. */
  get missed(): number {
    return this.#cursor.missed;
  }

  /** The wanted events in batches. */
  batches(): Generator<Batch> {
    return batchesOf(this.#events(), this);
  }

  /** The answer as an object for JSON. @param key under which the events are */
  answer(key: string, view: ShowEvents) {
    return {
      [key]: this.#views(view),
      next: () => this.after,
      first: () => this.#traffic.first,
      last: () => this.#traffic.last,
      missed: () => this.missed,
    };
  }

  async *#views(view: ShowEvents): AsyncGenerator<readonly unknown[]> {
    for (const { events } of this.batches()) yield await view(events);
  }

  *#events(): Generator<TrafficEvent | undefined> {
    const { filter, limit, after } = this.#asked;
    if (after === undefined) {
      const begin = yield* beginningOfNewest(this.#traffic, filter, limit, this.#until);
      this.#cursor = new TrafficCursor(this.#traffic, filter, begin);
    }
    let left = limit;
    for (const event of this.#cursor.events(this.#until)) {
      yield event;
      if (event && --left === 0) return;
    }
  }
}
