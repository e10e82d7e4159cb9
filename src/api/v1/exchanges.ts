import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import { exchangeView, exchangeViewSchema } from './exchange-view.js';
import { errorSchema } from './problem.js';

const MAX_LIMIT = 1000;

const LIMIT = `a whole number from 1 to ${MAX_LIMIT}`;
const AFTER = 'the identifier of an exchange, 0 or more';

const query = z.object({
  /** How many at most. */
  limit: z.coerce
    .number({ error: LIMIT })
    .int({ error: LIMIT })
    .min(1, { error: LIMIT })
    .max(MAX_LIMIT, { error: LIMIT })
    .default(100),
  /** Only those after the exchange with this identifier. */
  after: z.coerce.number({ error: AFTER }).int({ error: AFTER }).min(0, { error: AFTER }).default(0),
});

/** `/api/v1/exchanges`: the ledger, the newest exchange first. */
export function exchangeRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get(
      '/exchanges',
      {
        schema: {
          querystring: query,
          response: { 200: z.object({ exchanges: z.array(exchangeViewSchema) }), 400: errorSchema },
        },
      },
      ({ query: { limit, after } }) => ({
        exchanges: simulator.ledger.latest(limit, after).map(exchangeView),
      }),
    );
    done();
  };
}
