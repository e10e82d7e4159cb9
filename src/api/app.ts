import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../simulator/simulator.js';
import { limitConnections } from './connections.js';
import { errorAnswer, mistakesAnswer } from './error-answer.js';
import { type AccessRules, accessGuard, type Refusal } from './guard.js';
import { parseJson } from './json-body.js';
import { LongAnswers } from './long-answers.js';
import { LoopTurns } from './loop-turns.js';
import { Methods } from './methods.js';
import { metricsRoutes } from './metrics/routes.js';
import { failure } from './restapi/outcome.js';
import { restapiRoutes } from './restapi/routes.js';
import { v1Routes } from './v1/routes.js';
import { mistakesOfRequest, refuseMissingBody, validatorCompiler } from './validation.js';

/** How the REST interface is served. */
export interface ApiRules extends AccessRules {
  readonly maxConnections?: number;
}

const BODY_LIMIT = 256 * 1024;
/** The time for a complete request to arrive, including its header. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The time for a client to read some of its answer, and for a route to begin the answer. */
const PROGRESS_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 10_000;
/** A name has up to 64 characters of four bytes each, and each byte takes three characters in an address. */
const LONGEST_NAME = 64 * 4 * 3;

/** Builds the REST application without listening, so that tests can inject requests. */
export function buildApp(simulator: Simulator, rules: ApiRules, log: FastifyBaseLogger): FastifyInstance {
  const guard = accessGuard(rules);
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: PROGRESS_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    // The guard checks the Host header itself, so that the answer names what is missing.
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000, requireHostHeader: false },
    forceCloseConnections: true,
    routerOptions: { maxParamLength: LONGEST_NAME },
    // Requests that can't be routed pass no hook, so the guard is called here.
    frameworkErrors: (error, request, reply) => {
      const refusal = guard(request.raw);
      return refusal ? refuse(request, reply, refusal) : sendError(error, request, reply);
    },
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(httpRefusal(error));
      else socket.destroy();
    },
  });
  const turns = new LoopTurns();
  const turnOf = limitConnections(app.server, turns, rules.maxConnections);
  const takeTurn = () => new Promise<void>((resolve) => turns.take(resolve));
  const answers = new LongAnswers({ take: takeTurn, now: () => performance.now() });
  const methods = new Methods(app);

  app.addHook('onRequest', async (request, reply) => {
    await turnOf(request.raw);
    // The client has disconnected, so nobody waits for an answer.
    if (request.socket.destroyed) return reply.hijack();
    const refusal = guard(request.raw);
    return refusal && refuse(request, reply, refusal);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
    const parsed = parseJson(String(body));
    if (parsed.ok) done(null, parsed.value);
    else done(Object.assign(new Error(parsed.error), { statusCode: parsed.status }));
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.addHook('preValidation', refuseMissingBody);
  app.setErrorHandler<FastifyError>(sendError);
  app.setNotFoundHandler((request, reply) => {
    const { method, url } = request;
    const allowed = methods.of(url);
    if (allowed.length === 0) {
      return reply.code(404).send(errorAnswer(url, { message: `${method} ${url}: no such path` }));
    }
    const problem = { path: 'method', message: `expected ${allowed.join(' or ')}` };
    return reply.code(405).header('allow', allowed.join(', ')).send(errorAnswer(url, problem));
  });

  app.get('/healthz', { schema: { response: { 200: z.object({ status: z.literal('ok') }) } } }, () => ({
    status: 'ok',
  }));
  app.register(metricsRoutes(simulator, takeTurn));
  app.register(restapiRoutes(simulator, answers), { prefix: '/restapi' });
  app.register(v1Routes(simulator, answers), { prefix: '/api/v1' });
  return app;
}

function refuse({ url }: FastifyRequest, reply: FastifyReply, { status, headers = {}, ...problem }: Refusal) {
  return reply.code(status).headers(headers).send(errorAnswer(url, problem));
}

/** Answers with what the client must change about its request. Our own failures are logged. */
function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const status = error.statusCode ?? 500;
  if (status >= 500) request.log.error(error, 'request failed');
  const mistakes = mistakesOfRequest(error);
  const body = mistakes
    ? mistakesAnswer(request.url, mistakes)
    : errorAnswer(request.url, { message: errorText(status, error) });
  return reply.code(status).send(body);
}

function errorText(status: number, error: FastifyError): string {
  if (status >= 500) return 'internal error, see the log';
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return `body: expected at most ${BODY_LIMIT} bytes`;
  if (status === 415) return 'content-type: expected application/json';
  return error.message;
}

/** The answer to bytes that are no HTTP request, or that arrive too late. There is no reply object at this point. */
function httpRefusal({ code }: NodeJS.ErrnoException): string {
  const [status, text] = UNREADABLE.get(code ?? '') ?? ['400 Bad Request', 'not a valid HTTP request'];
  const body = JSON.stringify(failure(text));
  return [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

const UNREADABLE: ReadonlyMap<string, readonly [status: string, text: string]> = new Map([
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    ['408 Request Timeout', `expected the whole request within ${REQUEST_TIMEOUT_MS / 1000} s`],
  ],
  ['HPE_HEADER_OVERFLOW', ['431 Request Header Fields Too Large', 'the header of the request is too long']],
]);
