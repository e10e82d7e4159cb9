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
import { v1Routes } from './v1/routes.js';

const BODY_LIMIT = 256 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
/** A name of 64 characters, each of them four bytes, each of those three characters in an address. */
const LONGEST_NAME = 64 * 4 * 3;

/** The REST application, not listening: tests inject requests into it. */
export function buildApp(simulator: Simulator, rules: AccessRules, log: FastifyBaseLogger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: LONGEST_NAME },
  });
  app.removeContentTypeParser('text/plain');
  guardAccess(app, rules);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  const explain = (error: FastifyError) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error(error, 'request failed');
    return { status, text: errorText(status, error) };
  };
  app.setErrorHandler<FastifyError>((error, _, reply) => {
    const { status, text } = explain(error);
    return reply.code(status).send(failure(text));
  });
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send(failure(`${request.method} ${request.url}: no such path`)),
  );
  app.get('/healthz', () => ({ status: 'ok' }));
  restapiRoutes(app, simulator);
  app.register(v1Routes(simulator, explain), { prefix: '/api/v1' });
  return app;
}

/** What a client has to change about its request. */
function errorText(status: number, error: FastifyError): string {
  if (status >= 500) return 'internal error, see the log';
  if (status === 413) return `body: expected at most ${BODY_LIMIT} bytes`;
  if (status === 415) return 'content-type: expected application/json';
  return error.message;
}
