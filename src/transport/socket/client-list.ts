import type { LineHandler, Rejection } from '../transport.js';

/** How events and requests name a client. */
export interface ClientIdentity {
  readonly client: string;
  readonly clientId: number;
}

/** One client of a line: a connection, or an address that datagrams come from. */
export interface Client extends ClientIdentity {
  /** When the last request came in or a reply that had to wait was sent, else the client; `performance.now()` ms. */
  readonly activeAt: number;
  /** Whether it has sent a complete request. */
  readonly spoke: boolean;
  /** Whether it waits for replies. */
  readonly busy: boolean;
  /** Whether it has left too many replies unread for `timeoutMs`. Asked from time to time. */
  slowFor(timeoutMs: number, now: number): boolean;
  /** Ends it now: what was not played is reported. It leaves the list by itself. Twice is harmless. */
  end(text: string): void;
}

export interface ClientLimits {
  readonly maxClients: number;
  readonly idleTimeoutMs: number;
  readonly slowTimeoutMs: number;
  /** A client that is idle loses its connection, which is a rejection; where there is none, it is only forgotten. */
  readonly areConnections: boolean;
}

/** The clients of one line: how many there may be, which of them must go, and what is told about them. */
export class ClientList {
  readonly #limits: ClientLimits;
  readonly #handler: LineHandler;
  readonly #clients = new Set<Client>();
  /** Runs while there are clients: one timer for all of them, none is set or cleared per request. */
  #watch: NodeJS.Timeout | undefined;

  constructor(limits: ClientLimits, handler: LineHandler) {
    this.#limits = limits;
    this.#handler = handler;
  }

  get count(): number {
    return this.#clients.size;
  }

  /** An identity for somebody who has come, admitted or not. */
  identify(client: string): ClientIdentity {
    return { client, clientId: this.#handler.newClientId() };
  }

  /** Makes room for one more, at the cost of the least useful client. Otherwise the newcomer is turned away: false. */
  makeRoom(newcomer: ClientIdentity): boolean {
    const { maxClients } = this.#limits;
    if (this.#clients.size < maxClients) return true;
    const idle = leastUseful(this.#clients);
    if (idle === undefined) {
      this.turnAway(newcomer, 'limit', `all ${maxClients} ${this.#noun} have replies pending`);
      return false;
    }
    this.reject(idle, 'limit', `the oldest idle of ${maxClients} ${this.#noun} made room for a new one`);
    return true;
  }

  /** Takes up a client for which there is room, before it can send a request. */
  add(client: Client, role?: string): void {
    this.#clients.add(client);
    this.#watch ??= setInterval(() => this.#dropUseless(), this.#watchIntervalMs).unref();
    this.#handler.event({ kind: 'client', ...identityOf(client), ...(role !== undefined && { role }) });
  }

  /** Tells that somebody who has come did not become a client. */
  turnAway(newcomer: ClientIdentity, reason: Rejection, text: string): void {
    this.#handler.event({ kind: 'rejected', ...newcomer, reason, text });
  }

  /** Ends a client for a reason of the line's own, and says so. */
  reject(client: Client, reason: Rejection, text: string): void {
    if (!this.#clients.has(client)) return;
    this.#handler.event({ kind: 'rejected', ...identityOf(client), reason, text });
    client.end(text);
  }

  /** A client has ended. */
  remove(client: Client, text: string): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    this.#handler.event({ kind: 'client-gone', ...identityOf(client), text });
  }

  endAll(text: string): void {
    for (const client of this.#clients) client.end(text);
  }

  get #noun(): string {
    return this.#limits.areConnections ? 'connections' : 'clients';
  }

  get #watchIntervalMs(): number {
    const { idleTimeoutMs, slowTimeoutMs } = this.#limits;
    return Math.max(10, Math.min(1000, idleTimeoutMs / 4, slowTimeoutMs / 4));
  }

  #dropUseless(): void {
    const { idleTimeoutMs, slowTimeoutMs, areConnections } = this.#limits;
    const now = performance.now();
    for (const client of this.#clients) {
      if (client.slowFor(slowTimeoutMs, now)) {
        this.reject(client, 'slow', `the client did not read its replies for ${slowTimeoutMs} ms`);
      } else if (!client.busy && now - client.activeAt >= idleTimeoutMs) {
        const text = `no request for ${idleTimeoutMs} ms`;
        if (areConnections) this.reject(client, 'idle', text);
        else client.end(text);
      }
    }
  }
}

function identityOf({ client, clientId }: ClientIdentity): ClientIdentity {
  return { client, clientId };
}

/**
 * The client to give up for a new one: one that never sent a request before one that did, so that a flood of silent
 * connections throws out itself; then the one that has been idle longest. Busy ones stay.
 */
function leastUseful(clients: Iterable<Client>): Client | undefined {
  let least: Client | undefined;
  for (const client of clients) {
    if (client.busy) continue;
    if (least === undefined || Number(client.spoke) < Number(least.spoke)) least = client;
    else if (client.spoke === least.spoke && client.activeAt < least.activeAt) least = client;
  }
  return least;
}
