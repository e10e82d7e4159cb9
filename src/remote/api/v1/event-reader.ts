import type { ServerResponse } from 'node:http';
import { type EventMessage, type EventMessages, INTERVAL_MS, idLine } from './event-messages.js';

const SUMMARY_INTERVAL_MS = 1000;
/** The longest silence: somebody between us and the reader may take a silent connection for a dead one. */
const HEARTBEAT_MS = 15_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Otherwise nginx would collect messages.
  'x-accel-buffering': 'no',
};

/** What a reader wants. */
export interface EventsWanted {
  /** The reader knows everything up to this sequence number. */
  readonly after: number;
  /** The message that follows a sequence number; undefined for a reader that wants no traffic. */
  readonly messageAfter: ((after: number) => Promise<EventMessage>) | undefined;
  /** How everything is now, as JSON; undefined for a reader that does not want it. */
  readonly summary: (() => Promise<string>) | undefined;
}

/**
 * Sends what happens as server-sent events until the reader disconnects. A message is asked for only when the reader
 * has read the one before. So nothing is kept for a reader that is slow; it learns how many events it has missed.
 */
export async function sendEvents(
  response: ServerResponse,
  { after, messageAfter, summary }: EventsWanted,
  messages: Pick<EventMessages, 'until'>,
): Promise<void> {
  response.writeHead(200, HEADERS);
  // The reader learns where it is before the first event, and comes back a second after a broken connection.
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

/** Intervals begin at the same moments for all readers, so that they can share what is made for one of them. */
function untilNext(intervalMs: number): number {
  return Math.ceil(intervalMs - (performance.now() % intervalMs));
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
