import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Mistakes } from '../../schema/findings.js';
import { type Problem, pathText } from '../../schema/problem.js';
import { PROBLEM } from './examples.js';

/** One mistake in a request: where it is, and what was expected there. */
const problemSchema = z.object({
  path: z.string(),
  message: z.string(),
  line: z.number().optional().describe('Of a body of text: the line of the mistake, from 1.'),
  column: z.number().optional(),
});

/**
 * Body of every answer that is no success: problem details (RFC 9457), with the first 20 problems and their places.
 * `title` and `status` are added when the answer is sent, by `problemDetails`.
 */
export const errorSchema = z
  .object({
    title: z
      .string()
      .optional()
      .describe('The words of HTTP for the status. RFC 9457, 4.2.1: so it must be where `type` is absent.'),
    status: z.number().optional(),
    detail: z.string().describe('The first problem in words.'),
    error: z.string().describe('The same as `detail`, by the name that it has in /restapi too.'),
    problems: z.array(problemSchema),
    omittedProblems: z.number().optional().describe('How many problems there are besides those.'),
  })
  .meta({ id: 'Problem', description: 'What is wrong (RFC 9457).', examples: [PROBLEM] });

export type ErrorBody = z.infer<typeof errorSchema>;

/** The content type of problem details. */
export const PROBLEM_TYPE = 'application/problem+json';

export function errorBody(problems: readonly Problem[]): ErrorBody {
  const [first] = problems;
  const error = first ? (first.path ? `${first.path}: ${first.message}` : first.message) : 'not as expected';
  return { detail: error, error, problems: [...problems] };
}

/** The error body for mistakes that were found in a request. */
export function issuesBody({ listed, more }: Mistakes): ErrorBody {
  return problemsBody({
    problems: listed.map(({ path, message }) => ({ path: pathText(path), message })),
    more,
  });
}

/** The error body for the first problems of a request, and how many there are besides. */
export function problemsBody({
  problems,
  more,
}: {
  readonly problems: readonly Problem[];
  readonly more: number;
}) {
  const body = errorBody(problems);
  return more > 0 ? { ...body, omittedProblems: more } : body;
}

/** An error body with the status that it is sent with. */
export function problemDetails(status: number, body: object): object {
  return { title: STATUS_CODES[status], status, ...body };
}
