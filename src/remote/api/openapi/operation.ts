import type { FastifyInstance, RouteOptions } from 'fastify';
import type { z } from 'zod';
import type { Answers, SentSchemas } from '../../../simulator/commands/declared.js';

declare module 'fastify' {
  interface FastifySchema
    extends Pick<SentSchemas, 'checkedBody' | 'describedBody' | 'yamlBody' | 'bytesBody'> {
    summary?: string;
    description?: string;
    tags?: readonly string[];
    /** Leaves the route out of the document. */
    hide?: boolean;
  }
}

/** A route of the application. The texts of the document are in its `schema`. */
export interface Operation {
  /** The method in lower case, as OpenAPI requires. */
  readonly method: string;
  /** The path with its parameters in braces: `/api/v1/lines/{name}`. */
  readonly path: string;
  readonly schema: OperationSchema;
}

interface OperationSchema extends SentSchemas {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly params?: z.ZodType;
  readonly headers?: z.ZodType;
  readonly response?: Answers;
}

/**
 * Collects the routes added to an application from now on. HEAD is left out, because every path with GET also
 * has it. Routes with `hide` are left out.
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
