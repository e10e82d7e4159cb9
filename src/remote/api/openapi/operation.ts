import type { FastifyInstance, RouteOptions } from 'fastify';
import type { z } from 'zod';

declare module 'fastify' {
  // `summary`, `description`, `tags` and `hide` are declared by @fastify/swagger, which fastify-type-provider-zod refers to.
  interface FastifySchema {
    /** The body, which is checked, but which the route gets as it was sent: the side of the lines reads it again. */
    readonly checkedBody?: z.ZodType;
    /** The body, where the route or the simulator checks it: the document shows it. */
    readonly describedBody?: z.ZodType;
    /** The same body as YAML, where the route takes that, too. */
    readonly yamlBody?: z.ZodType;
  }
}

/** One kind of body of an answer that is no plain JSON. */
export interface DescribedContent {
  readonly description?: string;
  /** By media type. */
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

/** A route of the application: what the document says about it is in the `schema` of the route. */
export interface Operation {
  /** In lower case, as OpenAPI has it. */
  readonly method: string;
  /** With its parameters in braces: `/api/v1/lines/{name}`. */
  readonly path: string;
  readonly schema: OperationSchema;
}

interface OperationSchema {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly params?: z.ZodType;
  readonly querystring?: z.ZodType;
  readonly headers?: z.ZodType;
  readonly body?: z.ZodType;
  readonly checkedBody?: z.ZodType;
  readonly describedBody?: z.ZodType;
  readonly yamlBody?: z.ZodType;
  readonly response?: Readonly<Record<string, z.ZodType | DescribedContent>>;
}

/**
 * Collects the routes of an application that are added from now on. HEAD is left out: every path that has GET has it,
 * too. Routes that hide are left out.
 */
export function collectOperations(app: FastifyInstance): readonly Operation[] {
  const operations: Operation[] = [];
  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.schema?.hide === true) return;
    for (const method of [route.method].flat()) {
      if (method === 'HEAD') continue;
      operations.push({
        method: method.toLowerCase(),
        path: route.url.replace(/:(\w+)/g, '{$1}'),
        schema: (route.schema ?? {}) as OperationSchema,
      });
    }
  });
  return operations;
}
