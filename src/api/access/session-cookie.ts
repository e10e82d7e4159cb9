import type { IncomingHttpHeaders } from 'node:http';
import { hostPortOf } from './hosts.js';
import { LIFETIME_S } from './sessions.js';

/** The identifier of a session in the cookies of a request (RFC 6265, 5.4); undefined without one. */
export function sessionIdOf(headers: IncomingHttpHeaders): string | undefined {
  const start = `${cookieName(headers)}=`;
  const pair = headers.cookie?.split(';').find((each) => each.trimStart().startsWith(start));
  return pair?.trim().slice(start.length);
}

/**
 * The Set-Cookie header that gives a browser its session. No script can read the cookie, and no other site can have it
 * sent along.
 * @param id empty text removes the cookie
 * @param isSecure whether the browser sends it over HTTPS only
 */
export function sessionCookie(headers: IncomingHttpHeaders, id: string, isSecure: boolean): string {
  const lifetime = id === '' ? 0 : LIFETIME_S;
  const attributes = ['Path=/', `Max-Age=${lifetime}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${cookieName(headers)}=${id}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/**
 * Browsers keep one set of cookies for all ports of a machine, so the name has the port, as the browser knows it:
 * otherwise two simulators on one machine would end each other's sessions.
 */
function cookieName({ host = '' }: IncomingHttpHeaders): string {
  const port = hostPortOf(host);
  return port === '' ? 'modbus-sim' : `modbus-sim-${port}`;
}
