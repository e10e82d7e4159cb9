import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
  type FastifySerializerCompiler,
  LogController,
} from 'fastify';
import { z } from 'zod';
import { CODES, type Code, refusal } from '../../simulator/commands/refusal.js';
import { Access, type AccessRules, accessGuard } from './access/access.js';
import { targetOf } from './access/clients.js';
import { refuse } from './answers.js';
import { compressAnswers } from './compression.js';
import { limitConnections } from './connection-limit.js';
import { NO_PAGE } from './console/paths.js';
import { consoleRoutes } from './console/routes.js';
import type { ApiContext } from './desk.js';
import { asSent, errorAnswer, failure } from './error-answer.js';
import type { ExtensionPart } from './extension.js';
import { metricsRoutes } from './metrics.js';
import { collectOperations } from './openapi/operation.js';
import { openApiRoutes } from './openapi/routes.js';
import { refusalIn, takeRequests } from './requests.js';
import { v1Routes } from './v1/routes.js';

const health = z.object({ status: z.literal('ok') }).describe('The program is serving.');

/**
 * Serves `/healthz`, for monitoring programs. It asks the side of the lines, so an answer shows that both
 * threads are alive.
 */
function healthRoutes({ rpc }: Pick<ApiContext, 'rpc'>): FastifyPluginCallback {
  return (app, _, done) => {
    app.get(
      '/healthz',
      {
        schema: {
          summary: 'Check that the program is serving',
          description: 'No token is required.',
          tags: ['program'],
          response: { 200: health },
        },
      },
      async () => {
        await rpc.call('program.ping', undefined);
        return { status: 'ok' as const };
      },
    );
    done();
  };
}

interface PathMethods {
  readonly path: RegExp;
  readonly methods: readonly string[];
}

/** Records the routes of an application, to look up the methods of a path. Create it before the first route. */
class Methods {
  readonly #routes: PathMethods[] = [];

  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      this.#routes.push({ path: pathPattern(url), methods: [method].flat() });
    });
  }

  /** The methods of the path of `url`, sorted and without duplicates; empty if there is no such path. */
  of(url: string): string[] {
    const [path = ''] = url.split('?');
    const methods = this.#routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  }
}

/** A pattern for the paths of a route such as `/lines/:name/start`. */
function pathPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replaceAll('.', '\\.');
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/** How the REST interface is served. */
export interface ApiRules extends AccessRules {
  readonly maxConnections?: number;
  /** Certificate and key in PEM, for HTTPS. */
  readonly credentials?: { readonly cert: string; readonly key: string };
}

/** Maximum time in ms for a complete request to arrive, including its header. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Maximum time in ms for a client to read part of its answer, and for a route to start the answer. */
const PROGRESS_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 10_000;
/** Maximum time in ms for a client to read the answer to something that is not an HTTP request. */
const LINGER_MS = 500;
/** The settings of Node's HTTP and HTTPS servers. */
const SERVER_OPTIONS = {
  headersTimeout: REQUEST_TIMEOUT_MS,
  handshakeTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: 1000,
  // The guard checks the Host header itself, so that its answer names what is missing.
  requireHostHeader: false,
};
/**
 * Longest path parameter: a name has up to 64 characters of four bytes each, and each byte takes three
 * characters in a URL.
 */
const LONGEST_NAME = 64 * 4 * 3;

/**
 * Compiles the functions that write answers as JSON. An answer that its schema does not describe is a bug, so
 * they throw.
 */
const serializerCompiler: FastifySerializerCompiler<z.ZodType> =
  ({ schema }) =>
  (data) =>
    JSON.stringify(z.encode(schema, data));

/** Placeholder for Fastify's own compilers until those of this program are set. It is never called. */
const notAsked = (): never => {
  throw new Error('Fastify has asked for a compiler that was not set yet');
};

/**
 * Makes Node pass the data from clients through JavaScript. Otherwise its HTTP parser reads the sockets
 * itself, and aborts the whole program if the thread is ended while requests are arriving.
 */
function readInJavaScript(server: Server, isTls: boolean): void {
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => socket.on('data', () => {}));
}

/**
 * Builds the REST application without listening, so that tests can inject requests.
 * @param extensions what the extensions add
 */
export function buildApp(
  desk: ApiContext,
  rules: ApiRules,
  log: FastifyBaseLogger,
  extensions: readonly ExtensionPart[],
): FastifyInstance {
  const { credentials } = rules;
  const access = new Access(rules, {
    now: () => performance.now(),
    warn: (details, message) => log.warn(details, message),
    isSecure: credentials !== undefined,
  });
  const guard = accessGuard(access);
  const app: FastifyInstance = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: PROGRESS_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    ...(credentials ? { https: { ...SERVER_OPTIONS, ...credentials } } : { http: SERVER_OPTIONS }),
    forceCloseConnections: true,
    rewriteUrl: targetOf,
    routerOptions: { maxParamLength: LONGEST_NAME },
    // Otherwise Fastify loads its own compilers (Ajv and fast-json-stringify) first.
    schemaController: { compilersFactory: { buildValidator: notAsked, buildSerializer: notAsked } },
    // Hooks do not run for requests that can't be routed, so this does their work.
    frameworkErrors: (error, request, reply) => {
      reply.type('application/json; charset=utf-8');
      reply.serializer((body: unknown) => JSON.stringify(asSent(request.url, reply, body)));
      return guard(request, reply) ?? sendError(error, request, reply);
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) return void socket.destroy();
      socket.end(httpRefusal(error));
      // A client that keeps its side open must not keep its connection.
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    },
  });
  // Node would answer an unknown expectation with 417 and no body. A server may ignore it (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  readInJavaScript(app.server, rules.credentials !== undefined);
  const endConnections = limitConnections(app.server, rules.maxConnections);
  app.addHook('preClose', async () => endConnections());
  const methods = new Methods(app);
  const operations = collectOperations(app);
  // These paths are for programs, and have no pages for people.
  const plugins = extensions.flatMap((each) => Object.entries(each.plugins ?? {}));
  const forPrograms = ['/api', ...plugins.map(([prefix]) => prefix)];
  const isForPrograms = (url: string) =>
    forPrograms.some((path) => url.startsWith(path) && !/^\w/.test(url.slice(path.length)));

  app.addHook('preSerialization', ({ url }, reply, body, done) => done(null, asSent(url, reply, body)));
  takeRequests(app, guard);
  compressAnswers(app);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler<FastifyError>(sendError);
  app.setNotFoundHandler((request, reply) => {
    const { method, url } = request;
    const allowed = methods.of(url);
    if (allowed.length === 0) {
      if (request.headers.accept?.includes('text/html') && !isForPrograms(url))
        return reply.code(404).type('text/html; charset=utf-8').send(NO_PAGE);
      return refuse(request, reply, refusal('path.unknown', '', `${method} ${url}: no such path`));
    }
    reply.header('allow', allowed.join(', '));
    return refuse(
      request,
      reply,
      refusal('method.not_allowed', 'method', `expected ${allowed.join(' or ')}`),
    );
  });

  app.addHook('onListen', async () => desk.sums.start());
  app.addHook('onClose', async () => desk.sums.stop());
  app.register(healthRoutes(desk));
  app.register(metricsRoutes(desk));
  for (const [prefix, plugin] of plugins) app.register(plugin, { prefix });
  app.register(v1Routes(desk, access, extensions), { prefix: '/api/v1' });
  app.register(openApiRoutes(operations), { prefix: '/api/v1' });
  app.register(consoleRoutes);
  return app;
}

/** Answers with what the client must change in its request. Our own failures are logged. */
function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const found = refusalIn(error);
  if (found) return refuse(request, reply, found);
  const { statusCode: status = 500 } = error;
  if (status >= 500) request.log.error(error, 'request failed');
  // HTTP has more statuses than the document: Fastify answers a name that is too long with 414.
  const code = codeOf(status);
  const body = errorAnswer(request.url, refusal(code, '', errorText(status, error)));
  return reply.code(CODES[code].status).send(body);
}

function codeOf(status: number): Code {
  if (status >= 500) return 'request.failed';
  const code = Object.keys(CODES).find(
    (each) => each.startsWith('request.') && CODES[each as Code].status === status,
  );
  return (code as Code | undefined) ?? 'request.invalid';
}

function errorText(status: number, error: FastifyError): string {
  if (status >= 500) return 'internal error, see the log';
  if (status === 415) return 'content-type: expected application/json';
  return error.message;
}

/** The answer to bytes that are not an HTTP request, or arrive too late. There is no reply object at this point. */
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
  ['HPE_HEADER_OVERFLOW', ['431 Request Header Fields Too Large', 'the request header is too long']],
]);
