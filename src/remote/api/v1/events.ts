import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import type { Filter } from '../../../simulator/filter/filter.js';
import { TrafficCursor } from '../../../simulator/traffic/reading.js';
import { Places } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import type { Routes } from './route.js';
import { sumsTexts } from './sums.js';
import { batchesOf, streamed } from './traffic-page.js';
import { eventsQuery, filterOf } from './traffic-query.js';

/** Interval between two messages to a reader, in ms. */
const INTERVAL_MS = 50;
/** Length in characters at which a message ends. Each reader has at most one unread message. */
const MESSAGE_LENGTH = 128 * 1024;

const SUMMARY_INTERVAL_MS = 1000;
/** Longest silence in ms. A proxy in between may consider a silent connection dead. */
const HEARTBEAT_MS = 15_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Otherwise nginx would buffer messages.
  'x-accel-buffering': 'no',
};

const resumeHeaders = z.object({
  'last-event-id': z
    .string()
    .optional()
    .describe('The identifier of the last message. A browser that reconnects sends it automatically.'),
});

const eventsAnswer = {
  description:
    'Server-sent events, at most 20 messages a second: each is a list of events as in `/traffic`, or a summary.',
  content: { 'text/event-stream': { schema: z.string() } },
};

/** `/api/v1/events`: the traffic of the lines as it happens. */
export function eventRoutes(desk: ApiContext): Routes {
  const { traffic } = desk;
  const messages = new EventMessages(desk);
  const summary = summaryTexts(desk);
  const sumsSince = sumsTexts(desk);
  const querystring = eventsQuery(traffic.lineNames);
  const readers = new Places('readers');

  return {
    'GET /events': {
      summary: 'Follow the traffic',
      description:
        'The traffic as it happens, in a stream that never ends. A slow reader gets the number of events that it missed.',
      // An answer without a body would never end.
      exposeHeadRoute: false,
      schema: { headers: resumeHeaders, querystring },
      handle: async (request, reply) => {
        const query = request.query as z.infer<typeof querystring>;
        const { after = traffic.last, tell = ['traffic'], ...wanted } = query;
        const { 'last-event-id': lastId } = request.headers as z.infer<typeof resumeHeaders>;
        const known = lastEventId(lastId) ?? after;
        const filter = filterOf(wanted);
        const name = JSON.stringify(wanted);
        return readers.answer(request, reply, async () => {
          reply.hijack();
          try {
            await sendEvents(
              reply.raw,
              {
                // A number that the stream has not reached yet means the newest event.
                after: Math.min(known, traffic.last),
                messageAfter: tell.includes('traffic') ? (at) => messages.after(at, filter, name) : undefined,
                summary: tell.includes('summary') ? summary : undefined,
                sums: tell.includes('sums') ? sumsSince() : undefined,
              },
              messages,
            );
          } catch (error) {
            request.log.error(error, 'the events could not be sent');
          } finally {
            // The reader gets no more here; when disconnected, it reconnects.
            reply.raw.destroy();
          }
          return reply;
        });
      },
      response: {
        200: eventsAnswer,
        400: errorSchema,
        503: errorSchema.describe('The maximum number of readers is already connected.'),
      },
    },
  };
}

/** Lifetime of a summary in ms. Readers ask at the same time, so one summary serves all requests within this time. */
const FRESH_MS = 25;

/** Makes a function that returns the summary as JSON. */
function summaryTexts({ rpc }: ApiContext): () => Promise<string> {
  let [text, madeAt] = [Promise.resolve(''), Number.NEGATIVE_INFINITY];
  return () => {
    if (performance.now() - madeAt > FRESH_MS) {
      text = rpc
        .call('program.summary', undefined)
        .then((outcome) => JSON.stringify(outcome.ok ? outcome.value : {}));
      madeAt = performance.now();
    }
    return text;
  };
}

/**
 * The number in the header that a reader sends when it reconnects. Any other text is an identifier from
 * another program.
 */
function lastEventId(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** What a reader has requested. */
interface EventsWanted {
  /** The sequence number up to which the reader knows the events. */
  readonly after: number;
  /** Makes the message after a sequence number; undefined for a reader that does not want traffic. */
  readonly messageAfter: ((after: number) => Promise<EventMessage>) | undefined;
  /** Makes the summary as JSON; undefined for a reader that does not want it. */
  readonly summary: (() => Promise<string>) | undefined;
  /** Makes the sums since the last call as JSON; undefined for a reader that does not want them. */
  readonly sums: (() => string | undefined) | undefined;
}

/**
 * Sends server-sent events until the reader disconnects. The next message is produced only when the reader
 * has read the previous one. So nothing is stored for a slow reader; it learns how many events it has missed.
 */
async function sendEvents(
  response: ServerResponse,
  { after, messageAfter, summary, sums }: EventsWanted,
  messages: Pick<EventMessages, 'until'>,
): Promise<void> {
  response.writeHead(200, HEADERS);
  // Tells the reader its position before the first event; after a broken connection it reconnects a second
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
    const added = sums?.();
    if (added !== undefined) send(`event: sums\ndata: ${added}\n\n`);
    if (messageAfter && after < messages.until) {
      const { bytes, until } = await messageAfter(after);
      if (bytes) send(bytes);
      after = until;
    }
    if (performance.now() - sentAt >= HEARTBEAT_MS) send(`: nothing happened\n${idLine(after)}\n`);
  }
}

/**
 * The time until the next interval, in ms. Intervals start at the same time for all readers, so that they can
 * share messages.
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

/** The events after a sequence number. */
interface EventMessage {
  /** The message; undefined if no event passed the filter. */
  readonly bytes: Buffer | undefined;
  /** The sequence number up to which events were read. */
  readonly until: number;
}

/**
 * Makes the messages for readers that follow the traffic. Readers with the same filter and position share a
 * message. Within an interval all messages end with the same event, so readers that do not lag reach the same
 * position, whenever they started.
 */
class EventMessages {
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

  /** The next message for a reader. @param name key of the filter; equal filters have equal names */
  after(after: number, filter: Filter | undefined, name: string): Promise<EventMessage> {
    const { until } = this;
    const key = `${after} ${name}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const message = this.#make(filter, after, until);
    this.#made.set(key, message);
    // A later request tries again.
    message.catch(() => this.#made.delete(key));
    return message;
  }

  /** Makes a message: a list of events, followed by the identifier that a reader sends when it reconnects. */
  async #make(wanted: Filter | undefined, from: number, until: number): Promise<EventMessage> {
    const { traffic, map } = this.#desk;
    const cursor = new TrafficCursor(traffic, await map.filter(wanted), from);
    const texts: string[] = [];
    let [length, { after }] = [0, cursor];
    for (const batch of batchesOf(cursor.events(until), cursor)) {
      after = batch.until;
      for (const each of await streamed(batch, map)) {
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

/** The line with the identifier that a reader sends when it reconnects. */
function idLine(after: number): string {
  return `id: ${after}\n`;
}
