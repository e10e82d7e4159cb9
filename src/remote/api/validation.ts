import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { type Refusal, refusalOf } from '../../simulator/commands/refusal.js';

/** Thrown to refuse a request before its route sees it. */
interface RefusedRequest extends Error {
  readonly refusal: Refusal;
}

/** A refusal as an error, for Fastify. */
export function asError(refusal: Refusal): RefusedRequest {
  return Object.assign(new Error('refused'), { refusal, statusCode: 400 });
}

/** The refusal in an error of `asError`; undefined for any other error. */
export function refusalIn(error: Error): Refusal | undefined {
  return 'refusal' in error ? (error as RefusedRequest).refusal : undefined;
}

/**
 * The error for a value that does not fit a schema: for each mistake its path and what was expected there.
 * Undefined if the value fits.
 */
export function wrongBody(schema: z.ZodType, value: unknown): RefusedRequest | undefined {
  const findings = new Findings();
  new At(value, findings).check(schema);
  return findings.count > 0 ? asError(refusalOf(findings, 'request.invalid')) : undefined;
}

/** Compiles the checks of requests. They report mistakes in the same way as those of files. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const findings = new Findings();
    const value = new At(data, findings).check(schema);
    return findings.count > 0 ? { error: asError(refusalOf(findings, 'request.invalid')) } : { value };
  };

/**
 * The error for a request without a required body. Fastify would pass null to the validator, which looks like
 * a body of `null`.
 */
export function missingBody({ body, routeOptions }: FastifyRequest): RefusedRequest | undefined {
  const schema = routeOptions.schema?.body;
  return body === undefined && schema !== undefined ? wrongBody(schema as z.ZodType, body) : undefined;
}
