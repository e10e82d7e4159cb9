import type { TrafficFilter } from '../../../simulator/traffic/filter.js';
import { TrafficCursor } from '../../../simulator/traffic/reading.js';
import type { ApiContext } from '../desk.js';
import { batchesOf, streamed } from './traffic-page.js';

/** Twenty messages a second at most. */
export const INTERVAL_MS = 50;
/** A message ends when it is longer than this, in characters. What a reader has not read is at most one message. */
const MESSAGE_LENGTH = 128 * 1024;

/** What happened after a sequence number. */
export interface EventMessage {
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
  readonly #desk: Pick<ApiContext, 'traffic' | 'map'>;
  /** The messages of this interval, by filter and beginning. */
  readonly #made = new Map<string, Promise<EventMessage>>();
  #interval = -1;
  /** The last event of this interval. */
  #until = 0;

  constructor(desk: Pick<ApiContext, 'traffic' | 'map'>) {
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
  after(after: number, filter: TrafficFilter, name: string): Promise<EventMessage> {
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
  async #make(cursor: TrafficCursor, until: number): Promise<EventMessage> {
    const texts: string[] = [];
    let [length, { after }] = [0, cursor];
    for (const batch of batchesOf(cursor.events(until), cursor)) {
      after = batch.until;
      for (const each of await streamed(batch, this.#desk.map)) {
        const text = JSON.stringify(each);
        texts.push(text);
        length += text.length;
      }
      if (length > MESSAGE_LENGTH) break;
    }
    const text = `event: traffic\ndata: [${texts.join()}]\n${idLine(after)}\n`;
    return { bytes: texts.length === 0 ? undefined : Buffer.from(text), until: after };
  }
}

/** The number with which a reader comes back. */
export function idLine(after: number): string {
  return `id: ${after}\n`;
}
