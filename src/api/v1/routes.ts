import type { FastifyError, FastifyPluginCallback } from 'fastify';
import { sectionOf } from '../../schema/parts.js';
import { expectedMessage } from '../../schema/problem.js';
import type { Simulator } from '../../simulator/simulator.js';
import { deviceRoutes } from './devices.js';
import { exchangeRoutes } from './exchanges.js';
import { faultRoutes } from './faults.js';
import { lineRoutes } from './lines.js';
import { portRoutes } from './ports.js';
import { errorBody } from './problem.js';
import { registerRoutes } from './registers.js';
import { signalRoutes } from './signals.js';

/** What went wrong before a route was reached, or in it, as a status and words for the client. */
export type ExplainError = (error: FastifyError) => { readonly status: number; readonly text: string };

/** `/api/v1`: the interface of our own. Every error has the same body: a text, and the places of the mistakes. */
export function v1Routes(simulator: Simulator, explain: ExplainError): FastifyPluginCallback {
  return (app, _, done) => {
    acceptEmptyBodies(app);
    app.setErrorHandler<FastifyError>((error, request, reply) => {
      const { status, text } = explain(error);
      const problems = error.validation?.map(({ instancePath, message }) => ({
        path: instancePath.slice(1).replaceAll('/', '.'),
        message: expectedMessage(String(message), foundInQuery(request.query, instancePath.slice(1))),
      }));
      return reply.code(status).send(errorBody(problems ?? [{ path: '', message: text }]));
    });
    app.setNotFoundHandler((request, reply) =>
      reply
        .code(404)
        .send(errorBody([{ path: '', message: `${request.method} ${request.url}: no such path` }])),
    );
    for (const routes of [
      deviceRoutes,
      registerRoutes,
      signalRoutes,
      lineRoutes,
      portRoutes,
      faultRoutes,
      exchangeRoutes,
    ])
      app.register(routes(simulator));
    done();
  };
}

/** What a query says under a key: numbers as such, other text as text. Queries are all that schemas of routes refuse. */
function foundInQuery(query: unknown, key: string): unknown {
  const found = sectionOf(query, key);
  return typeof found === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(found) ? Number(found) : found;
}

/** Many clients send the header of a JSON body with every request, those without a body included. */
function acceptEmptyBodies(app: Parameters<FastifyPluginCallback>[0]): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, parsed) => {
    if (body === '') parsed(null, undefined);
    else parse(request, String(body), parsed);
  });
}
