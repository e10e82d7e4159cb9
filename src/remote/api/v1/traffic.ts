import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refusal } from '../../../simulator/commands/refusal.js';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import { TRAFFIC_COMMANDS } from '../../../simulator/commands/schemas/program.js';
import type { EventKind, ReplyEvent } from '../../../simulator/traffic/event.js';
import { TrafficCursor } from '../../../simulator/traffic/reading.js';
import { streamedViewSchema, trafficViewSchema } from '../../../simulator/traffic/view-schema.js';
import { refuse, sendJson, sendText } from '../answers.js';
import { StayingAnswers } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import type { LineMap } from '../line-map.js';
import { exchangeView, exchangeViewSchema } from './exchange-view.js';
import { type Routes, routesOf } from './route.js';
import { CSV_HEADER, csvOf } from './traffic-csv.js';
import { hasNext, streamed, TrafficPage, TrafficWaits } from './traffic-page.js';
import { exchangesQuery, filterOf, trafficQuery } from './traffic-query.js';

/** The fields of every page of traffic besides its events. */
const pageFields = {
  next: z.number().meta({ description: '`after` of the next page.', examples: [12] }),
  first: z.number().meta({ description: 'Sequence number of the oldest event that is kept.', examples: [1] }),
  last: z.number().meta({ description: 'Sequence number of the newest event.', examples: [12] }),
  missed: z.number().meta({
    description: 'Events after `after` that were given up before they could be read, wanted or not.',
    examples: [0],
  }),
};

const trafficPage = z
  .object({ events: z.array(trafficViewSchema), ...pageFields })
  .describe('A page of events.');

/** A page of events in each of its formats. */
const trafficAnswer = {
  description: 'A page of events.',
  content: {
    'application/json': { schema: trafficPage },
    'application/x-ndjson': { schema: streamedViewSchema.describe('One in each line.') },
    'text/csv': { schema: z.string().describe('A header, and a row for each event.') },
  },
};

const CONTENT_TYPES = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

const REPLIES = new Set(['reply'] as const);

const MANY_WAIT = errorSchema.describe('As many requests wait as are allowed.');

const exchangeList = z
  .object({ exchanges: z.array(exchangeViewSchema), ...pageFields })
  .describe('A page of exchanges.');

/**
 * `/api/v1/traffic`: the traffic of all lines that is still kept. `/api/v1/exchanges`: the requests to our
 * units with their outcomes.
 */
export function trafficRoutes(desk: ApiContext): Routes {
  const { traffic, map } = desk;
  const ofTraffic = trafficQuery(traffic.lineNames);
  const ofExchanges = exchangesQuery(traffic.lineNames);
  const waits = new TrafficWaits(traffic);
  const waiting = new StayingAnswers();

  /** The page that a query asks for, at the end of its wait; or the refusal, which is sent. */
  const pageOf = async (
    request: FastifyRequest,
    reply: FastifyReply,
    kinds?: ReadonlySet<EventKind>,
  ): Promise<TrafficPage | FastifyReply> => {
    await desk.caughtUp();
    const query = request.query as z.infer<typeof ofTraffic>;
    const { limit, wait } = query;
    const filter = { ...filterOf(query), ...(kinds && { kinds }) };
    // A number that the stream has not reached yet means the newest event of now, not that of after the wait.
    const after = query.after === undefined ? undefined : Math.min(query.after, traffic.last);
    const cursor = new TrafficCursor(traffic, filter, after ?? traffic.first - 1);
    if (wait > 0 && !(await hasNext(cursor))) {
      const most = waiting.limitReached(request.server.server);
      if (most !== undefined) {
        const message = `expected at most ${most} requests that wait, and so many are waiting`;
        return refuse(request, reply, refusal('readers.too_many', 'wait', message));
      }
      await waits.until(reply.raw, cursor, wait).finally(waiting.begin().end);
    }
    return new TrafficPage(traffic, { filter, after, limit });
  };
  return {
    'GET /traffic': {
      summary: 'Read the traffic',
      description:
        'A page of everything that passed the lines and is still kept, the oldest event first. Formats may be asked for by Accept, too.',
      schema: { querystring: ofTraffic },
      handle: async (request, reply) => {
        const page = await pageOf(request, reply);
        if (!(page instanceof TrafficPage)) return page;
        const { format = acceptedFormat(request.headers.accept) } = request.query as z.infer<
          typeof ofTraffic
        >;
        switch (format) {
          case 'json':
            return sendJson(
              reply,
              page.answer('events', (events) => map.views(events)),
            );
          case 'ndjson':
            return sendText(reply, CONTENT_TYPES.ndjson, ndjsonOf(page, map));
          case 'csv':
            return sendText(reply, CONTENT_TYPES.csv, csvPieces(page, map));
        }
      },
      response: { 200: trafficAnswer, 400: errorSchema, 503: MANY_WAIT },
    },
    'GET /exchanges': {
      summary: 'List the exchanges',
      description:
        'Requests to our units and what became of them, the oldest first: the bytes, the faults, and when each piece left.',
      schema: { querystring: ofExchanges },
      handle: async (request, reply) => {
        const page = await pageOf(request, reply, REPLIES);
        if (!(page instanceof TrafficPage)) return page;
        // The filter passes replies only.
        return sendJson(
          reply,
          page.answer('exchanges', (events) => (events as ReplyEvent[]).map(exchangeView)),
        );
      },
      response: { 200: exchangeList, 400: errorSchema, 503: MANY_WAIT },
    },
    ...routesOf(desk, TRAFFIC_COMMANDS),
  };
}

/** A line of JSON for each event, and one for each gap where it is. */
async function* ndjsonOf(page: TrafficPage, map: LineMap): AsyncGenerator<string> {
  for (const batch of page.batches()) {
    const lines = await streamed(batch, map);
    yield lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }
}

async function* csvPieces(page: TrafficPage, map: LineMap): AsyncGenerator<string> {
  yield CSV_HEADER;
  for (const { events } of page.batches()) yield csvOf(await map.views(events));
}

const FORMATS: ReadonlyMap<string, 'json' | 'ndjson' | 'csv'> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['text/csv', 'csv'],
]);

/** The format of the first known media type in an Accept header; JSON if there is none. */
function acceptedFormat(accept = ''): 'json' | 'ndjson' | 'csv' {
  for (const range of accept.split(',')) {
    const format = FORMATS.get((range.split(';')[0] as string).trim().toLowerCase());
    if (format) return format;
  }
  return 'json';
}
