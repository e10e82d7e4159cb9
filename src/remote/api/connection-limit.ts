import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { descriptorLimit, RESERVED_DESCRIPTORS } from '../../common/descriptors.js';
import { refusal } from '../../simulator/commands/refusal.js';
import { refuse, type Sent } from './answers.js';

/** Maximum number of connections, unless the configuration sets another limit. */
const MAX_CONNECTIONS = 64;

/** Maximum time in ms for a request to be read while many answers are being produced. */
const GRACE_MS = 2000;

/**
 * Length in bytes above which an answer counts as long. The operating system may accept megabytes that the
 * client never reads.
 */
const LONG_ANSWER = 256 * 1024;

/** Maximum number of connections that the operating system may queue. */
export const BACKLOG = 32;

/**
 * Connection limits of servers for which one is configured. They replace Node's own limit, which would close
 * the new connection, whoever holds the others.
 */
const limits = new WeakMap<object, number>();

/** Maximum number of connections that a server may have. */
function connectionLimit(server: object): number {
  return limits.get(server) ?? MAX_CONNECTIONS;
}

/** Maximum number of answers of one kind that may stay open, and their share: they must not use up all connections. */
const MAX_STAYING = 16;
const SHARE_OF_CONNECTIONS = 1 / 4;

/**
 * Calls back when a response was completely sent or its client has disconnected; immediately if that has
 * already happened.
 */
export function whenClosed(response: ServerResponse, call: () => void): void {
  if (response.closed) call();
  else response.once('close', call);
}

/**
 * Slots for answers of one kind that stay open or take much memory, such as event streams, waiting requests
 * and reports.
 */
export class Places {
  #taken = 0;
  readonly #what: string;
  readonly #path: string;
  readonly #most: number;

  /**
   * @param what the answers, in the plural
   * @param path the part of the request that a refusal is about; empty for the request as a whole
   * @param most how many slots there are, unless the server has few connections
   */
  constructor(what: string, path = '', most = MAX_STAYING) {
    this.#what = what;
    this.#path = path;
    this.#most = most;
  }

  /**
   * Answers a request in a slot, or rejects it if all slots are taken. The slot is freed when the work has
   * ended and the response is closed, however and whenever the client disconnects. A client that has already
   * disconnected gets no slot.
   * @param work sends the answer
   * @param tidy cleans up once the response is closed, before the slot is freed
   */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    work: () => unknown,
    tidy: () => Promise<void> | undefined = () => undefined,
  ): Promise<Sent> {
    if (reply.raw.closed) return reply.hijack() as Sent;
    const share = Math.floor(connectionLimit(request.server.server) * SHARE_OF_CONNECTIONS);
    const most = Math.max(1, Math.min(this.#most, share));
    if (this.#taken >= most) {
      const message = `expected at most ${most} ${this.#what} at a time, try again`;
      return refuse(request, reply, refusal('readers.too_many', this.#path, message));
    }
    this.#taken++;
    const working = (async () => work())();
    let going = 2;
    const ended = () => {
      if (--going === 0) this.#taken--;
    };
    working.then(ended, ended);
    whenClosed(reply.raw, () => void (tidy()?.then(ended, ended) ?? ended()));
    return working as Promise<Sent>;
  }
}

interface RestConnection {
  readonly socket: Socket;
  readonly address: string;
  /**
   * `waiting`: for a complete request; `unread`: its client does not read; `long`: sends a long answer;
   * `busy`: anything else.
   */
  state: () => 'waiting' | 'unread' | 'long' | 'busy';
  /** Time in ms since when it has waited for a request, or when its newest request was complete. */
  since: number;
}

/**
 * Limits the number of connections, and rejects a new one that would leave the lines too few file
 * descriptors. At the limit, a new connection replaces the one that has waited longest for a complete
 * request, of the address with the most such connections. If none has waited for two seconds, it replaces one
 * whose client does not read, or else one with a long answer, chosen in the same way. So clients that hold
 * connections open can't lock others out.
 * @param descriptors number of file descriptors that the process may have
 * @returns a function that closes all connections, including those in a TLS handshake
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
      // The socket above TLS, if there is TLS. It holds the data for which the operating system has no room.
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

/** The key of a connection, the same for a socket and for the TLS socket above it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The connection to close to make room for a new one; undefined if all are busy. */
function leastMissed(open: Iterable<RestConnection>): Socket | undefined {
  const all = [...open].filter(({ socket }) => !socket.destroyed);
  const late = all.filter(({ since }) => performance.now() - since >= GRACE_MS);
  return (
    longest(late, 'waiting') ?? longest(all, 'unread') ?? longest(all, 'long') ?? longest(all, 'waiting')
  );
}

/** The connection that has been in a state for longest, of the address with the most connections in that state. */
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

/**
 * The file descriptor of a socket. The operating system assigns the lowest free one, so it shows how many are
 * in use.
 */
function descriptorOf(socket: Socket): number {
  const { _handle } = socket as { _handle?: { fd?: number } };
  return _handle?.fd ?? 0;
}
