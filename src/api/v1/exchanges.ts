import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UNLIMITED, wholeNumber } from '../../schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { ReplyEvent } from '../../traffic/event.js';
import { newestFirst } from '../../traffic/reading.js';
import type { LongAnswers } from '../long-answers.js';
import { exchangeView, exchangeViewSchema } from './exchange-view.js';
import { errorSchema } from './problem.js';
import { inQuery } from './query.js';

const MAX_LIMIT = 1000;

const query = z.object({
  limit: inQuery(wholeNumber(1, MAX_LIMIT)).default(100).describe('How many at most.'),
  after: inQuery(wholeNumber(0, UNLIMITED, 'the identifier of an exchange'))
    .default(0)
    .describe('Only those after the exchange with this identifier.'),
});

const exchangeList = z.object({ exchanges: z.array(exchangeViewSchema) }).describe('The exchanges.');

/** `/api/v1/exchanges`: the exchanges in the traffic, the newest exchange first. */
export function exchangeRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get(
      '/exchanges',
      {
        schema: {
          summary: 'List the exchanges',
          description:
            'Requests and what became of them, the newest first: the bytes, the faults that acted, and when each piece left.',
          tags: ['traffic'],
          querystring: query,
          response: { 200: exchangeList, 400: errorSchema },
        },
      },
      async ({ query: { limit, after } }, reply) =>
        answers.send(reply, {
          exchanges: exchangeViews(newestFirst(simulator.traffic, ['reply'], { after }), limit),
        }),
    );
    done();
  };
}

function* exchangeViews(
  exchanges: Iterable<ReplyEvent>,
  limit: number,
): Generator<ReturnType<typeof exchangeView>> {
  let left = limit;
  for (const exchange of exchanges) {
    if (left-- === 0) return;
    yield exchangeView(exchange);
  }
}
