import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ApiContext } from './desk.js';

const health = z.object({ status: z.literal('ok') }).describe('The program serves.');

/**
 * Serves `/healthz`, for programs that watch this one. It asks the side of the lines, so an answer shows that
 * both threads live.
 */
export function healthRoutes({ rpc }: Pick<ApiContext, 'rpc'>): FastifyPluginCallbackZod {
  return (app, _, done) => {
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
      async () => {
        await rpc.call('program.ping', undefined);
        return { status: 'ok' as const };
      },
    );
    done();
  };
}
