import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import type { Simulator } from '../../simulator/simulator.js';
import { configurationText } from '../../simulator/written/written-configuration.js';
import type { LongAnswers } from '../long-answers.js';

/** `/api/v1/configuration`: a native file that makes what is running now. */
export function configurationRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get('/configuration', async (_, reply) =>
      answers.sendText(reply, 'application/yaml; charset=utf-8', configurationText(simulator.running)),
    );
    done();
  };
}
