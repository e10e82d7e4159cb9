import type { Mistakes } from '../schema/findings.js';
import { type Failure, failure, mistakes } from './restapi/outcome.js';
import { type ErrorBody, errorBody, issuesBody } from './v1/problem.js';

/** The body for an error found before routing, in the form of the interface that the URL addresses. */
export function errorAnswer(url: string, problem: { path?: string; message: string }): ErrorBody | Failure {
  const { path = '', message } = problem;
  if (isV1(url)) return errorBody([{ path, message }]);
  return failure(path ? `${path}: ${message}` : message);
}

/** The body for mistakes in what a client has sent. */
export function mistakesAnswer(url: string, found: Mistakes): ErrorBody | Failure {
  return isV1(url) ? issuesBody(found) : mistakes(found);
}

function isV1(url: string): boolean {
  return /^\/api\/v1(?=[/?]|$)/.test(url);
}
