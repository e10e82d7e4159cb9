import type { FastifyInstance } from 'fastify';
import { isMapping } from '../../schema/parts.js';
import { expectedMessage, quote } from '../../schema/problem.js';
import type { Simulator } from '../../simulator/simulator.js';
import { CallsEndpoint } from './calls.js';
import { failure } from './outcome.js';
import { handleRegisters } from './registers.js';
import { handleServer } from './server.js';

/**
 * The REST interface of pymodbus' simulator. What a body asks for wrongly is answered with status 200 and
 * `result: "error"`, as its clients expect; HTTP's own errors keep their status with the same kind of body.
 */
export function restapiRoutes(app: FastifyInstance, simulator: Simulator): void {
  const calls = new CallsEndpoint(simulator);
  const endpoints = new Map<string, (body: object) => object | Promise<object>>([
    ['registers', (body) => handleRegisters(simulator, body)],
    ['calls', (body) => calls.handle(body)],
    ['server', (body) => handleServer(simulator, body)],
    ['log', () => failure('log: not implemented yet')],
  ]);
  app.post<{ Params: { endpoint: string } }>('/restapi/:endpoint', async (request, reply) => {
    const { endpoint } = request.params;
    const { body } = request;
    const handle = endpoints.get(endpoint);
    if (body === undefined) reply.code(400);
    if (!handle) {
      return failure(`${quote(endpoint)}: no such endpoint, expected ${[...endpoints.keys()].join(', ')}`);
    }
    if (!isMapping(body)) return failure(`body: ${expectedMessage('a JSON object', body)}`);
    return handle(body);
  });
  app.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: '/restapi/:endpoint',
    handler: (_, reply) => reply.code(405).header('allow', 'POST').send(failure('method: expected POST')),
  });
}
