import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';

const health = z.object({ status: z.literal('ok') }).describe('The program serves.');

/** `/healthz`, for who watches the program. */
export const healthRoutes: FastifyPluginCallbackZod = (app, _, done) => {
  app.get(
    '/healthz',
    {
      schema: {
        summary: 'Ask whether the program serves',
        description: 'Needs no token.',
        tags: ['program'],
        response: { 200: health },
      },
    },
    () => ({ status: 'ok' as const }),
  );
  done();
};
