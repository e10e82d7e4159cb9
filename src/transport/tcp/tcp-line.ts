import { createServer, type Server, type Socket } from 'node:net';
import { clientAddress, hostPort } from './address.js';
import { TcpConnection } from './connection.js';
import type { TcpLineHandler } from './handler.js';
import { type Listening, listen } from './listen.js';

export interface TcpLineSettings {
  /** An IP address or a name; `::` is all addresses of both families. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Connections at one time; default 256. */
  readonly maxClients?: number;
  /** A connection without a complete request for so long is closed; default 5 minutes. */
  readonly idleTimeoutMs?: number;
  /** A client that has left more than 64 KiB of replies unread for so long is dropped; default 10 s. */
  readonly slowTimeoutMs?: number;
}

const DEFAULTS = { maxClients: 256, idleTimeoutMs: 5 * 60_000, slowTimeoutMs: 10_000 };

/** Finds clients whose machine vanished without a word. */
const KEEP_ALIVE_MS = 30_000;

/** A listening socket that speaks Modbus TCP (Messaging on TCP/IP V1.0b) with many clients. */
export class TcpLine {
  readonly #settings: Required<TcpLineSettings>;
  readonly #handler: TcpLineHandler;
  readonly #connections = new Set<TcpConnection>();
  #server: Server | undefined;
  #watch: NodeJS.Timeout | undefined;
  #lastClientId = 0;

  constructor(settings: TcpLineSettings, handler: TcpLineHandler) {
    this.#settings = { ...DEFAULTS, ...settings };
    this.#handler = handler;
  }

  /** Connections open now. */
  get clients(): number {
    return this.#connections.size;
  }

  /** Opens the line; may be called again after `stop`. */
  async start(): Promise<Listening> {
    const { host, port } = this.#settings;
    const place = hostPort(host, port);
    if (this.#server !== undefined) {
      return { ok: false, error: `Cannot listen on ${place}: this line already does.` };
    }
    const server = createServer({
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    this.#server = server;
    server.on('connection', (socket) => this.#accept(socket));
    const listening = await listen(server, host, port);
    if (!listening.ok) {
      if (this.#server === server) this.#server = undefined;
      return listening;
    }
    server.on('error', ({ message }) =>
      this.#handler.event({ kind: 'failed', text: `${place}: ${message}` }),
    );
    this.#watch = setInterval(() => this.#dropUseless(), this.#watchIntervalMs);
    return listening;
  }

  /** Closes the line and every connection, without waiting for plans to end. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    clearInterval(this.#watch);
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    for (const connection of this.#connections) connection.destroy('the line was stopped');
    await closed;
  }

  #accept(socket: Socket): void {
    const clientId = ++this.#lastClientId;
    if (this.#server === undefined || !this.#makeRoom()) {
      const text = `all ${this.#settings.maxClients} connections are busy`;
      this.#handler.event({
        kind: 'rejected',
        client: clientAddress(socket),
        clientId,
        reason: 'limit',
        text,
      });
      socket.on('error', () => {});
      socket.destroy();
      return;
    }
    const connection = new TcpConnection(socket, clientId, this.#handler, (gone) =>
      this.#connections.delete(gone),
    );
    this.#connections.add(connection);
    this.#handler.event({ kind: 'client', client: connection.client, clientId });
  }

  /** False if there is no room and no connection that could go. */
  #makeRoom(): boolean {
    if (this.#connections.size < this.#settings.maxClients) return true;
    const idle = leastUseful(this.#connections);
    if (idle === undefined) return false;
    idle.reject(
      'limit',
      `the oldest idle of ${this.#settings.maxClients} connections made room for a new one`,
    );
    return true;
  }

  /** One timer for all connections: none is set or cleared per request. */
  get #watchIntervalMs(): number {
    const { idleTimeoutMs, slowTimeoutMs } = this.#settings;
    return Math.max(10, Math.min(1000, idleTimeoutMs / 4, slowTimeoutMs / 4));
  }

  #dropUseless(): void {
    const { idleTimeoutMs, slowTimeoutMs } = this.#settings;
    const now = performance.now();
    for (const connection of this.#connections) {
      if (connection.slowFor(slowTimeoutMs, now)) {
        connection.reject('slow', `the client did not read its replies for ${slowTimeoutMs} ms`);
      } else if (!connection.busy && now - connection.activeAt >= idleTimeoutMs) {
        connection.reject('idle', `no complete request for ${idleTimeoutMs} ms`);
      }
    }
  }
}

/**
 * The connection to give up for a new one: one that never sent a request before one that did, so that a flood of
 * silent connections throws out itself; then the one that has been idle longest. Busy ones stay.
 */
function leastUseful(connections: Iterable<TcpConnection>): TcpConnection | undefined {
  let least: TcpConnection | undefined;
  for (const connection of connections) {
    if (connection.busy) continue;
    if (least === undefined || Number(connection.spoke) < Number(least.spoke)) least = connection;
    else if (connection.spoke === least.spoke && connection.activeAt < least.activeAt) least = connection;
  }
  return least;
}
