import type { FastifyPluginCallback } from 'fastify';
import { z } from 'zod';
import { isMapping } from '../../common/schema/parts.js';
import { expectedMessage, quote } from '../../common/schema/problem.js';
import { JSON_TYPE, sendJson, sendText } from '../../remote/api/answers.js';
import type { ApiContext } from '../../remote/api/desk.js';
import { failure, failureSchema } from '../../remote/api/error-answer.js';
import { CALLS_REQUESTS, CallsEndpoint, callsAnswerSchema } from './calls.js';
import { LOG_REQUESTS, LogEndpoint, logAnswerSchema } from './log.js';
import { handleRegisters, REGISTERS_REQUESTS, registersAnswerSchema } from './registers.js';
import { handleServer, SERVER_REQUESTS, serverAnswerSchema } from './server.js';

const TAGS = ['pymodbus'];

interface RestapiRoute {
  readonly summary: string;
  readonly description: string;
  readonly describedBody?: z.ZodType;
  /** The schema of its answers, except failures. */
  readonly answer: z.ZodType;
  /** @returns the answer, or its JSON in pieces */
  readonly handle: (body: object) => Promise<object | Iterable<string>>;
}

/**
 * Serves the REST interface of pymodbus' simulator. Its clients expect a mistake in a body to be answered
 * with status 200 and `result: "error"`. HTTP's own errors keep their status, with the same kind of body.
 * That is why the endpoints, rather than the route schemas, validate bodies.
 */
export function restapiRoutes(desk: ApiContext): FastifyPluginCallback {
  const calls = new CallsEndpoint(desk);
  const log = new LogEndpoint(desk);
  const endpoints: Readonly<Record<string, RestapiRoute>> = {
    registers: {
      summary: 'Read registers, or set one',
      description:
        'Reading runs no actions and changes no counters. Setting works even where clients may not write.',
      describedBody: REGISTERS_REQUESTS.described,
      answer: registersAnswerSchema,
      handle: (body) => handleRegisters(desk.rpc, body),
    },
    calls: {
      summary: 'Simulate responses, or list calls',
      description: 'Every answer contains the whole state. The simulation acts on all lines.',
      describedBody: CALLS_REQUESTS.described,
      answer: callsAnswerSchema,
      handle: (body) => calls.handle(body),
    },
    server: {
      summary: 'Show, start, stop or change lines',
      description: '`Set` accepts settings by their pymodbus names.',
      describedBody: SERVER_REQUESTS.described,
      answer: serverAnswerSchema,
      handle: (body) => handleServer(desk.rpc, body),
    },
    log: {
      summary: 'List the traffic',
      description:
        '`Download` lists all recorded traffic, `Monitor` only new traffic. `Clear` deletes all traffic.',
      describedBody: LOG_REQUESTS.described,
      answer: logAnswerSchema,
      handle: (body) => log.handle(body),
    },
  };
  return (app, _, done) => {
    for (const [name, { answer, handle, ...described }] of Object.entries(endpoints)) {
      const response = {
        200: z.union([answer, failureSchema]).describe('The requested data, or an error.'),
        400: failureSchema,
      };
      app.post(`/${name}`, { schema: { ...described, tags: TAGS, response } }, async ({ body }, reply) => {
        if (body === undefined) reply.code(400);
        if (!isMapping(body)) return failure(`body: ${expectedMessage('a JSON object', body)}`);
        const answer = await handle(body);
        if (Symbol.iterator in answer) return sendText(reply, JSON_TYPE, answer);
        return sendJson(reply, answer as Readonly<Record<string, unknown>>) as never;
      });
    }
    const unknown = {
      summary: 'List the endpoints',
      description: 'The answer to any other endpoint name.',
      tags: TAGS,
      params: z.object({
        endpoint: z.string().meta({ description: 'Any other name.', examples: ['devices'] }),
      }),
      response: { 200: failureSchema },
    };
    app.post<{ Params: { endpoint: string } }>(
      '/:endpoint',
      { schema: unknown },
      async ({ params: { endpoint } }) =>
        failure(`${quote(endpoint)}: no such endpoint, expected ${Object.keys(endpoints).join(', ')}`),
    );
    done();
  };
}
