import { STATUS_CODES } from 'node:http';
import type { z } from 'zod';
import { CODES, type CodedProblem, type Refusal } from '../../simulator/commands/refusal.js';
import type { errorSchema } from '../../simulator/commands/schemas/problem.js';

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
