import type { TrafficEvent } from '../../traffic/event.js';
import type { TrafficFilter } from '../../traffic/filter.js';
import { TrafficCursor } from '../../traffic/reading.js';
import type { Desk } from '../desk.js';
import { batchesOf } from './traffic-page.js';
import { leftOut } from './traffic-view.js';

/** Twenty messages a second at most. */
export const INTERVAL_MS = 50;
/** A message ends when it is longer than this, in characters. What a reader has not read is at most one message. */
const MESSAGE_LENGTH = 128 * 1024;
/** Texts of events that are kept for readers that come to the same event a little later, with another filter. */
const MOST_TEXTS = 512;

/** What happened after a sequence number. */
export interface Message {
  /** Undefined where nothing passed the filter. */
  readonly bytes: Buffer | undefined;
  /** Everything up to this sequence number was looked at. */
  readonly until: number;
}

/**
 * Makes the messages of those who follow the traffic. A message is made once for all readers that have the same filter
 * and have read equally far. Within an interval all messages end with the same event, so readers that do not lag come
 * to read equally far, whenever they began.
 */
export class EventMessages {
  readonly #desk: Pick<Desk, 'traffic' | 'map'>;
  /** The messages of this interval, by filter and beginning. */
  readonly #made = new Map<string, Promise<Message>>();
  /** The newest events as JSON, by the last digits of their sequence numbers. */
  readonly #texts: { readonly seq: number; readonly text: string }[] = [];
  #interval = -1;
  /** The last event of this interval. */
  #until = 0;

  constructor(desk: Pick<Desk, 'traffic' | 'map'>) {
    this.#desk = desk;
  }

  /** Everything that may be sent now: up to this sequence number. */
  get until(): number {
    const interval = Math.floor(performance.now() / INTERVAL_MS);
    if (interval !== this.#interval) {
      this.#interval = interval;
      this.#until = this.#desk.traffic.last;
      this.#made.clear();
    }
    return this.#until;
  }

  /** The next message of a reader. @param name the same for filters that are the same */
  after(after: number, filter: TrafficFilter, name: string): Promise<Message> {
    const { until } = this;
    const key = `${after} ${name}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const message = this.#make(new TrafficCursor(this.#desk.traffic, filter, after), until);
    this.#made.set(key, message);
    // Whoever comes back at once gets another try.
    message.catch(() => this.#made.delete(key));
    return message;
  }

  /** A list of all that happened. The identifier with which a reader comes back stands at the end. */
  async #make(cursor: TrafficCursor, until: number): Promise<Message> {
    let text = '';
    const add = (each: string) => {
      text += `${text === '' ? 'event: traffic\ndata: [' : ','}${each}`;
    };
    let { after } = cursor;
    for (const { events, missed, until: lookedAt } of batchesOf(cursor.events(until), cursor)) {
      after = lookedAt;
      if (missed > 0) add(JSON.stringify(leftOut(missed)));
      for (const each of await this.#textsOf(events)) add(each);
      if (text.length > MESSAGE_LENGTH) break;
    }
    return { bytes: text === '' ? undefined : Buffer.from(`${text}]\n${idLine(after)}\n`), until: after };
  }

  async #textsOf(events: readonly TrafficEvent[]): Promise<string[]> {
    const known = events.map(({ seq }) => {
      const kept = this.#texts[seq % MOST_TEXTS];
      return kept?.seq === seq ? kept.text : undefined;
    });
    const views = await this.#desk.map.views(events.filter((_, i) => known[i] === undefined));
    return known.map((each) => {
      if (each !== undefined) return each;
      const view = views.shift();
      const text = JSON.stringify(view);
      if (view) this.#texts[view.seq % MOST_TEXTS] = { seq: view.seq, text };
      return text;
    });
  }
}

/** The number with which a reader comes back. */
export function idLine(after: number): string {
  return `id: ${after}\n`;
}
