import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { hex } from '../../../modbus/protocol/bytes.js';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import { TRAFFIC_COMMANDS } from '../../../simulator/commands/schemas/program.js';
import type { Filter } from '../../../simulator/filter/filter.js';
import type { ReplyEvent, TrafficEvent } from '../../../simulator/traffic/event.js';
import { TrafficCursor } from '../../../simulator/traffic/reading.js';
import { replySchema, replyView } from '../../../simulator/traffic/reply-view.js';
import {
  streamedViewSchema,
  type TrafficView,
  trafficViewSchema,
} from '../../../simulator/traffic/view-schema.js';
import { isoTime } from '../../../simulator/traffic/words.js';
import { type Sent, sendJson, sendText } from '../answers.js';
import { Places } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import type { LineMap } from '../line-map.js';
import { type Routes, routesOf } from './route.js';
import { hasNext, streamed, TrafficPage, TrafficWaits } from './traffic-page.js';
import { exchangesQuery, filterOf, trafficQuery } from './traffic-query.js';

export const exchangeViewSchema = z
  .object({
    id: z.number().describe('Sequence number of the last event of the exchange.'),
    requestId: z.number().describe('Sequence number of the request in the traffic.'),
    time: z.string().describe('When the request was received.'),
    line: z.string(),
    client: z.string().nullable(),
    host: z
      .string()
      .optional()
      .describe('The local address that the client connected to, on a line with several.'),
    unit: z.number().describe('Unit identifier of the request, as in traffic events.'),
    function: z.number().describe('Function code of the request, as in traffic events.'),
    unitId: z.number().describe('The same as `unit`, for clients that use this name.'),
    request: z.string(),
    ...replySchema,
  })
  .meta({ id: 'Exchange', description: 'A request and its outcome.' });

/** The fields of every page of traffic other than its events. */
const pageFields = {
  next: z.number().meta({ description: '`after` of the next page.', examples: [12] }),
  first: z.number().meta({ description: 'Sequence number of the oldest event kept.', examples: [1] }),
  last: z.number().meta({ description: 'Sequence number of the newest event.', examples: [12] }),
  missed: z.number().meta({
    description:
      'Events after `after` that were dropped before they could be read, whether or not they match the filter.',
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
    'application/x-ndjson': { schema: streamedViewSchema.describe('One per line.') },
    'text/csv': { schema: z.string().describe('A header and one row for each event.') },
  },
};

const CONTENT_TYPES = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

const REPLIES = { field: 'kind', texts: ['reply'] } as const;

const MANY_WAIT = errorSchema.describe('The maximum number of requests is already waiting.');

const exchangeList = z
  .object({ exchanges: z.array(exchangeViewSchema), ...pageFields })
  .describe('A page of exchanges.');

/**
 * `/api/v1/traffic`: the stored traffic of all lines. `/api/v1/exchanges`: the requests to our units with
 * their outcomes.
 */
export function trafficRoutes(desk: ApiContext): Routes {
  const { traffic, map } = desk;
  const ofTraffic = trafficQuery(traffic.lineNames);
  const ofExchanges = exchangesQuery(traffic.lineNames);
  const waits = new TrafficWaits(traffic);
  const waiting = new Places('requests that wait', 'wait');

  /** Sends the page that a query requests, at the end of its wait. */
  const sendPage = async (
    request: FastifyRequest,
    reply: FastifyReply,
    send: (page: TrafficPage) => Promise<Sent>,
    only?: Filter,
  ): Promise<Sent> => {
    await desk.caughtUp();
    const query = request.query as z.infer<typeof ofTraffic>;
    const { limit, wait } = query;
    const asked = filterOf(query);
    const filter = await map.filter(only && asked ? { all: [only, asked] } : (only ?? asked));
    // A number that the stream has not reached means the newest event now, not the newest after the wait.
    const after = query.after === undefined ? undefined : Math.min(query.after, traffic.last);
    const cursor = new TrafficCursor(traffic, filter, after ?? traffic.first - 1);
    const sendNow = () => send(new TrafficPage(traffic, { filter, after, limit }));
    if (wait === 0 || (await hasNext(cursor))) return sendNow();
    return waiting.answer(request, reply, async () => {
      await waits.until(reply.raw, cursor, wait);
      return reply.raw.closed ? reply.hijack() : sendNow();
    });
  };
  return {
    'GET /traffic': {
      summary: 'Read the traffic',
      description:
        'A page of the traffic that is still kept, oldest event first. The Accept header can also choose the format.',
      schema: { querystring: ofTraffic },
      handle: (request, reply) => {
        const { format = acceptedFormat(request.headers.accept) } = request.query as z.infer<
          typeof ofTraffic
        >;
        return sendPage(request, reply, (page) => {
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
        });
      },
      response: { 200: trafficAnswer, 400: errorSchema, 503: MANY_WAIT },
    },
    'GET /exchanges': {
      summary: 'List the exchanges',
      description:
        'Requests to simulated units and their outcomes, oldest first: the bytes, the faults, and when each piece was sent.',
      schema: { querystring: ofExchanges },
      handle: (request, reply) => {
        // Only replies pass the filter.
        const shown = (events: readonly TrafficEvent[]) => (events as ReplyEvent[]).map(exchangeView);
        const send = (page: TrafficPage) => sendJson(reply, page.answer('exchanges', shown));
        return sendPage(request, reply, send, REPLIES);
      },
      response: { 200: exchangeList, 400: errorSchema, 503: MANY_WAIT },
    },
    ...routesOf(desk, TRAFFIC_COMMANDS),
  };
}

/** A line of JSON for each event, and one for each gap where it occurs. */
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

function exchangeView(exchange: ReplyEvent): z.infer<typeof exchangeViewSchema> {
  const { seq, request, line, client, host, unitId, functionCode, requestAdu, requestedAt, at, time } =
    exchange;
  return {
    id: seq,
    requestId: request,
    time: isoTime(time - at + requestedAt),
    line,
    client: client ?? null,
    ...(host !== undefined && { host }),
    unit: unitId,
    function: functionCode,
    unitId,
    request: hex(requestAdu),
    ...replyView(exchange),
  };
}

type TrafficRow = Partial<TrafficView>;

/** The columns of traffic as CSV, and how their values are computed; undefined and null are empty. */
const COLUMNS: Readonly<Record<string, (row: TrafficRow) => unknown>> = {
  seq: ({ seq }) => seq,
  line: ({ line }) => line,
  kind: ({ kind }) => kind,
  direction: ({ direction }) => direction,
  time: ({ time }) => time,
  monotonicUs: ({ monotonicUs }) => monotonicUs,
  pauseUs: ({ pauseUs }) => pauseUs,
  pauseCharacters: ({ pauseCharacters }) => pauseCharacters,
  unit: ({ unit }) => unit,
  function: ({ function: functionCode }) => functionCode,
  name: ({ name }) => name,
  address: ({ address }) => address,
  quantity: ({ quantity }) => quantity,
  values: ({ values }) => values?.join(' '),
  names: ({ names }) => names?.join(' '),
  exception: ({ exception }) => exception,
  request: ({ request }) => request,
  responseTimeUs: ({ responseTimeUs }) => responseTimeUs,
  faults: ({ faults }) => faults?.map(({ rule, kind }) => `${rule}: ${kind}`).join('; '),
  ended: ({ ended }) => ended,
  client: ({ client }) => client,
  bytes: ({ bytes }) => bytes,
  text: ({ text }) => text,
  host: ({ host }) => host,
};

/** The header row (RFC 4180). */
const CSV_HEADER = rowOf(Object.keys(COLUMNS));

export function csvOf(views: readonly TrafficRow[]): string {
  return views.map((view) => rowOf(Object.values(COLUMNS).map((cell) => cell(view)))).join('');
}

function rowOf(cells: readonly unknown[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: unknown): string {
  const text = cell === undefined || cell === null ? '' : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
