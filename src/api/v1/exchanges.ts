import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import { exchangeView, exchangeViewSchema } from './exchange-view.js';

const MAX_LIMIT = 1000;

const query = z.object({
  /** How many at most. */
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(100),
  /** Only those after the exchange with this identifier. */
  after: z.coerce.number().int().min(0).default(0),
});

/** `/api/v1/exchanges`: the ledger, the newest exchange first. */
export function exchangeRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get(
      '/exchanges',
      {
        schema: {
          querystring: query,
          response: { 200: z.object({ exchanges: z.array(exchangeViewSchema) }) },
        },
      },
      ({ query: { limit, after } }) => ({
        exchanges: simulator.ledger.latest(limit, after).map(exchangeView),
      }),
    );
    done();
  };
}
