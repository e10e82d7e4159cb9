import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { descriptorLimit, RESERVED_DESCRIPTORS } from '../../common/descriptors.js';

/** The limit unless the configuration sets another. */
const MAX_CONNECTIONS = 64;

/** A request may need so long to be read where many answers are made at the same time, in ms. */
const GRACE_MS = 2000;

/** Bytes of an answer that is long. The system may take megabytes of it that nobody reads. */
const LONG_ANSWER = 256 * 1024;

/** Connections that the system may queue. */
export const BACKLOG = 32;

/** The limits of servers that have one of their own. Node's own limit closes the new connection, whoever holds the others. */
const limits = new WeakMap<object, number>();

/** How many connections a server may have. */
export function connectionLimit(server: object): number {
  return limits.get(server) ?? MAX_CONNECTIONS;
}

interface RestConnection {
  readonly socket: Socket;
  readonly address: string;
  /** It waits for a complete request, or for its client to read, or has a long answer under way. Busy: all else. */
  state: () => 'waiting' | 'unread' | 'long' | 'busy';
  /** When it began to wait for a request, or the newest one had come; in ms. */
  since: number;
}

/**
 * Limits the number of connections, and refuses one that would leave the lines too few file descriptors. At the limit, a new
 * one takes the place of the one that has waited longest for a complete request, first among those of the address that has
 * most. Where none has waited for two seconds, the one goes whose answer is read the slowest, or else lasts longest, by the
 * same order. So clients that hold connections open keep nobody out.
 * @param descriptors how many file descriptors the process may have
 * @returns a function that ends all connections, those in a TLS handshake too
 */
export function limitConnections(
  server: Server,
  maxConnections: number = MAX_CONNECTIONS,
  descriptors: number = descriptorLimit() ?? Number.POSITIVE_INFINITY,
): () => void {
  const open = new Map<string, RestConnection>();
  limits.set(server, maxConnections);
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    if (open.size >= maxConnections) leastMissed(open.values())?.destroy();
    const address = socket.remoteAddress ?? '';
    open.set(key, { socket, address, state: () => 'waiting', since: performance.now() });
    socket.once('close', () => open.delete(key));
    const isTooMany =
      open.size > maxConnections && ![...open.values()].some(({ socket }) => socket.destroyed);
    if (isTooMany || descriptorOf(socket) >= descriptors - RESERVED_DESCRIPTORS) socket.destroy();
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(keyOf(request.socket));
    if (!connection) return;
    const answered = () => {
      connection.since = performance.now();
      // The one above TLS where there is TLS. What the system has no room for stays in it.
      const { socket } = request;
      const written = socket.bytesWritten;
      connection.state = () => {
        if (socket.writableLength > 0) return 'unread';
        return socket.bytesWritten - written > LONG_ANSWER ? 'long' : 'busy';
      };
    };
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (length === '0' && encoding === undefined) answered();
    else request.once('end', answered);
    response.once('close', () => {
      connection.since = performance.now();
      connection.state = () => 'waiting';
    });
  });
  return () => {
    for (const { socket } of open.values()) socket.destroy();
  };
}

/** The same for a socket and for the TLS socket above it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The connection that is closed in favour of a new one; undefined when all are busy. */
function leastMissed(open: Iterable<RestConnection>): Socket | undefined {
  const all = [...open].filter(({ socket }) => !socket.destroyed);
  const late = all.filter(({ since }) => performance.now() - since >= GRACE_MS);
  return (
    longest(late, 'waiting') ?? longest(all, 'unread') ?? longest(all, 'long') ?? longest(all, 'waiting')
  );
}

/** The one that has been in a state for longest, of the address that has most in it. */
function longest(
  all: readonly RestConnection[],
  state: ReturnType<RestConnection['state']>,
): Socket | undefined {
  const those = all.filter((each) => each.state() === state);
  const counts = new Map<string, number>();
  for (const { address } of those) counts.set(address, (counts.get(address) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return those.filter(({ address }) => counts.get(address) === most).sort((a, b) => a.since - b.since)[0]
    ?.socket;
}

/** The file descriptor of a socket. The system gives the lowest one that is free, so it shows how many are in use. */
function descriptorOf(socket: Socket): number {
  const { _handle } = socket as { _handle?: { fd?: number } };
  return _handle?.fd ?? 0;
}
