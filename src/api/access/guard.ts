import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorAnswer } from '../error-answer.js';
import type { Access } from './access.js';
import { corsHeaders, isPreflight, PREFLIGHT_HEADERS } from './origins.js';
import type { Refusal } from './refusal.js';
import { SECURITY_HEADERS } from './security-headers.js';

/** Looks at a request before anything else does. Returns the reply if it has answered; undefined lets the request in. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;

export function accessGuard(access: Access): Guard {
  const { origins } = access;
  return (request, reply) => {
    const { raw } = request;
    reply.headers(SECURITY_HEADERS).headers(corsHeaders(raw.headers, origins));
    const misplaced = access.refusalOfPlace(raw);
    if (misplaced) return refuse(request, reply, misplaced);
    if (isPreflight(raw, origins)) return reply.code(204).headers(PREFLIGHT_HEADERS).send();
    const refusal = access.refusalOfClient(raw);
    return refusal && refuse(request, reply, refusal);
  };
}

function refuse({ url }: FastifyRequest, reply: FastifyReply, { status, headers = {}, ...problem }: Refusal) {
  return reply.code(status).headers(headers).send(errorAnswer(url, problem));
}
