import type { FastifyReply } from 'fastify';
import type { Refusal } from '../../simulator/commands/refusal.js';
import { type Failure, refused } from './failure.js';
import { type ErrorBody, errorBody, PROBLEM_TYPE, problemDetails } from './problem.js';

/** The body of a refusal, in the form of the interface that the URL addresses. */
export function errorAnswer(url: string, refusal: Refusal): ErrorBody | Failure {
  return isV1(url) ? errorBody(refusal) : refused(refusal);
}

/** Adds title and status to an error body of /api/v1 before it is sent. Other bodies stay as they are. */
export function asSent(url: string, reply: FastifyReply, body: unknown): unknown {
  if (reply.statusCode < 400 || !isV1(url)) return body;
  reply.type(PROBLEM_TYPE);
  return problemDetails(reply.statusCode, body as object);
}

function isV1(url: string): boolean {
  return /^\/api\/v1(?=[/?]|$)/.test(url);
}
