import { type Issue, pathText } from '../../schema/problem.js';

/** What went wrong, in the form that clients of this interface know; HTTP status 200 unless the body is no JSON. */
export interface Failure {
  readonly result: 'error';
  readonly error: string;
}

export type Outcome<Answer> = Answer | Failure;

export function failure(error: string): Failure {
  return { result: 'error', error };
}

/** Every mistake of a body with its place: `range_start: expected a whole number, 0 or more, got "x"`. */
export function mistakes(issues: readonly Issue[]): Failure {
  return failure(issues.map(({ path, message }) => `${pathText(path) || 'body'}: ${message}`).join('; '));
}
