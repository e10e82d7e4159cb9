import { z } from 'zod';
import { CODES, type Code } from '../refusal.js';

/** A mistake in a request: its path and what was expected there. */
const problemSchema = z.object({
  path: z.string(),
  message: z.string(),
  code: z.string().optional().describe('The reason, for programs: docs/errors.md lists all of them.'),
  line: z.number().optional().describe('The line of the mistake in a text body, counted from 1.'),
  column: z.number().optional(),
});

/**
 * The body of every error response: problem details (RFC 9457), with the first 20 problems and their paths.
 * `problemDetails` adds `title` and `status` when the response is sent.
 */
export const errorSchema = z
  .object({
    title: z
      .string()
      .optional()
      .describe('The HTTP phrase for the status, as RFC 9457, 4.2.1 requires where `type` is absent.'),
    status: z.number().optional(),
    detail: z.string().describe('The first problem in words.'),
    error: z.string().describe('The same as `detail`, under the name used in /restapi.'),
    code: z
      .enum(Object.keys(CODES) as [Code, ...Code[]])
      .describe('The reason for the first problem. It never changes, so programs can rely on it.'),
    problems: z.array(problemSchema),
    omittedProblems: z.number().optional().describe('The number of further problems, which are not listed.'),
  })
  .meta({
    id: 'Problem',
    description: 'What is wrong (RFC 9457).',
    examples: [
      {
        title: 'Not Found',
        status: 404,
        detail: 'name: no line "lam"',
        error: 'name: no line "lam"',
        code: 'line.unknown' as const,
        problems: [{ path: 'name', message: 'no line "lam"', code: 'line.unknown' }],
      },
    ],
  });

/** The error responses of a route. All have the same body. */
export function failures<Status extends number>(...statuses: readonly Status[]) {
  return Object.fromEntries(statuses.map((status) => [status, errorSchema])) as Record<
    Status,
    typeof errorSchema
  >;
}

/** The response to a removal. */
export const GONE = z.null().describe('It no longer exists.');
