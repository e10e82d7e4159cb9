import { z } from 'zod';
import { type Mistakes, moreText } from '../../schema/findings.js';
import { type Problem, pathText } from '../../schema/problem.js';

/** One mistake in a request: where it is, and what was expected there. */
const problemSchema = z.object({ path: z.string(), message: z.string() });

/** Body of every answer that is no success: the first problem in words, and all of them with their places. */
export const errorSchema = z.object({ error: z.string(), problems: z.array(problemSchema) });

export type ErrorBody = z.infer<typeof errorSchema>;

export function errorBody(problems: readonly Problem[]): ErrorBody {
  const [first] = problems;
  const error = first ? (first.path ? `${first.path}: ${first.message}` : first.message) : 'not as expected';
  return { error, problems: problems.map(({ path, message }) => ({ path, message })) };
}

/** The error body for mistakes that were found in a request; the last entry counts those that are not listed. */
export function issuesBody(found: Mistakes): ErrorBody {
  const problems = found.listed.map(({ path, message }) => ({ path: pathText(path), message }));
  const more = moreText(found);
  return errorBody(more === undefined ? problems : [...problems, { path: '', message: more }]);
}
