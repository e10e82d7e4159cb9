import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import type { LongAnswers } from '../long-answers.js';
import { errorSchema } from './problem.js';
import { csvOf } from './traffic-csv.js';
import { TrafficPage } from './traffic-page.js';
import { filterOf, trafficQuery } from './traffic-query.js';
import { namedViews, streamedViewSchema, trafficViewSchema } from './traffic-view.js';

/** What every page of traffic says besides its events. */
export const pageFields = {
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

/** `/api/v1/traffic`: everything that passed the lines, as long as it is kept. */
export function trafficRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const { traffic } = simulator;
  const view = namedViews(simulator);

  return (app, _, done) => {
    app.get(
      '/traffic',
      {
        schema: {
          summary: 'Read the traffic',
          description:
            'A page of everything that passed the lines and is still kept, the oldest event first. Formats may be asked for by Accept, too.',
          tags: ['traffic'],
          querystring: trafficQuery(traffic.lineNames),
          response: { 200: trafficAnswer, 400: errorSchema },
        },
      },
      async ({ query, headers }, reply) => {
        const { after, limit, format = acceptedFormat(headers.accept) } = query;
        const page = new TrafficPage(traffic, { filter: filterOf(query), after, limit });
        switch (format) {
          case 'json':
            return answers.send(reply, page.answer('events', view));
          case 'ndjson':
            return answers.sendText(reply, CONTENT_TYPES.ndjson, page.ndjson(view));
          case 'csv':
            return answers.sendText(reply, CONTENT_TYPES.csv, csvOf(page.views(view)));
        }
      },
    );

    const clearing = {
      summary: 'Forget the traffic',
      description: 'Exchanges are forgotten with it. Sequence numbers go on.',
      tags: ['traffic'],
      response: { 204: z.null().describe('Nothing is kept any more.') },
    };
    app.delete('/traffic', { schema: clearing }, async (_, reply) => {
      traffic.clear();
      return reply.code(204).send(null);
    });
    done();
  };
}

const FORMATS: ReadonlyMap<string, 'json' | 'ndjson' | 'csv'> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['text/csv', 'csv'],
]);

/** The format of the first media type in an Accept header that there is; JSON when there is none. */
function acceptedFormat(accept = ''): 'json' | 'ndjson' | 'csv' {
  for (const range of accept.split(',')) {
    const format = FORMATS.get((range.split(';')[0] as string).trim().toLowerCase());
    if (format) return format;
  }
  return 'json';
}
