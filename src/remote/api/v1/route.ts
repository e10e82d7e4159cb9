import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  HTTPMethods,
  RouteOptions,
} from 'fastify';
import { z } from 'zod';
import { done, type Outcome } from '../../../simulator/commands/refusal.js';
import { INPUTS, meantBy, type Takes } from '../../../simulator/commands/schemas/inputs.js';
import type { CallName, ListName } from '../../rpc/rpc.js';
import { refuse, send, sendJson } from '../answers.js';
import type { ApiContext } from '../desk.js';
import type { DescribedContent } from '../openapi/operation.js';

/** A route: its text in the document, and the command or query that answers it. */
export interface Route {
  readonly summary: string;
  readonly description: string;
  /** Schemas of answers by status; the first is that of a success. */
  readonly response: Readonly<Record<number, z.ZodType | DescribedContent>>;
  readonly call?: CallName;
  /**
   * The list that is the answer. With `call`, it is read after the call and becomes the member `as` of the
   * answer.
   */
  readonly list?: ListName;
  readonly as?: string;
  /** Makes the body of the answer from the value of the command; without it, the value itself is the body. */
  readonly show?: (value: never) => unknown;
  /** The schemas of the input, if REST has others than the command. */
  readonly schema?: FastifySchema;
  /** Makes the input of the command, if it is not simply the path's parameters and the query or body. */
  readonly input?: (request: FastifyRequest) => Outcome<unknown>;
  /** Answers in place of a command. */
  readonly handle?: (request: FastifyRequest, reply: FastifyReply) => unknown;
  readonly params?: z.ZodType;
  readonly preValidation?: (request: FastifyRequest) => Promise<void>;
  /** False if the answer to HEAD would have to be made as a whole and thrown away. */
  readonly exposeHeadRoute?: false;
}

/** Routes by method and path, in the order of the document. */
export type Routes = Readonly<Record<`${HTTPMethods} /${string}`, Route>>;

/** The schema of the answer after something was removed. */
export const GONE = z.null().describe('There is no such thing any more.');

/** Adds routes to an application. @param tag tag of the routes in the document */
export function addRoutes(app: FastifyInstance, desk: ApiContext, tag: string, routes: Routes): void {
  for (const [name, route] of Object.entries(routes)) app.route(routeOptions(desk, tag, name, route));
}

function routeOptions(desk: ApiContext, tag: string, name: string, route: Route): RouteOptions {
  const [method = '', url = ''] = name.split(' ');
  const { summary, description, response, params, preValidation, exposeHeadRoute } = route;
  return {
    method,
    url,
    schema: {
      tags: [tag],
      summary,
      description,
      ...(params && { params }),
      ...(route.schema ?? sentSchema(method, route)),
      response,
    },
    ...(preValidation && { preValidation }),
    ...(exposeHeadRoute === false && { exposeHeadRoute }),
    handler: route.handle ?? ((request, reply) => answer(desk, route, request, reply)),
  };
}

function takesOf({ call, list }: Route): Takes {
  const name = call ?? list;
  return name ? INPUTS[name] : {};
}

function sentSchema(method: string, route: Route): FastifySchema {
  const { sent } = takesOf(route);
  return sent ? { [hasQuery(method) ? 'querystring' : 'body']: sent } : {};
}

/** Whether requests of a method have a query and no body. */
function hasQuery(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'DELETE';
}

async function answer(
  { rpc }: ApiContext,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { call, list, as = '', show = (value: unknown) => (as ? { [as]: value } : value) } = route;
  const input = route.input?.(request) ?? inputOf(route, request);
  if (!input.ok) return refuse(request, reply, input);
  const outcome = call ? await rpc.call(call, input.value as never) : done(null);
  if (!outcome.ok) return refuse(request, reply, outcome);
  if (!list) {
    const [status] = Object.keys(route.response);
    return send(request, reply, done(await show(outcome.value as never)), Number(status));
  }
  const parts = await rpc.list(list, input.value as never);
  return parts.ok ? sendJson(reply, { [as]: parts.value }) : refuse(request, reply, parts);
}

/**
 * The input of a command: the parameters of the path under the keys of the command, and the query or body.
 */
function inputOf(route: Route, { method, params, query, body }: FastifyRequest): Outcome<unknown> {
  const { of = {}, sent, as } = takesOf(route);
  const parts = Object.values(params as Readonly<Record<string, string>>);
  const about = Object.entries(of).map(([key, schema], i) => [
    key,
    schema instanceof z.ZodNumber ? Number(parts[i]) : parts[i],
  ]);
  const besides = hasQuery(method) ? query : body;
  const others = as === undefined ? (besides as object) : { [as]: besides };
  const input = { ...Object.fromEntries(about), ...(sent && others) };
  return meantBy((route.call ?? route.list) as CallName, input);
}
