import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { quote } from '../../schema/problem.js';
import type { Refusal } from './refusal.js';

/** The sites besides this one whose pages may use REST: origins such as `https://bench.example.org`. */
export type AllowedOrigins = ReadonlySet<string>;

/**
 * Refuses a request that a page of another site has sent, unless the site is allowed (403).
 * @param isSecure whether pages of this server come by HTTPS only. Otherwise a proxy may have added HTTPS.
 */
export function originRefusal(
  headers: IncomingHttpHeaders,
  allowed: AllowedOrigins,
  isSecure: boolean,
): Refusal | undefined {
  const { origin, host } = headers;
  if (origin === undefined || origin === `https://${host}` || allowed.has(origin)) return undefined;
  if (origin === `http://${host}` && !isSecure) return undefined;
  return {
    code: 'request.origin',
    path: 'Origin',
    message: `pages of ${quote(origin)} are refused; api.origins lists the sites whose pages are let in`,
  };
}

/**
 * The headers by which a browser lets a page of an allowed site read the answer (Fetch Standard, CORS). Cookies are not
 * among what such a page may send: it sends a token.
 */
export function corsHeaders(
  { origin = '' }: IncomingHttpHeaders,
  allowed: AllowedOrigins,
): Readonly<Record<string, string>> {
  if (allowed.size === 0) return {};
  // A cache must not give the answer for one site to another.
  const vary = { vary: 'Origin' };
  if (!allowed.has(origin)) return vary;
  return {
    ...vary,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Allow, Retry-After, WWW-Authenticate',
  };
}

/** True for the question of a browser whether a page of an allowed site may send a request. It carries no token. */
export function isPreflight({ method, headers }: IncomingMessage, allowed: AllowedOrigins): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    allowed.has(headers.origin ?? '')
  );
}

/** The answer to a preflight, besides the headers of every answer. Which methods a path has, the request itself shows. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type',
  'access-control-max-age': '600',
} as const;
