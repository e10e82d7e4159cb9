import type { Server } from 'node:net';
import { hostPort } from './address.js';

/** `error` is a sentence that names the place. */
export interface NotListening {
  readonly ok: false;
  readonly error: string;
  /** Somebody else has the port. */
  readonly inUse?: boolean;
}

export type Listening =
  /** `port` is the real one where 0 was asked for; `address` is the resolved IP address. */
  { readonly ok: true; readonly port: number; readonly address: string } | NotListening;

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program, or another line, has this port',
  EACCES: 'no permission; ports below 1024 need root, CAP_NET_BIND_SERVICE or a systemd socket unit',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAFNOSUPPORT: 'this machine does not support this kind of address (IPv6 switched off?)',
  EINVAL:
    'not an address that can be listened on; a link-local IPv6 address needs its interface, as in fe80::1%eth0',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EMFILE: 'too many files and sockets are open',
};

/** Why a line that was stopped while opening does not listen. */
export const STOPPED = 'stopped while opening';
/** Why a line is not opened twice. */
export const ALREADY_OPEN = 'this line already does';
/** Why a line can't listen on an invalid port. */
export const NO_PORT = 'expected a port from 0 to 65535';

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65535;
}

export function cannotListen(host: string, port: number, why: string): NotListening {
  return { ok: false, error: `Cannot listen on ${hostPort(host, port)}: ${why}.` };
}

/** What the system said, in words. */
export function refused(host: string, port: number, error: NodeJS.ErrnoException): NotListening {
  return { ...cannotListen(host, port, listenError(error)), inUse: error.code === 'EADDRINUSE' };
}

/** Opens `server`. Every failure is reported as a sentence that names the place. */
export function listen(server: Server, host: string, port: number): Promise<Listening> {
  if (!isPort(port)) return Promise.resolve(cannotListen(host, port, NO_PORT));
  const stopped = cannotListen(host, port, STOPPED);
  return new Promise((resolve) => {
    const settle = (listening: Listening) => {
      server.off('error', fail).off('close', close);
      resolve(listening);
    };
    const fail = (error: NodeJS.ErrnoException) => settle(refused(host, port, error));
    let closed = false;
    const close = () => {
      closed = true;
      settle(stopped);
    };
    server.once('error', fail).once('close', close);
    server.listen({ host, port }, () => {
      // The server was closed while the name was looked up, and opened after all.
      if (closed) server.close();
      const bound = server.address();
      if (bound === null || typeof bound === 'string') settle(stopped);
      else settle({ ok: true, port: bound.port, address: bound.address });
    });
  });
}

/** Why a socket could not be opened, in words. */
function listenError({ code = '', message }: NodeJS.ErrnoException): string {
  const reason = REASONS[code];
  return reason === undefined ? message : `${reason} (${code})`;
}
