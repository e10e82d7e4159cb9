import { z } from 'zod';
import { type Mistakes, moreText } from '../../common/schema/findings.js';
import { pathText } from '../../common/schema/problem.js';
import type { Refusal } from '../../simulator/commands/refusal.js';

/**
 * A failure of /restapi, in the form that its clients know. The HTTP status is 200 unless the body is not
 * JSON.
 */
export const failureSchema = z.object({ result: z.literal('error'), error: z.string() }).meta({
  id: 'Failure',
  description: 'What is wrong, in words.',
  examples: [{ result: 'error', error: 'device: no device "metre", did you mean meter?' }],
});

export type Failure = z.infer<typeof failureSchema>;

export function failure(error: string): Failure {
  return { result: 'error', error };
}

/** The mistakes of a body with their paths: `range_start: expected a whole number, 0 or more, got "x"`. */
export function mistakes(found: Mistakes): Failure {
  const texts = found.listed.map(({ path, message }) => `${pathText(path) || 'body'}: ${message}`);
  return failure([...texts, moreText(found) ?? []].flat().join('; '));
}

/** A refusal by a command, with the names that this interface has for the fields. */
export function refused(
  { problems, more }: Pick<Refusal, 'problems' | 'more'>,
  names: ReadonlyMap<string, string> = new Map(),
): Failure {
  const texts = problems.map(({ path, message }) =>
    path ? `${names.get(path) ?? path}: ${message}` : message,
  );
  return failure([...texts, more > 0 ? `and ${more.toLocaleString('en')} more` : []].flat().join('; '));
}
