import { z } from 'zod';
import { firstIssues, type Issue, pathText } from '../../schema/problem.js';

/** What went wrong, in the form that clients of this interface know; HTTP status 200 unless the body is no JSON. */
export const failureSchema = z.object({ result: z.literal('error'), error: z.string() });

export type Failure = z.infer<typeof failureSchema>;

export type Outcome<Answer> = Answer | Failure;

export function failure(error: string): Failure {
  return { result: 'error', error };
}

/** The mistakes of a body with their places: `range_start: expected a whole number, 0 or more, got "x"`. */
export function mistakes(issues: readonly Issue[]): Failure {
  const { shown, omitted } = firstIssues(issues);
  const texts = shown.map(({ path, message }) => `${pathText(path) || 'body'}: ${message}`);
  return failure([...texts, ...(omitted > 0 ? [`and ${omitted} more mistakes`] : [])].join('; '));
}
