import type { IncomingMessage } from 'node:http';
import { Server as SecureServer } from 'node:https';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { Simulator } from '../simulator/simulator.js';
import { Access, type AccessRules } from './access/access.js';
import { accessGuard, type Guard } from './access/guard.js';
import { limitConnections } from './connections.js';
import { NO_PAGE } from './console/paths.js';
import { consoleRoutes } from './console/routes.js';
import { asSent, errorAnswer, mistakesAnswer } from './error-answer.js';
import { Handshakes } from './handshakes.js';
import { healthRoutes } from './health.js';
import { parseJson, readBody } from './json-body.js';
import { LongAnswers } from './long-answers.js';
import { LoopTurns } from './loop-turns.js';
import { Methods } from './methods.js';
import { metricsRoutes } from './metrics/routes.js';
import { collectOperations } from './openapi/operation.js';
import { openApiRoutes } from './openapi/routes.js';
import { failure } from './restapi/outcome.js';
import { restapiRoutes } from './restapi/routes.js';
import { v1Routes } from './v1/routes.js';
import { missingBody, mistakesOfRequest, validatorCompiler } from './validation.js';

/** How the REST interface is served. */
export interface ApiRules extends AccessRules {
  readonly maxConnections?: number;
  /** Where REST may write files, unless the configuration names a directory for traffic. */
  readonly writesIn?: string;
  /** Certificate and key in PEM, for HTTPS. */
  readonly credentials?: { readonly cert: string; readonly key: string };
}

/** The time for a complete request to arrive, including its header. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The time for a client to read some of its answer, and for a route to begin the answer. */
const PROGRESS_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 10_000;
/** The settings of Node's HTTP and HTTPS servers. */
const SERVER_OPTIONS = {
  headersTimeout: REQUEST_TIMEOUT_MS,
  handshakeTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: 1000,
  // The guard checks the Host header itself, so that the answer names what is missing.
  requireHostHeader: false,
};
/** A name has up to 64 characters of four bytes each, and each byte takes three characters in an address. */
const LONGEST_NAME = 64 * 4 * 3;

/** Builds the REST application without listening, so that tests can inject requests. */
export function buildApp(simulator: Simulator, rules: ApiRules, log: FastifyBaseLogger): FastifyInstance {
  const { credentials } = rules;
  const access = new Access(rules, {
    now: () => performance.now(),
    warn: (details, message) => log.warn(details, message),
    isSecure: credentials !== undefined,
  });
  const decide = accessGuard(access);
  // A request may wait for its turn. By then nobody would catch an error, and it would end the program.
  const guard: Guard = (request, reply) => {
    try {
      return decide(request, reply);
    } catch (error) {
      return sendError(error as FastifyError, request, reply);
    }
  };
  const turns = new LoopTurns(() => simulator.traffic.last);
  const app: FastifyInstance = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: PROGRESS_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    ...(credentials ? { https: { ...SERVER_OPTIONS, ...credentials } } : { http: SERVER_OPTIONS }),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: LONGEST_NAME },
    // Requests that can't be routed pass no hook, so what the hooks do is done here.
    frameworkErrors: (error, request, reply) => {
      reply.type('application/json; charset=utf-8');
      reply.serializer((body: unknown) => JSON.stringify(asSent(request.url, reply, body)));
      return guard(request, reply) ?? sendError(error, request, reply);
    },
    // Node notices all late clients at once.
    clientErrorHandler: (error, socket) =>
      turns.take(() => {
        if (socket.writable) socket.end(httpRefusal(error));
        else socket.destroy();
      }),
  });
  if (app.server instanceof SecureServer) {
    const handshakes = new Handshakes(app.server, turns, REQUEST_TIMEOUT_MS);
    app.addHook('preClose', async () => handshakes.end());
  }
  const turnOf = limitConnections(app.server, turns, rules.maxConnections);
  const ownTurn = () => new Promise<void>((resolve) => turns.take(resolve));
  const answers = new LongAnswers({
    get hasRoom() {
      return turns.hasRoom;
    },
    take: ownTurn,
    now: () => performance.now(),
  });
  const methods = new Methods(app);
  const operations = collectOperations(app);

  // The hooks call back: a promise in each would cost a short request some µs.
  app.addHook('onRequest', (request, reply, done) => {
    turnOf(request.raw, () => {
      // The client has disconnected, so nobody waits for an answer.
      if (request.socket.destroyed) reply.hijack();
      else if (!guard(request, reply)) done();
    });
  });
  app.addHook('preSerialization', ({ url }, reply, body, done) => done(null, asSent(url, reply, body)));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    async ({ headers }: FastifyRequest, payload: IncomingMessage) => {
      const body = await readBody(payload, Number(headers['content-length'] ?? 0));
      if (!turns.hasRoom) await new Promise<void>((resolve) => turns.goOn(resolve));
      const parsed = body.ok ? parseJson(body.text) : body;
      if (parsed.ok) return parsed.value;
      throw Object.assign(new Error(parsed.error), { statusCode: parsed.status });
    },
  );
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  // Parsing, checking and carrying out a large request may each take some ms.
  app.addHook('preValidation', (request, _, done) => {
    if (request.body === undefined) done(missingBody(request));
    else turns.goOn(done);
  });
  app.addHook('preHandler', (_request, _reply, done) => turns.goOn(done));
  app.setErrorHandler<FastifyError>(sendError);
  app.setNotFoundHandler((request, reply) => {
    const { method, url } = request;
    const allowed = methods.of(url);
    if (allowed.length === 0) {
      if (request.headers.accept?.includes('text/html') && !/^\/(api|restapi)\b/.test(url)) {
        return reply.code(404).type('text/html; charset=utf-8').send(NO_PAGE);
      }
      return reply.code(404).send(errorAnswer(url, { message: `${method} ${url}: no such path` }));
    }
    const problem = { path: 'method', message: `expected ${allowed.join(' or ')}` };
    return reply.code(405).header('allow', allowed.join(', ')).send(errorAnswer(url, problem));
  });

  app.register(healthRoutes);
  app.register(metricsRoutes(simulator, ownTurn));
  app.register(restapiRoutes(simulator, answers), { prefix: '/restapi' });
  const writesIn = simulator.trafficDirectory ?? rules.writesIn ?? simulator.directory;
  app.register(v1Routes(simulator, { answers, access, writesIn }), { prefix: '/api/v1' });
  app.register(openApiRoutes(operations, ownTurn), { prefix: '/api/v1' });
  app.register(consoleRoutes);
  return app;
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
