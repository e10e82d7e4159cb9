import { batch, effect, signal, untracked } from '@preact/signals';
import type { Answer, RemoteRefusal } from '../../../../common/rest-client/client.js';
import { ask } from '../../api.js';
import { followTraffic, readUpTo, summary } from '../../live.js';
import { CHUNK, type Chunk, Chunks, type Event, isEvent, type Row, rowsBefore } from './chunks.js';

interface FeedPage {
  readonly events: readonly Event[];
  readonly next: number;
  readonly missed: number;
}

/**
 * A page may be at most this many events behind. Beyond that it skips to the newest events, because no one
 * reads that many.
 */
const MOST_BEHIND = 10_000;
/** Number of newest events that are read after a skip. */
const FRESH = 2000;

/** Number of events on the first page, and maximum number of events per request. */
const PAGE = 2 * CHUNK;

/**
 * The traffic that passes one filter: stored, new and older events. A paused feed reads nothing and later
 * continues after the last event it has read, so nothing that the simulator still stores is lost.
 */
export class Feed {
  readonly text: string;
  /** The text as a REST parameter. */
  readonly filter: URLSearchParams;
  /** Number that changes whenever the rows have changed. */
  readonly version = signal(0);
  readonly isPaused = signal(false);
  /** Why the simulator rejected the filter. */
  readonly refusal = signal<RemoteRefusal | undefined>(undefined);
  readonly isEmpty = signal<boolean | undefined>(undefined);
  /** Number of rows added at the start in this version; negative if rows were removed. */
  shift = 0;
  rows: Chunks;
  #isBusy = false;
  #hasOlder = true;
  #generation = 0;
  #stopFollowing = () => {};

  /**
   * @param text a filter
   * @param isJoined whether a request and its reply share a row
   * @param before the feed of the previous run of the simulator; its last rows stay above
   */
  constructor(text: string, isJoined: boolean, before?: Feed) {
    this.text = text;
    this.rows = new Chunks(0, isJoined);
    this.filter = new URLSearchParams(text === '' ? {} : { filter: text });
    const now = summary.peek();
    const earlier = before && now ? rowsBefore(before.rows, now) : [];
    if (!before || earlier.length === 0) return;
    this.rows = new Chunks(0, isJoined, earlier);
    this.#hasOlder = false;
    this.isEmpty.value = false;
    // A rejection is not the user's pause: the new run may accept the filter.
    this.isPaused.value = before.isPaused.peek() && before.refusal.peek() === undefined;
  }

  /** Shows the newest events, and follows. */
  async follow(): Promise<void> {
    if (await this.#begin({ limit: PAGE })) this.resume();
  }

  /** Shows the events from a time on, and stops following. @returns the first one */
  async goTo(moment: string): Promise<Answer<Event | undefined>> {
    const answer = await this.#read({
      since: moment,
      after: 0,
      limit: PAGE,
    });
    if (!answer.ok) return answer;
    const [first] = answer.value.events;
    if (first) this.#replace(answer.value, first.seq - 1);
    return { ok: true, value: first };
  }

  /** The last event before or at a time. */
  async lastUntil(moment: string): Promise<Event | undefined> {
    const answer = await this.#read({ until: moment, limit: 1 });
    return answer.ok ? answer.value.events[0] : undefined;
  }

  /** Shows the events around one event, and stops following. */
  async goToEvent(seq: number): Promise<Event | undefined> {
    // The user may have gone elsewhere before the answer.
    if (!(await this.#begin({ after: Math.max(0, seq - CHUNK), limit: PAGE }))) return undefined;
    const index = this.rows.indexOf(seq);
    const row = index === undefined ? undefined : this.rows.rows(index, index + 1)[0];
    return isEvent(row) ? row : undefined;
  }

  /** Shows the events after one event, and stops following. */
  async goAfter(seq: number): Promise<void> {
    await this.#begin({ after: seq, limit: PAGE });
  }

  pause(): void {
    this.#stopFollowing();
    this.isPaused.value = true;
  }

  /** Continues after the last event read. */
  resume(): void {
    const filter = new URLSearchParams(this.filter);
    const stop = followTraffic({
      filter,
      after: this.rows.after,
      onBatch: (events) => this.#add(events),
      onRefused: (problem) => {
        this.refusal.value = problem;
        this.pause();
      },
    });
    const stopSkipping = effect(() => {
      const newest = summary.value?.lastSeq ?? 0;
      untracked(() => this.#skip(newest));
    });
    this.#stopFollowing = () => {
      stop();
      stopSkipping();
    };
    this.isPaused.value = false;
    this.refusal.value = undefined;
  }

  /** Reads the events after the last row, if the feed does not follow. */
  async newer(): Promise<void> {
    if (!this.isPaused.peek() || (summary.peek()?.lastSeq ?? 0) <= this.rows.after) return;
    const { after } = this.rows;
    await this.#alone(async (isCurrent) => {
      const answer = await this.#read({ after, limit: CHUNK });
      if (!answer.ok || !isCurrent() || !this.isPaused.peek()) return;
      this.#add(rowsOf(answer.value));
      this.rows.after = Math.max(this.rows.after, answer.value.next);
    });
  }

  /** Reads the events before the first row. */
  async older(): Promise<void> {
    const [first] = this.rows.rows(0, 1);
    if (!this.#hasOlder || !isEvent(first)) return;
    await this.#alone(async (isCurrent) => {
      const answer = await this.#read({ until: first.time, limit: CHUNK });
      if (!answer.ok || !isCurrent()) return;
      const count = this.rows.prepend(answer.value.events);
      this.#hasOlder = count > 0;
      this.#changed(count);
    });
  }

  /** Fetches rows between two indices that are no longer in memory. */
  fetch(from: number, to: number): void {
    for (const chunk of this.rows.missing(from, to))
      void this.#alone((isCurrent) => this.#fill(chunk, isCurrent));
  }

  /** Ends the feed; outstanding answers are dropped. */
  end(): void {
    this.#generation++;
    this.#stopFollowing();
  }

  async #begin(asked: Readonly<Record<string, string | number>>): Promise<boolean> {
    const generation = ++this.#generation;
    this.#stopFollowing();
    const answer = await this.#read(asked);
    if (generation !== this.#generation) return false;
    this.refusal.value = answer.ok ? undefined : answer.problem;
    if (answer.ok) this.#replace(answer.value, (answer.value.events[0]?.seq ?? answer.value.next + 1) - 1);
    return answer.ok;
  }

  /** Replaces all rows with those of a page. */
  #replace(page: FeedPage, after: number): void {
    this.#generation++;
    this.#stopFollowing();
    this.#hasOlder = true;
    this.rows = new Chunks(after, this.rows.isJoined);
    batch(() => {
      this.isPaused.value = true;
      this.#add(rowsOf(page));
    });
    this.rows.after = Math.max(this.rows.after, page.next);
  }

  /** Skips events if there are too many. @param newest number of the newest event */
  #skip(newest: number): void {
    const { after } = this.rows;
    if (document.hidden || newest - Math.max(after, readUpTo.peek()) <= MOST_BEHIND) return;
    this.#add([{ kind: 'skipped', after, until: newest - FRESH }]);
    queueMicrotask(() => {
      if (this.isPaused.peek()) return;
      this.#stopFollowing();
      this.resume();
    });
  }

  #add(rows: readonly Row[]): void {
    this.#changed(-this.rows.append(rows));
  }

  #changed(shift: number): void {
    this.shift = shift;
    batch(() => {
      this.isEmpty.value = this.rows.size === 0;
      this.version.value++;
    });
  }

  async #fill(chunk: Chunk, isCurrent: () => boolean): Promise<void> {
    const answer = await this.#read({ after: chunk.after, limit: Math.max(1, chunk.events) });
    if (!isCurrent() || !answer.ok) return;
    this.rows.fill(chunk, answer.value.events);
    this.#changed(0);
  }

  /** Makes one request at a time. A caller that needs more asks again once the answer is drawn. */
  async #alone(work: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    const generation = this.#generation;
    this.#isBusy = true;
    await work(() => generation === this.#generation);
    this.#isBusy = false;
  }

  #read(asked: Readonly<Record<string, string | number>>): Promise<Answer<FeedPage>> {
    const query = new URLSearchParams(this.filter);
    for (const [key, value] of Object.entries(asked)) query.set(key, String(value));
    return ask<FeedPage>('GET', `/traffic?${query}`);
  }
}

/** The rows of a page. The first row says what is missing before it. */
function rowsOf({ events, missed }: FeedPage): Row[] {
  if (missed === 0) return [...events];
  return [{ kind: 'left out', count: missed, text: `${missed} left out` }, ...events];
}
