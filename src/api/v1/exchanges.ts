import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import type { ReplyEvent, TrafficEvent } from '../../traffic/event.js';
import type { LongAnswers } from '../long-answers.js';
import { exchangeView, exchangeViewSchema } from './exchange-view.js';
import { errorSchema } from './problem.js';
import { pageFields } from './traffic.js';
import { TrafficPage } from './traffic-page.js';
import { exchangesQuery, filterOf } from './traffic-query.js';

const REPLIES = new Set(['reply'] as const);

const exchangeList = z
  .object({ exchanges: z.array(exchangeViewSchema), ...pageFields })
  .describe('A page of exchanges.');

/** `/api/v1/exchanges`: the requests to our units with what became of them, as long as the traffic keeps them. */
export function exchangeRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const { traffic } = simulator;

  return (app, _, done) => {
    app.get(
      '/exchanges',
      {
        schema: {
          summary: 'List the exchanges',
          description:
            'Requests to our units and what became of them, the oldest first: the bytes, the faults, and when each piece left.',
          tags: ['traffic'],
          querystring: exchangesQuery(traffic.lineNames),
          response: { 200: exchangeList, 400: errorSchema },
        },
      },
      async ({ query }, reply) => {
        const { after, limit } = query;
        const page = new TrafficPage(traffic, {
          filter: { ...filterOf(query), kinds: REPLIES },
          after,
          limit,
        });
        return answers.send(reply, page.answer('exchanges', viewReply));
      },
    );
    done();
  };
}

/** Only replies pass the filter. */
function viewReply(event: TrafficEvent) {
  return exchangeView(event as ReplyEvent);
}
