import type { FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { At } from '../schema/at.js';
import { Findings, type Mistakes } from '../schema/findings.js';

/** Thrown by Fastify for a request that is not as the schemas of its route want it. */
interface WrongRequest extends Error {
  readonly mistakes: Mistakes;
}

/** Refuses a request without the body that its route wants: Fastify shows validators null then, which is a body too. */
export async function refuseMissingBody({ body, routeOptions }: FastifyRequest): Promise<void> {
  const schema = routeOptions.schema?.body;
  if (body !== undefined || schema === undefined) return;
  const findings = new Findings();
  new At(body, findings).check(schema as z.ZodType);
  throw wrongRequest(findings);
}

/** Checks what a request holds as files are checked: every mistake with its place, and what was expected there. */
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

/** The mistakes that `validatorCompiler` found, when `error` is about such. */
export function mistakesOfRequest(error: Error): Mistakes | undefined {
  return 'mistakes' in error ? (error as WrongRequest).mistakes : undefined;
}
