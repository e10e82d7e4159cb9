import type { z } from 'zod';

/** What went wrong, in the form that clients of this interface know; HTTP status 200 unless the body is no JSON. */
export interface Failure {
  readonly result: 'error';
  readonly error: string;
}

export type Outcome<Answer> = Answer | Failure;

export function failure(error: string): Failure {
  return { result: 'error', error };
}

/** Every problem of a body with its place: `range_start: expected a whole number`. */
export function problemsOf(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`).join('; ');
}
