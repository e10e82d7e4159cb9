import type { RemoteInfo, Socket } from 'node:dgram';
import type { LineHandler } from '../transport.js';
import { clientName } from './address.js';
import { UdpClient } from './udp-client.js';

export interface UdpClientLimits {
  readonly maxClients: number;
  readonly idleTimeoutMs: number;
}

/**
 * The clients of a UDP line. UDP has no connections: an address is a client from its first request until it has
 * been idle for a while. As the addresses of datagrams can be forged, no more than `maxClients` are remembered.
 */
export class UdpClients {
  readonly #limits: UdpClientLimits;
  readonly #handler: LineHandler;
  readonly #clients = new Map<string, UdpClient>();
  /** Runs while there are clients: one timer for all, none set or cleared per request. */
  #watch: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(limits: UdpClientLimits, handler: LineHandler) {
    this.#limits = limits;
    this.#handler = handler;
  }

  get count(): number {
    return this.#clients.size;
  }

  /** The client with this address; a new one if there is room or can be made, otherwise undefined. */
  at(remote: RemoteInfo, socket: Socket): UdpClient | undefined {
    return this.#clients.get(keyOf(remote)) ?? this.#welcome(remote, socket);
  }

  /** Ends what is pending for all of them. */
  forgetAll(text: string): void {
    for (const [key, client] of this.#clients) this.#forget(key, client, text);
  }

  #welcome(remote: RemoteInfo, socket: Socket): UdpClient | undefined {
    const clientId = ++this.#lastId;
    if (!this.#makeRoom()) {
      const text = `all ${this.#limits.maxClients} clients have replies pending`;
      const client = clientName(remote.address, remote.port);
      this.#handler.event({ kind: 'rejected', client, clientId, reason: 'limit', text });
      return undefined;
    }
    const client = new UdpClient(socket, remote, clientId, this.#handler);
    this.#clients.set(keyOf(remote), client);
    this.#watch ??= setInterval(() => this.#forgetIdle(), this.#watchIntervalMs).unref();
    this.#handler.event({ kind: 'client', client: client.client, clientId });
    return client;
  }

  /** False if there is no room and no client that could go. */
  #makeRoom(): boolean {
    if (this.#clients.size < this.#limits.maxClients) return true;
    const idle = longestIdle(this.#clients);
    if (idle === undefined) return false;
    const [key, client] = idle;
    const text = `the oldest idle of ${this.#limits.maxClients} clients made room for a new one`;
    this.#handler.event({
      kind: 'rejected',
      client: client.client,
      clientId: client.id,
      reason: 'limit',
      text,
    });
    this.#forget(key, client, text);
    return true;
  }

  #forget(key: string, client: UdpClient, text: string): void {
    if (!this.#clients.delete(key)) return;
    if (this.#clients.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    client.abandon(text);
    this.#handler.event({ kind: 'client-gone', client: client.client, clientId: client.id, text });
  }

  get #watchIntervalMs(): number {
    return Math.max(10, Math.min(1000, this.#limits.idleTimeoutMs / 4));
  }

  #forgetIdle(): void {
    const { idleTimeoutMs } = this.#limits;
    const now = performance.now();
    for (const [key, client] of this.#clients) {
      if (client.busy || now - client.activeAt < idleTimeoutMs) continue;
      this.#forget(key, client, `no request for ${idleTimeoutMs} ms`);
    }
  }
}

function keyOf({ address, port }: RemoteInfo): string {
  return `${address} ${port}`;
}

function longestIdle(clients: ReadonlyMap<string, UdpClient>): readonly [string, UdpClient] | undefined {
  let longest: readonly [string, UdpClient] | undefined;
  for (const entry of clients) {
    const [, client] = entry;
    if (!client.busy && (longest === undefined || client.activeAt < longest[1].activeAt)) longest = entry;
  }
  return longest;
}
