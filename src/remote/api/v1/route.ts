import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from 'fastify';
import { z } from 'zod';
import { compact } from '../../../common/compact.js';
import {
  type Answers,
  type Declared,
  type DeclaredCommands,
  type DeclaredRoute,
  meantBy,
  type RoutePath,
} from '../../../simulator/commands/declared.js';
import { done, type Outcome } from '../../../simulator/commands/refusal.js';
import type { CallName, ListName } from '../../rpc/rpc.js';
import { refuse, sendJson } from '../answers.js';
import type { ApiContext } from '../desk.js';

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** A route that the desk answers itself: its text in the document, its schemas, and its handler. */
export interface Route {
  readonly summary: string;
  readonly description: string;
  /** Schemas of answers by status. The first is for success. */
  readonly response: Answers;
  readonly schema?: FastifySchema;
  readonly params?: z.ZodType;
  readonly maxParts?: number;
  /** Maximum number of bytes in a body, if it may be longer than others. */
  readonly maxBytes?: number;
  readonly handle: Handler;
  readonly preValidation?: (request: FastifyRequest) => Promise<void>;
  /** False if the answer to HEAD would have to be produced completely and discarded. */
  readonly exposeHeadRoute?: false;
}

/** Routes by method and path, in the order of the document. */
export type Routes = Readonly<Record<RoutePath, Route>>;

/** What the desk does for a command, in addition to its declaration. */
export interface DeskPart {
  readonly preValidation?: (request: FastifyRequest) => Promise<void>;
  /** Makes the input of the command, if it is not simply the path parameters and the query or body. */
  readonly input?: (request: FastifyRequest) => Outcome<unknown>;
  /** Converts the value of the command into the value to show. */
  readonly show?: (value: never) => unknown;
  /** Answers instead of the command. */
  readonly handle?: Handler;
}

/** Adds routes to an application. @param tag tag of the routes in the document */
export function addRoutes(app: FastifyInstance, tag: string, routes: Routes): void {
  for (const [path, route] of Object.entries(routes)) app.route(routeOptions(tag, path, route));
}

/** The routes of commands, in order. @param parts what the desk does for some of them, by name */
export function routesOf<Commands extends DeclaredCommands>(
  desk: ApiContext,
  commands: Commands,
  parts: { readonly [Name in keyof Commands]?: DeskPart } = {},
): Routes {
  const routes = Object.entries<Declared>(commands).flatMap(([name, declared]) => {
    if (!declared.rest) return [];
    const part: DeskPart = parts[name] ?? {};
    const handle: Handler = (request, reply) => answer(desk, { name, declared, part }, request, reply);
    return [[declared.rest, { schema: sentSchema(declared), handle, ...declared, ...part }]];
  });
  return Object.fromEntries(routes);
}

function routeOptions(tag: string, path: string, route: Route): RouteOptions {
  const [method = '', url = ''] = path.split(' ');
  const {
    summary,
    description,
    response,
    params,
    schema,
    maxParts,
    maxBytes,
    preValidation,
    exposeHeadRoute,
    handle,
  } = route;
  return {
    method,
    url,
    schema: { tags: [tag], summary, description, ...(params && { params }), ...schema, response },
    ...((maxParts ?? maxBytes) && { config: compact({ maxParts, maxBytes }) }),
    ...(preValidation && { preValidation }),
    ...(exposeHeadRoute === false && { exposeHeadRoute }),
    handler: handle,
  };
}

function sentSchema({ rest, sent }: DeclaredRoute & Pick<Declared, 'sent'>): FastifySchema {
  return sent ? { [hasQuery(rest) ? 'querystring' : 'body']: sent } : {};
}

/** Whether requests of a route have a query and no body. */
function hasQuery(path: RoutePath): boolean {
  return /^(?:GET|DELETE) /.test(path);
}

async function answer(
  { rpc }: ApiContext,
  { name, declared, part }: Answered,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { kind, member = '', list = kind === 'list' ? name : undefined, response } = declared;
  const input = part.input?.(request) ?? (await inputOf(declared, request));
  if (!input.ok) return refuse(request, reply, input);
  const outcome = list === name ? done(null) : await rpc.call(name as CallName, input.value as never);
  if (!outcome.ok) return refuse(request, reply, outcome);
  if (list === undefined) {
    const [status] = Object.keys(response);
    const value = part.show ? await part.show(outcome.value as never) : outcome.value;
    return reply.code(Number(status)).send(member ? { [member]: value } : value);
  }
  const parts = await rpc.list(list as ListName, input.value as never);
  return parts.ok ? sendJson(reply, { [member]: parts.value }) : refuse(request, reply, parts);
}

/** A command with a route, and what the desk does for it. */
interface Answered {
  readonly name: string;
  readonly declared: Declared & DeclaredRoute;
  readonly part: DeskPart;
}

/** The input of a command: the path parameters under the command's keys, and the query or body. */
function inputOf(
  declared: Declared & DeclaredRoute,
  { params, query, body }: FastifyRequest,
): Promise<Outcome<unknown>> {
  const { of = {}, sent, as, rest } = declared;
  const parts = Object.values(params as Readonly<Record<string, string>>);
  const about = Object.entries(of).map(([key, schema], i) => [
    key,
    schema instanceof z.ZodNumber ? Number(parts[i]) : parts[i],
  ]);
  const besides = hasQuery(rest) ? query : body;
  const others = as === undefined ? (besides as object) : { [as]: besides };
  return meantBy(declared, { ...Object.fromEntries(about), ...(sent && others) });
}
