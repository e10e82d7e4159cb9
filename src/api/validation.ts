import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { At } from '../schema/at.js';
import { Findings, type Mistakes } from '../schema/findings.js';

/** Thrown by Fastify for a request that does not fit the schemas of its route. */
interface WrongRequest extends Error {
  readonly mistakes: Mistakes;
}

/**
 * The error for a request without the body that its route requires. Fastify would pass null to the validator, which
 * can't be told from a body of `null`.
 */
export function missingBody({ body, routeOptions }: FastifyRequest): WrongRequest | undefined {
  if (body !== undefined) return undefined;
  const schema = routeOptions.schema?.body;
  if (schema === undefined) return undefined;
  const findings = new Findings();
  new At(body, findings).check(schema as z.ZodType);
  return wrongRequest(findings);
}

/** Checks requests in the way files are checked: every mistake has its place and what was expected there. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const findings = new Findings();
    const value = new At(data, findings).check(schema);
    return findings.count > 0 ? { error: wrongRequest(findings) } : { value };
  };

function wrongRequest(mistakes: Mistakes): WrongRequest {
  return Object.assign(new Error('wrong request'), { mistakes, statusCode: 400 });
}

/** The mistakes in `error` when it comes from `validatorCompiler`; otherwise undefined. */
export function mistakesOfRequest(error: Error): Mistakes | undefined {
  return 'mistakes' in error ? (error as WrongRequest).mistakes : undefined;
}
