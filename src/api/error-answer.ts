import type { FastifyReply } from 'fastify';
import type { Mistakes } from '../schema/findings.js';
import { type Failure, failure, mistakes } from './restapi/outcome.js';
import { type ErrorBody, errorBody, issuesBody, PROBLEM_TYPE, problemDetails } from './v1/problem.js';

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

/** Makes problem details of an error body of /api/v1 that is about to be sent; every other body stays as it is. */
export function asSent(url: string, reply: FastifyReply, body: unknown): unknown {
  if (reply.statusCode < 400 || !isV1(url)) return body;
  reply.type(PROBLEM_TYPE);
  return problemDetails(reply.statusCode, body as object);
}

function isV1(url: string): boolean {
  return /^\/api\/v1(?=[/?]|$)/.test(url);
}
