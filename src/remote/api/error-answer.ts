import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CODES, type CodedProblem, type Refusal } from '../../simulator/commands/refusal.js';
import type { errorSchema } from '../../simulator/commands/schemas/problem.js';

/** A failure outside `/api/v1`, in the form that pymodbus.simulator's clients know. */
export const failureSchema = z.object({ result: z.literal('error'), error: z.string() }).meta({
  id: 'Failure',
  description: 'What is wrong, in words.',
  examples: [{ result: 'error', error: 'device: no device "metre", did you mean meter?' }],
});

export type Failure = z.infer<typeof failureSchema>;

export function failure(error: string): Failure {
  return { result: 'error', error };
}

/** A command's refusal, with this interface's names for the fields. */
export function refused(
  { problems, more }: Pick<Refusal, 'problems' | 'more'>,
  names: ReadonlyMap<string, string> = new Map(),
): Failure {
  const texts = problems.map(({ path, message }) =>
    path ? `${names.get(path) ?? path}: ${message}` : message,
  );
  return failure([...texts, more > 0 ? `and ${more.toLocaleString('en')} more` : []].flat().join('; '));
}

export type ErrorBody = z.infer<typeof errorSchema>;

/** The content type of problem details. */
export const PROBLEM_TYPE = 'application/problem+json';

/** Makes the body of a refusal. @param refusal its `found` becomes `registers` */
export function errorBody({ code, problems, more, found }: Refusal): ErrorBody {
  const [first] = problems;
  const error = first ? textOf(first) : 'not as expected';
  return {
    detail: error,
    error,
    code: first?.code ?? code,
    problems: problems.map(({ parts: _, ...problem }) => problem),
    ...(more > 0 && { omittedProblems: more }),
    ...(found && { registers: found }),
  };
}

function textOf({ path, message }: CodedProblem): string {
  return path ? `${path}: ${message}` : message;
}

export function statusOf({ code }: Refusal): number {
  return CODES[code].status;
}

/** Adds title and status to an error body. */
export function problemDetails(status: number, body: object): object {
  return { title: STATUS_CODES[status], status, ...body };
}

/** The body of a refusal, in the form of the interface that the URL addresses. */
export function errorAnswer(url: string, refusal: Refusal): ErrorBody | Failure {
  return isV1(url) ? errorBody(refusal) : refused(refusal);
}

/** Adds title and status to an error body of /api/v1 before it is sent. Other bodies are not changed. */
export function asSent(url: string, reply: FastifyReply, body: unknown): unknown {
  if (reply.statusCode < 400 || !isV1(url)) return body;
  reply.type(PROBLEM_TYPE);
  return problemDetails(reply.statusCode, body as object);
}

function isV1(url: string): boolean {
  return /^\/api\/v1(?=[/?]|$)/.test(url);
}
