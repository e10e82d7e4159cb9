import type { Socket as UdpSocket } from 'node:dgram';
import dns from 'node:dns';
import { isIP, type LookupFunction, type Server, type Socket } from 'node:net';
import { HERE, type Platform } from '../../../common/platform.js';
import type { Framing } from '../../protocol/framing.js';
import type { SocketSettings } from '../settings.js';
import type { LineHandler } from '../transport.js';
import type { ClientList, DescriptorState } from './client-list.js';

/** How long to wait for a name to be resolved, in ms. */
const LOOK_UP_MS = 5000;

/** Maximum names looked up at the same time. */
const MOST_NAMES = 16;

/** The error code of a lookup that took too long. */
const LOOK_UP_TIMEOUT = 'ETIMEOUT';

type Found = Parameters<LookupFunction>[2];

/**
 * Looks up names with a time limit. The system's function can't be cancelled: it holds one of libuv's threads
 * until it returns, 30 s and longer if no name server answers, and at most two of them look up names for the
 * whole process. So all callers that ask for the same name share one lookup, and repeated attempts don't pile
 * up. IP addresses are not looked up: they are found within the call, so that a UDP reply leaves in the same
 * turn.
 * @param find looks up a name, like `dns.lookup`
 */
export function boundedLookup(find: LookupFunction, limitMs = LOOK_UP_MS): LookupFunction {
  const underWay = new Map<string, Set<Found>>();
  return (host, options, found) => {
    const family = isIP(host);
    if (family !== 0) {
      if (options.all) found(null, [{ address: host, family }]);
      else found(null, host, family);
      return;
    }
    const key = [host, options.family, options.hints, options.all].join(' ');
    const shared = underWay.get(key);
    if (!shared && underWay.size >= MOST_NAMES) {
      const text = `${MOST_NAMES} host names are already being looked up`;
      process.nextTick(() => found(Object.assign(new Error(text), { code: 'EAI_AGAIN' }), ''));
      return;
    }
    const waiting = shared ?? new Set<Found>();
    const timer = setTimeout(() => {
      waiting.delete(answer);
      const text = `${host} could not be looked up within ${limitMs / 1000} s`;
      found(Object.assign(new Error(text), { code: LOOK_UP_TIMEOUT }), '');
    }, limitMs).unref();
    const answer: Found = (...result) => {
      clearTimeout(timer);
      found(...result);
    };
    waiting.add(answer);
    if (shared) return;
    underWay.set(key, waiting);
    find(host, options, (...result) => {
      underWay.delete(key);
      for (const each of waiting) each(...result);
    });
  };
}

/** Shared by all lines, clients and brokers of a thread. */
export const lookUpName = boundedLookup((host, options, found) => dns.lookup(host, options, found));

/** Formats an endpoint: `127.0.0.1:502`, `[::1]:502`, `pi.local:502`. */
export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Formats a client's address for display. IPv4 clients of a dual-stack socket are shown without their IPv6 prefix. */
export function clientName(address: string, port: number): string {
  return hostPort(address.replace(/^::ffff:(?=\d+\.)/i, ''), port);
}

/** Returns the address of the client at the other end of a TCP connection. */
export function clientAddress({ remoteAddress, remotePort }: Socket): string {
  // A client that reset its connection before it was accepted has no address.
  if (remoteAddress === undefined || remotePort === undefined) return 'unknown';
  return clientName(remoteAddress, remotePort);
}

/** Why a socket is not open. `error` is a sentence that names the endpoint. */
export interface NotListening {
  readonly ok: false;
  readonly error: string;
  /** True if another program has the port. */
  readonly inUse?: boolean;
}

export type Listening =
  /** `port` is the port that the system chose if 0 was requested; `address` is the resolved IP address. */
  | {
      readonly ok: true;
      readonly port: number;
      readonly address: string;
      /** What the user should know. */
      readonly notes?: readonly string[];
    }
  | NotListening;

/** Explains why a system does not allow listening on a port. */
export function forbiddenPort({ isWindows }: Pick<Platform, 'isWindows'>): string {
  return isWindows
    ? 'another program uses it exclusively, or Windows has reserved it (netsh interface ipv4 show excludedportrange tcp)'
    : 'no permission; ports below 1024 need root, CAP_NET_BIND_SERVICE or a systemd socket unit';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program, or another line, has this port',
  EACCES: forbiddenPort(HERE),
  EADDRNOTAVAIL: 'this machine has no such address',
  EAFNOSUPPORT: 'this machine does not support this kind of address (is IPv6 switched off?)',
  EINVAL:
    'not an address that can be listened on; a link-local IPv6 address needs its interface, as in fe80::1%eth0',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  [LOOK_UP_TIMEOUT]: `the host name could not be looked up within ${LOOK_UP_MS / 1000} s`,
  EMFILE: 'too many files and sockets are open',
};

/** Reasons to pass to `cannotListen`. */
export const STOPPED = 'stopped while opening';
export const ALREADY_OPEN = 'this line already listens there';
export const NO_PORT = 'expected a port from 0 to 65535';

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65535;
}

export function cannotListen(host: string, port: number, why: string): NotListening {
  return { ok: false, error: `Cannot listen on ${hostPort(host, port)}: ${why}.` };
}

/** Explains the system's error. */
function refused(host: string, port: number, error: NodeJS.ErrnoException): NotListening {
  const { code = '', message } = error;
  const why = REASONS[code] === undefined ? message : `${REASONS[code]} (${code})`;
  return { ...cannotListen(host, port, why), inUse: code === 'EADDRINUSE' };
}

/** Opens `server`. Every failure is reported as a sentence that names the endpoint. */
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
    lookUpName(host, {}, (error, address) => {
      // The server may have been closed while the name was looked up.
      if (closed) return;
      if (error || typeof address !== 'string') {
        if (error) fail(error);
        server.close();
        return;
      }
      server.listen({ host: address, port }, () => {
        const bound = server.address();
        if (bound === null || typeof bound === 'string') settle(stopped);
        else settle({ ok: true, port: bound.port, address: bound.address });
      });
    });
  });
}

/** Binds `socket`. Every failure is reported as a sentence that names the endpoint, and leaves the socket closed. */
export function listenUdp(socket: UdpSocket, host: string, port: number): Promise<Listening> {
  return new Promise((resolve) => {
    const settle = (listening: Listening) => {
      socket.off('listening', bound).off('error', fail).off('close', close);
      resolve(listening);
    };
    const bound = () => {
      const { address, port } = socket.address();
      settle({ ok: true, address, port });
    };
    const fail = (error: Error) => {
      settle(refused(host, port, error));
      socket.close();
    };
    const close = () => settle(cannotListen(host, port, STOPPED));
    socket.on('listening', bound).on('error', fail).on('close', close);
    // `exclusive`: the socket is not shared with other processes of a cluster.
    socket.bind({ address: host, port, exclusive: true });
  });
}

/**
 * One listening socket of a line, from opening to closing. A binding adds clients to the list of its line;
 * how it finds them depends on the kind of socket.
 */
export interface Binding {
  /**
   * Opens the socket. Call this once. Every failure is reported as a sentence that names the endpoint, and
   * leaves nothing open.
   */
  open(): Promise<Listening>;
  /**
   * Stops accepting clients, and resolves when the port is free. Clients are not ended. Also ends an `open`
   * in progress.
   */
  close(): Promise<void>;
}

/** What a binding needs from its line. */
export interface BindingContext {
  readonly settings: SocketSettings;
  readonly handler: LineHandler;
  readonly clients: ClientList;
  /** Whether one more connection leaves enough file descriptors for others. */
  readonly descriptors: () => DescriptorState;
  /** The address of the socket, on a line that has several. */
  readonly host?: string;
  readonly framing: () => Framing;
  /** Called when the socket failed after it was opened. It no longer serves any client. */
  readonly failed: (error: Error) => void;
}
