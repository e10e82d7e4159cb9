import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { check } from '../schema/parts.js';
import type { Issue } from '../schema/problem.js';

/** Thrown by Fastify for a request that is not as the schemas of its route want it. */
interface WrongRequest extends Error {
  readonly issues: readonly Issue[];
}

/** Refuses a request without the body that its route wants: Fastify shows validators null then, which is a body too. */
export async function refuseMissingBody({ body, routeOptions }: FastifyRequest): Promise<void> {
  const schema = routeOptions.schema?.body;
  if (body !== undefined || schema === undefined) return;
  const issues: Issue[] = [];
  check(schema as z.ZodType, body, [], issues);
  throw wrongRequest(issues);
}

/** Checks what a request holds as files are checked: every mistake with its place, and what was expected there. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const issues: Issue[] = [];
    const value = check(schema, data, [], issues);
    return issues.length > 0 ? { error: wrongRequest(issues) } : { value };
  };

function wrongRequest(issues: readonly Issue[]): WrongRequest {
  return Object.assign(new Error('wrong request'), { issues, statusCode: 400 });
}

/** The mistakes that `validatorCompiler` found, when `error` is about such. */
export function issuesOfRequest(error: Error): readonly Issue[] | undefined {
  return 'issues' in error ? (error as WrongRequest).issues : undefined;
}
