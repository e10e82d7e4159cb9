import type { FastifyReply, FastifyRequest } from 'fastify';
import { refusal } from '../../../simulator/commands/refusal.js';
import { refuse } from '../answers.js';
import type { Access } from './access.js';
import { type AccessRefusal, corsHeaders, isPreflight, PREFLIGHT_HEADERS } from './host-and-origin.js';

/**
 * Security headers of every answer, for browsers: those of helmet that apply here. Pages get scripts, styles
 * and data from this server only. Strict-Transport-Security is left out: it would hold for all ports of the
 * machine, where other programs may serve plain HTTP.
 */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;

/**
 * Checks a request before anything else does.
 * @returns the reply if the guard has answered; undefined lets the request in
 */
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
  { code, path, message, headers = {} }: AccessRefusal,
) {
  return refuse(request, reply.headers(headers), refusal(code, path, message));
}
