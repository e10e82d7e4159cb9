import type { FastifyReply, FastifyRequest } from 'fastify';
import { refusal } from '../../control/refusal.js';
import { refuse } from '../answers.js';
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
    if (misplaced) return refuseAccess(request, reply, misplaced);
    if (isPreflight(raw, origins)) return reply.code(204).headers(PREFLIGHT_HEADERS).send();
    const refused = access.refusalOfClient(raw);
    return refused && refuseAccess(request, reply, refused);
  };
}

function refuseAccess(
  request: FastifyRequest,
  reply: FastifyReply,
  { code, path, message, headers = {} }: Refusal,
) {
  return refuse(request, reply.headers(headers), refusal(code, path, message));
}
