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

/** `/api/v1/exchanges`: the requests to our units with what became of them, as long as the traffic keeps them. */
export function exchangeRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const { traffic, lines } = simulator;

  return (app, _, done) => {
    app.get(
      '/exchanges',
      {
        schema: {
          querystring: exchangesQuery([...lines.keys()]),
          response: {
            200: z.object({ exchanges: z.array(exchangeViewSchema), ...pageFields }),
            400: errorSchema,
          },
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
