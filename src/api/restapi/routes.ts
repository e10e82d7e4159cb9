import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { isMapping } from '../../schema/parts.js';
import { expectedMessage, quote } from '../../schema/problem.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { LongAnswers } from '../long-answers.js';
import { CallsEndpoint, callsAnswerSchema } from './calls.js';
import { LogEndpoint, logAnswerSchema } from './log.js';
import { failure, failureSchema } from './outcome.js';
import { handleRegisters, registersAnswerSchema } from './registers.js';
import { handleServer, serverAnswerSchema } from './server.js';

interface Endpoint {
  /** What it answers besides failures. */
  readonly answer: z.ZodType;
  readonly handle: (body: object) => object | Promise<object>;
}

/**
 * The REST interface of pymodbus' simulator. Its clients expect mistakes in a body to be answered with status 200 and
 * `result: "error"`. HTTP's own errors keep their status, with the same kind of body. For this reason the endpoints
 * check bodies, not the schemas of the routes.
 */
export function restapiRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const calls = new CallsEndpoint(simulator);
  const log = new LogEndpoint(simulator);
  const endpoints: Readonly<Record<string, Endpoint>> = {
    registers: { answer: registersAnswerSchema, handle: (body) => handleRegisters(simulator, body) },
    calls: { answer: callsAnswerSchema, handle: (body) => calls.handle(body) },
    server: { answer: serverAnswerSchema, handle: (body) => handleServer(simulator, body) },
    log: { answer: logAnswerSchema, handle: (body) => log.handle(body) },
  };
  return (app, _, done) => {
    for (const [name, { answer, handle }] of Object.entries(endpoints)) {
      const response = { 200: z.union([failureSchema, answer]), 400: failureSchema };
      app.post(`/${name}`, { schema: { response } }, async ({ body }, reply) => {
        if (body === undefined) reply.code(400);
        if (!isMapping(body)) return reply.send(failure(`body: ${expectedMessage('a JSON object', body)}`));
        return answers.send(reply, await handle(body));
      });
    }
    const unknown = { params: z.object({ endpoint: z.string() }), response: { 200: failureSchema } };
    app.post('/:endpoint', { schema: unknown }, async ({ params: { endpoint } }) =>
      failure(`${quote(endpoint)}: no such endpoint, expected ${Object.keys(endpoints).join(', ')}`),
    );
    done();
  };
}
