import type { FastifyInstance, RouteOptions } from 'fastify';
import type { z } from 'zod';

declare module 'fastify' {
  // `summary`, `description`, `tags` and `hide` are declared by @fastify/swagger, which
  // fastify-type-provider-zod refers to.
  interface FastifySchema {
    /**
     * The schema of a body that is checked here, although the route gets the body as it was sent, because the
     * side of the lines reads it again.
     */
    readonly checkedBody?: z.ZodType;
    /** The schema of a body that the route or the simulator checks; it is only for the document. */
    readonly describedBody?: z.ZodType;
    /** The schema of the same body as YAML, if the route accepts YAML. */
    readonly yamlBody?: z.ZodType;
  }
}

/** A body of an answer that is not plain JSON. */
export interface DescribedContent {
  readonly description?: string;
  /** Schemas by media type. */
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

/** A route of the application. Its `schema` has the text of the document. */
export interface Operation {
  /** The method in lower case, as OpenAPI has it. */
  readonly method: string;
  /** The path with its parameters in braces: `/api/v1/lines/{name}`. */
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
 * Collects the routes that are added to an application from now on. HEAD is left out, because every path with
 * GET has it, too. Routes with `hide` are left out.
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
