import type { ServerResponse } from 'node:http';
import type { TrafficEvent } from '../../traffic/event.js';
import type { TrafficCursor } from '../../traffic/reading.js';
import type { LongAnswers } from '../long-answers.js';
import { withGaps } from './traffic-page.js';

/** Twenty messages a second at most. */
const INTERVAL_MS = 50;
const SUMMARY_INTERVAL_MS = 1000;
/** The longest silence: somebody between us and the reader may take a silent connection for a dead one. */
const HEARTBEAT_MS = 15_000;
/** A message ends when it is longer than this, in characters. What a reader has not read is at most one message. */
const MESSAGE_LENGTH = 128 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Otherwise nginx would collect messages.
  'x-accel-buffering': 'no',
};

/** An event as JSON. */
export type EventText = (event: TrafficEvent) => string;

/** What a reader is told. */
export interface Told {
  /** Where in the traffic the reader is. */
  readonly cursor: TrafficCursor;
  /** Undefined for a reader that is told no traffic. */
  readonly eventText: EventText | undefined;
  /** How everything is now; undefined for a reader that is not told. */
  readonly summary: (() => object) | undefined;
}

/**
 * Sends what happens as server-sent events until the reader disconnects. Events are read from the stream when they
 * are sent, and only when the reader has read what was sent before. So nothing is kept for a reader that is slow; it is
 * told how many events it has missed.
 */
export async function sendEvents(
  response: ServerResponse,
  { cursor, eventText, summary }: Told,
  answers: LongAnswers,
): Promise<void> {
  response.writeHead(200, HEADERS);
  // The reader learns where it is before the first event, and comes back a second after a broken connection.
  response.write(`retry: 1000\n${idLine(cursor)}\n`);
  const reader = eventText && { cursor, eventText, told: 0 };
  let sentAt = performance.now();
  let summaryAt = sentAt;
  while (!response.destroyed) {
    await pause(response, INTERVAL_MS);
    if (response.destroyed || response.writableNeedDrain) continue;
    if (summary && performance.now() >= summaryAt) {
      response.write(`event: summary\ndata: ${JSON.stringify(summary())}\n\n`);
      sentAt = performance.now();
      summaryAt = sentAt + SUMMARY_INTERVAL_MS;
    }
    if (reader && !cursor.isAtEnd) {
      for await (const slice of answers.slices(message(reader))) {
        if (slice === '' || response.destroyed) continue;
        response.write(slice);
        sentAt = performance.now();
      }
    }
    if (performance.now() - sentAt >= HEARTBEAT_MS && !response.destroyed) {
      response.write(`: nothing happened\n${idLine(cursor)}\n`);
      sentAt = performance.now();
    }
  }
}

interface Reader {
  readonly cursor: TrafficCursor;
  readonly eventText: EventText;
  /** How many events the reader was told to have missed. */
  told: number;
}

/**
 * One message with all that happened since the last one, as a list. The identifier stands at the end, where it is known;
 * a message that is cut short has none and does not count.
 */
function* message(reader: Reader): Generator<string> {
  const { cursor, eventText } = reader;
  let [separator, length] = ['event: traffic\ndata: [', 0];
  for (const each of withGaps(cursor.events(), cursor, eventText, reader.told)) {
    let text = '';
    for (const one of each) {
      text += separator + one;
      separator = ',';
    }
    if (text !== '') reader.told = cursor.missed;
    yield text;
    length += text.length;
    if (length > MESSAGE_LENGTH) break;
  }
  if (length > 0) yield `]\n${idLine(cursor)}\n`;
}

function idLine({ after }: TrafficCursor): string {
  return `id: ${after}\n`;
}

/** Waits, but no longer than the connection lasts. */
function pause(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once('close', done);
  });
}
