import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import { configurationText } from '../../simulator/written/written-configuration.js';
import type { LongAnswers } from '../long-answers.js';

const YAML = 'application/yaml';

const configurationAnswer = { description: 'A native file.', content: { [YAML]: { schema: z.string() } } };

/** `/api/v1/configuration`: a native file that makes what is running now. */
export function configurationRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get(
      '/configuration',
      {
        schema: {
          summary: 'Get the configuration that is running',
          description: 'A native file that makes what is running now, with all changes since the start.',
          tags: ['program'],
          response: { 200: configurationAnswer },
        },
      },
      async (_, reply) =>
        answers.sendText(reply, `${YAML}; charset=utf-8`, configurationText(simulator.running)),
    );
    done();
  };
}
