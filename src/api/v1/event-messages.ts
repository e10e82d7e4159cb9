import type { TrafficEvent } from '../../traffic/event.js';
import type { TrafficFilter } from '../../traffic/filter.js';
import { TrafficCursor } from '../../traffic/reading.js';
import type { TrafficStream } from '../../traffic/stream.js';
import type { LongAnswers } from '../long-answers.js';
import { withGaps } from './traffic-page.js';

/** Twenty messages a second at most. */
export const INTERVAL_MS = 50;
/** A message ends when it is longer than this, in characters. What a reader has not read is at most one message. */
const MESSAGE_LENGTH = 128 * 1024;

/** An event as JSON. */
export type EventText = (event: TrafficEvent) => string;

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
  readonly #stream: TrafficStream;
  readonly #eventText: EventText;
  readonly #answers: LongAnswers;
  /** The messages of this interval, by filter and beginning. */
  readonly #made = new Map<string, Promise<Message>>();
  #interval = -1;
  /** The last event of this interval. */
  #until = 0;

  constructor(stream: TrafficStream, eventText: EventText, answers: LongAnswers) {
    this.#stream = stream;
    this.#eventText = eventText;
    this.#answers = answers;
  }

  /** Everything that may be told now: up to this sequence number. */
  get until(): number {
    const interval = Math.floor(performance.now() / INTERVAL_MS);
    if (interval !== this.#interval) {
      this.#interval = interval;
      this.#until = this.#stream.last;
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
    const message = this.#make(new TrafficCursor(this.#stream, filter, after), until);
    this.#made.set(key, message);
    // Whoever comes back at once gets another try.
    message.catch(() => this.#made.delete(key));
    return message;
  }

  async #make(cursor: TrafficCursor, until: number): Promise<Message> {
    await this.#answers.turn();
    return this.#answers.work(message(cursor, until, this.#eventText));
  }
}

/** One message, as a list of all that happened. The identifier with which a reader comes back stands at the end. */
function* message(cursor: TrafficCursor, until: number, eventText: EventText): Generator<undefined, Message> {
  let text = '';
  for (const each of withGaps(cursor.events(until), cursor, eventText)) {
    for (const one of each) text += `${text === '' ? 'event: traffic\ndata: [' : ','}${one}`;
    if (text.length > MESSAGE_LENGTH) break;
    yield;
  }
  const { after } = cursor;
  return { bytes: text === '' ? undefined : Buffer.from(`${text}]\n${idLine(after)}\n`), until: after };
}

/** The number with which a reader comes back. */
export function idLine(after: number): string {
  return `id: ${after}\n`;
}
