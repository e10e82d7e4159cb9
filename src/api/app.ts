import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  LogController,
} from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Simulator } from '../simulator/simulator.js';
import { type AccessRules, guardAccess } from './guard.js';
import { failure } from './restapi/outcome.js';
import { restapiRoutes } from './restapi/routes.js';
import { exchangeRoutes } from './v1/exchanges.js';
import { faultRoutes } from './v1/faults.js';

const BODY_LIMIT = 256 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

/** The REST application, not listening: tests inject requests into it. */
export function buildApp(simulator: Simulator, rules: AccessRules, log: FastifyBaseLogger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
  });
  app.removeContentTypeParser('text/plain');
  guardAccess(app, rules);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler<FastifyError>((error, _, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error(error, 'request failed');
    return reply.code(status).send(failure(status >= 500 ? 'internal error, see the log' : error.message));
  });
  app.setNotFoundHandler((request, reply) => reply.code(404).send(failure(`${request.url}: no such path`)));
  app.get('/healthz', () => ({ status: 'ok' }));
  restapiRoutes(app, simulator);
  for (const routes of [faultRoutes, exchangeRoutes]) app.register(routes(simulator), { prefix: '/api/v1' });
  return app;
}
