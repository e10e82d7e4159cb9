import { z } from 'zod';
import type { Mistakes } from '../../schema/findings.js';
import { type Problem, pathText } from '../../schema/problem.js';

/** One mistake in a request: where it is, and what was expected there. */
const problemSchema = z.object({ path: z.string(), message: z.string() });

/** Body of every answer that is no success: the first problem in words, and the first 20 with their places. */
export const errorSchema = z.object({
  error: z.string(),
  problems: z.array(problemSchema),
  /** How many problems there are besides those. */
  omittedProblems: z.number().optional(),
});

export type ErrorBody = z.infer<typeof errorSchema>;

export function errorBody(problems: readonly Problem[]): ErrorBody {
  const [first] = problems;
  const error = first ? (first.path ? `${first.path}: ${first.message}` : first.message) : 'not as expected';
  return { error, problems: problems.map(({ path, message }) => ({ path, message })) };
}

/** The error body for mistakes that were found in a request. */
export function issuesBody({ listed, more }: Mistakes): ErrorBody {
  const body = errorBody(listed.map(({ path, message }) => ({ path: pathText(path), message })));
  return more > 0 ? { ...body, omittedProblems: more } : body;
}
