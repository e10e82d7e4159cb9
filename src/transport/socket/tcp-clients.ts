import type { Socket } from 'node:net';
import type { Framing } from '../../protocol/framing.js';
import type { LineHandler, Rejection } from '../transport.js';
import { clientAddress } from './address.js';
import { TcpConnection } from './connection.js';
import { decoderOf } from './decoder-of.js';
import type { TlsHandshakes } from './tls-handshakes.js';

export interface TcpClientsSettings {
  readonly framing: Framing;
  readonly maxClients: number;
  readonly idleTimeoutMs: number;
  readonly slowTimeoutMs: number;
}

interface Client {
  readonly client: string;
  readonly clientId: number;
}

/** The connections of one line: how many there may be, and which of them must go. */
export class TcpClients {
  readonly #settings: TcpClientsSettings;
  readonly #handler: LineHandler;
  readonly #connections = new Set<TcpConnection>();
  #lastClientId = 0;
  #watch: NodeJS.Timeout | undefined;
  /** Undefined on a line without TLS. */
  #handshakes: TlsHandshakes | undefined;

  constructor(settings: TcpClientsSettings, handler: LineHandler) {
    this.#settings = settings;
    this.#handler = handler;
  }

  /** Connections that can send requests. */
  get count(): number {
    return this.#connections.size;
  }

  /** From now on connections come; with `handshakes`, TLS ones. */
  open(handshakes: TlsHandshakes | undefined): void {
    this.#handshakes = handshakes;
    this.#watch = setInterval(() => this.#dropUseless(), this.#watchIntervalMs);
  }

  /** Ends all connections. */
  close(text: string): void {
    clearInterval(this.#watch);
    this.#handshakes?.abortAll();
    for (const connection of this.#connections) connection.destroy(text);
  }

  accept(raw: Socket): void {
    const client = { client: clientAddress(raw), clientId: ++this.#lastClientId };
    if (this.#handshakes === undefined) {
      this.#admit(client, raw, raw, undefined);
      return;
    }
    const { maxClients } = this.#settings;
    if (this.#handshakes.count >= maxClients) {
      this.#handshakes.abortOldest(`the oldest of ${maxClients} handshakes made room for a new one`);
    }
    this.#handshakes.begin(raw, (handshake) => {
      // Only now may it take the place of another: anybody can begin a handshake.
      if (handshake.ok) this.#admit(client, handshake.socket, raw, handshake.role);
      else this.#rejected(client, handshake.reason, handshake.text);
    });
  }

  /** A connection that the system could not hand over, for want of file descriptors mostly. */
  missed(text: string): void {
    this.#rejected({ client: 'unknown', clientId: ++this.#lastClientId }, 'limit', text);
  }

  #admit({ client, clientId }: Client, socket: Socket, raw: Socket, role: string | undefined): void {
    if (!this.#makeRoom()) {
      const text = `all ${this.#settings.maxClients} connections are busy`;
      this.#rejected({ client, clientId }, 'limit', text);
      socket.on('error', () => {});
      socket.destroy();
      return;
    }
    const connection = new TcpConnection({
      socket,
      raw,
      id: clientId,
      client,
      decoder: decoderOf(this.#settings.framing, (unitId) => this.#handler.owns(unitId)),
      handler: this.#handler,
      gone: (gone) => this.#connections.delete(gone),
    });
    this.#connections.add(connection);
    this.#handler.event({ kind: 'client', client, clientId, ...(role !== undefined && { role }) });
  }

  #rejected(client: Client, reason: Rejection, text: string): void {
    this.#handler.event({ kind: 'rejected', ...client, reason, text });
  }

  /** False if there is no room and nobody who could go. */
  #makeRoom(): boolean {
    const { maxClients } = this.#settings;
    if (this.#connections.size < maxClients) return true;
    const idle = leastUseful(this.#connections);
    idle?.reject('limit', `the oldest idle of ${maxClients} connections made room for a new one`);
    return idle !== undefined;
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
