import type { ServerResponse } from 'node:http';
import { type EventMessage, type EventMessages, INTERVAL_MS, idLine } from './event-messages.js';

const SUMMARY_INTERVAL_MS = 1000;
/** Longest silence in ms. A proxy between us and the reader may take a silent connection for dead. */
const HEARTBEAT_MS = 15_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Otherwise nginx would collect messages.
  'x-accel-buffering': 'no',
};

/** What a reader has asked for. */
export interface EventsWanted {
  /** The sequence number up to which the reader knows the events. */
  readonly after: number;
  /** Makes the message after a sequence number; undefined for a reader that wants no traffic. */
  readonly messageAfter: ((after: number) => Promise<EventMessage>) | undefined;
  /** Makes the summary as JSON; undefined for a reader that does not want it. */
  readonly summary: (() => Promise<string>) | undefined;
}

/**
 * Sends server-sent events until the reader disconnects. The next message is made only when the reader has
 * read the one before. So nothing is kept for a slow reader; it is told how many events it has missed.
 */
export async function sendEvents(
  response: ServerResponse,
  { after, messageAfter, summary }: EventsWanted,
  messages: Pick<EventMessages, 'until'>,
): Promise<void> {
  response.writeHead(200, HEADERS);
  // Tells the reader its position before the first event; after a broken connection it comes back a second
  // later.
  response.write(`retry: 1000\n${idLine(after)}\n`);
  let sentAt = performance.now();
  let summaryAt = sentAt;
  const send = (message: string | Buffer) => {
    if (response.destroyed) return;
    response.write(message);
    sentAt = performance.now();
  };
  while (!response.destroyed) {
    await pause(response, untilNext(INTERVAL_MS));
    if (response.destroyed || response.writableNeedDrain) continue;
    if (summary && performance.now() >= summaryAt) {
      send(`event: summary\ndata: ${await summary()}\n\n`);
      summaryAt = performance.now() + untilNext(SUMMARY_INTERVAL_MS);
    }
    if (messageAfter && after < messages.until) {
      const { bytes, until } = await messageAfter(after);
      if (bytes) send(bytes);
      after = until;
    }
    if (performance.now() - sentAt >= HEARTBEAT_MS) send(`: nothing happened\n${idLine(after)}\n`);
  }
}

/**
 * The time until the next interval, in ms. Intervals begin at the same moments for all readers, so that they
 * can share messages.
 */
function untilNext(intervalMs: number): number {
  return Math.ceil(intervalMs - (performance.now() % intervalMs));
}

/** Waits, but not longer than the connection lasts. */
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
