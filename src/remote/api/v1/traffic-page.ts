import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';
import { beginningOfNewest, TrafficCursor, type TrafficFilter } from '../../../simulator/traffic/reading.js';
import { type LeftOut, leftOut, type TrafficView } from '../../../simulator/traffic/view-schema.js';
import { whenClosed } from '../connection-limit.js';
import type { LineMap } from '../line-map.js';

/** The part of the traffic that a client requests. */
interface PageQuery {
  readonly filter: TrafficFilter;
  /** Sequence number after which the page starts, oldest event first; undefined for the newest events. */
  readonly after: number | undefined;
  readonly limit: number;
}

/** Some events, and how many events before the first of them could no longer be read. */
interface Batch {
  readonly events: readonly TrafficEvent[];
  readonly missed: number;
  /** Sequence number up to which this batch and the previous ones are complete. */
  readonly until: number;
}

type ShowEvents = (events: readonly TrafficEvent[]) => readonly unknown[] | Promise<readonly unknown[]>;

/** How many events are shown at a time. */
const EVENTS_PER_PIECE = 64;

/**
 * The events of a cursor in batches. An empty batch is a pause in a long search. A gap starts a new batch.
 * @param cursor the position of `events`
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
    if (!event || batch.length >= EVENTS_PER_PIECE) yield take(0);
  }
  const gap = cursor.missed - before;
  if (gap > 0) yield take(gap);
  until = cursor.after;
  yield take(0);
}

/** Events as REST shows them; gaps are reported where they occur. */
export async function streamed(
  { events, missed }: Batch,
  map: LineMap,
): Promise<readonly (TrafficView | LeftOut)[]> {
  const views = await map.views(events);
  return missed > 0 ? [leftOut(missed), ...views] : views;
}

/** Whether a cursor has another wanted event. In a long search, lets other requests have their turn. */
export async function hasNext(cursor: TrafficCursor): Promise<boolean> {
  for (const event of cursor.events()) {
    if (event) return true;
    await nextTurn();
  }
  return false;
}

/** Minimum time in ms between two checks of the traffic: a busy line reports an event at most this often. */
const LOOK_EVERY_MS = 10;

/** Requests that wait for traffic. Together they ask the line side for its next event once. */
export class TrafficWaits {
  readonly #traffic: KeptEvents;
  #news: Promise<void> | undefined;

  constructor(traffic: KeptEvents) {
    this.#traffic = traffic;
  }

  /** Resolves when the cursor has another wanted event, after `ms`, or when the client disconnects. */
  async until(response: ServerResponse, cursor: TrafficCursor, ms: number): Promise<void> {
    const over = new AbortController();
    const end = () => over.abort();
    const ended = new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve()));
    const timer = setTimeout(end, ms);
    whenClosed(response, end);
    while (!over.signal.aborted) {
      if (cursor.isAtEnd) await Promise.race([this.#next(cursor.after), ended]);
      if (await hasNext(cursor)) break;
      await Promise.race([sleep(LOOK_EVERY_MS), ended]);
    }
    clearTimeout(timer);
  }

  #next(after: number): Promise<void> {
    this.#news ??= this.#traffic.next(after).finally(() => {
      this.#news = undefined;
    });
    return this.#news;
  }
}

/**
 * A part of the traffic, oldest event first. Events after the request belong to the next page, which starts
 * after `next`.
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

  /** The value of `after` for the next page. It is final when all events have been read. */
  get after(): number {
    return this.#cursor.after;
  }

  /** How many events after the requested one could no longer be read, whether or not they match the filter. */
  get missed(): number {
    return this.#cursor.missed;
  }

  /** The matching events in batches. */
  batches(): Generator<Batch> {
    return batchesOf(this.#events(), this);
  }

  /** The answer as an object for JSON. @param key name of the member with the events */
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
