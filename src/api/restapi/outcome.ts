import { z } from 'zod';
import { type Mistakes, moreText } from '../../schema/findings.js';
import { pathText } from '../../schema/problem.js';

/** What went wrong, in the form that clients of this interface know; HTTP status 200 unless the body is no JSON. */
export const failureSchema = z.object({ result: z.literal('error'), error: z.string() }).meta({
  id: 'Failure',
  description: 'What is wrong, in words.',
  examples: [{ result: 'error', error: 'device: no device "metre", did you mean meter?' }],
});

export type Failure = z.infer<typeof failureSchema>;

export type Outcome<Answer> = Answer | Failure;

export function failure(error: string): Failure {
  return { result: 'error', error };
}

/** The mistakes of a body with their places: `range_start: expected a whole number, 0 or more, got "x"`. */
export function mistakes(found: Mistakes): Failure {
  const texts = found.listed.map(({ path, message }) => `${pathText(path) || 'body'}: ${message}`);
  return failure([...texts, moreText(found) ?? []].flat().join('; '));
}
