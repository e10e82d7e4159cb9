import { TrafficCursor, type TrafficFilter } from '../../../simulator/traffic/reading.js';
import type { ApiContext } from '../desk.js';
import { batchesOf, streamed } from './traffic-page.js';

/** Interval between two messages to a reader, in ms. */
export const INTERVAL_MS = 50;
/** Length in characters at which a message ends. At most one message of a reader is unread. */
const MESSAGE_LENGTH = 128 * 1024;

/** The events after a sequence number. */
export interface EventMessage {
  /** The message; undefined if no event passed the filter. */
  readonly bytes: Buffer | undefined;
  /** The sequence number up to which events were examined. */
  readonly until: number;
}

/**
 * Makes the messages to readers that follow the traffic. Readers with the same filter and the same position
 * share a message. Within an interval all messages end with the same event, so readers that do not lag come
 * to the same position, whenever they began.
 */
export class EventMessages {
  readonly #desk: Pick<ApiContext, 'traffic' | 'map'>;
  /** The messages of this interval, by filter and first sequence number. */
  readonly #made = new Map<string, Promise<EventMessage>>();
  #interval = -1;
  /** The last event of this interval. */
  #until = 0;

  constructor(desk: Pick<ApiContext, 'traffic' | 'map'>) {
    this.#desk = desk;
  }

  /** The sequence number up to which events may be sent now. */
  get until(): number {
    const interval = Math.floor(performance.now() / INTERVAL_MS);
    if (interval !== this.#interval) {
      this.#interval = interval;
      this.#until = this.#desk.traffic.last;
      this.#made.clear();
    }
    return this.#until;
  }

  /** The next message of a reader. @param name key of the filter; equal filters have equal names */
  after(after: number, filter: TrafficFilter, name: string): Promise<EventMessage> {
    const { until } = this;
    const key = `${after} ${name}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const message = this.#make(new TrafficCursor(this.#desk.traffic, filter, after), until);
    this.#made.set(key, message);
    // Whoever asks again gets a new attempt.
    message.catch(() => this.#made.delete(key));
    return message;
  }

  /** A message: a list of events, and at its end the identifier with which a reader reconnects. */
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

/** The line with the identifier with which a reader reconnects. */
export function idLine(after: number): string {
  return `id: ${after}\n`;
}
