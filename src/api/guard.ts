import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { failure } from './restapi/outcome.js';

/** Who may use the REST interface. */
export interface AccessRules {
  /** The host it listens on. */
  readonly host: string;
  /** Bearer token that every request but /healthz must carry; without one none is asked for. */
  readonly token?: string;
}

/**
 * Refuses requests before anything else looks at them: a Host that is no name of this machine (421: a web page
 * elsewhere that had its name resolved to us), a foreign Origin (403), a missing or wrong token (401).
 */
export function guardAccess(app: FastifyInstance, { host, token }: AccessRules): void {
  const names = new Set(
    ['localhost', host, hostname(), `${hostname()}.local`].map((name) => name.toLowerCase()),
  );
  const expected = token === undefined ? undefined : digest(token);
  app.addHook('onRequest', async (request, reply) => {
    const name = hostName(request.headers.host);
    if (name === undefined || !(names.has(name) || isIP(name))) {
      return reply.code(421).send(failure('Host: not a name of this machine'));
    }
    if (isForeign(request))
      return reply.code(403).send(failure('Origin: requests of other sites are refused'));
    if (
      expected &&
      request.url !== '/healthz' &&
      !timingSafeEqual(digest(bearerToken(request.headers.authorization)), expected)
    ) {
      reply.header('www-authenticate', 'Bearer');
      return reply
        .code(401)
        .send(failure('Authorization: expected Bearer and the token of the configuration'));
    }
    return undefined;
  });
}

/** Name or address of a Host header, without port and brackets. */
function hostName(header: string | undefined): string | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(header ?? '');
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isForeign({ headers: { origin, host } }: FastifyRequest): boolean {
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}

/** The token of an Authorization header; the scheme's case does not count (RFC 9110, 11.1). */
function bearerToken(header = ''): string {
  return /^bearer (.*)$/i.exec(header)?.[1] ?? '';
}

/** Equal lengths for the comparison, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
