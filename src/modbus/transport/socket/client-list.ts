import { descriptorLimit, lowestFreeDescriptor, RESERVED_DESCRIPTORS } from '../../../common/descriptors.js';
import { systemClock } from '../clock.js';
import type { WhenFull } from '../settings.js';
import type { LineHandler, Rejection } from '../transport.js';

/** Maximum and minimum number of descriptors to keep for connections of REST. */
const MOST_FOR_REST = 96;
const FEWEST_FOR_REST = 32;
/** The fraction of the descriptor limit that clients of lines leave free. */
const FREE_PART = 1 / 8;

/**
 * `free`: a line may have one more client. `scarce`: a line that has clients counts as full. `spent`: no line
 * may have one more, because the rest is for REST and files.
 */
export type DescriptorState = 'free' | 'scarce' | 'spent';

/**
 * Returns a function that reports how many of this process's file descriptors the clients of lines have left
 * free. Of 1,024 descriptors, clients leave 128 free, or 80 on a line without any other client; of 256
 * descriptors, 64 and 48.
 * @param limit how many descriptors the process may have; undefined for the system's limit
 */
export function descriptorStates(limit = descriptorLimit()): () => DescriptorState {
  if (limit === undefined) return () => 'free';
  const forRest = Math.min(
    MOST_FOR_REST,
    Math.max(FEWEST_FOR_REST, Math.floor(limit * FREE_PART) - RESERVED_DESCRIPTORS),
  );
  const spentFrom = limit - RESERVED_DESCRIPTORS - forRest / 2;
  const scarceFrom = limit - RESERVED_DESCRIPTORS - forRest;
  return () => {
    const used = lowestFreeDescriptor();
    if (used < scarceFrom) return 'free';
    return used < spentFrom ? 'scarce' : 'spent';
  };
}

/**
 * Maximum connections that wait for a client to leave, with `ignore`. The number is limited, like the backlog
 * of a listening socket, because each connection holds the bytes that it reads ahead.
 */
const MAX_WAITING = 64;

/** Why a connection is not served although the line has room. */
export const NO_DESCRIPTORS =
  'this process has almost reached its limit of open files and sockets (ulimit -n)';

/** How events and requests name a client. */
export interface ClientIdentity {
  readonly client: string;
  readonly clientId: number;
  /** The local address that the client connected to, on a line with several. */
  readonly host: string | undefined;
}

/** One client of a line: a connection, or an address that datagrams come from. */
export interface Client extends ClientIdentity {
  /**
   * When the last request came or a delayed reply was sent; before either, when the client connected;
   * `performance.now()` ms.
   */
  readonly activeAt: number;
  /** True if the client has sent a complete request. */
  readonly spoke: boolean;
  /** True while the client waits for replies. */
  readonly busy: boolean;
  /** Reports whether the client has left too many replies unread for `timeoutMs`. Called from time to time. */
  slowFor(timeoutMs: number, now: number): boolean;
  /**
   * Sends unsolicited bytes to this client: after any pending replies if `waits` is true; otherwise only if
   * there are none. Absent if a client has no connection.
   */
  sendUnsolicited?(bytes: Uint8Array, how: { readonly waits: boolean }): void;
  /**
   * Ends the client now, and reports the steps that were not played. The client removes itself from the list.
   * Calling it twice is harmless.
   */
  end(text: string): void;
}

/** A connection beyond the limit, which is open but gets no answer. */
export interface WaitingClient extends Client {
  /** Makes the connection a client, because there is room now. The requests that it has already sent are answered. */
  serve(): void;
}

interface WaitingConnection {
  readonly client: WaitingClient;
  readonly role: string | undefined;
}

interface ClientLimits {
  readonly maxClients: number;
  readonly whenFull: WhenFull;
  readonly idleTimeoutMs: number;
  readonly slowTimeoutMs: number;
  /**
   * True if an idle client loses a connection, which is a rejection. Without connections, the client is only
   * forgotten.
   */
  readonly areConnections: boolean;
}

/** The clients of one line. Limits their number, decides which one to drop, and reports when they come and go. */
export class ClientList {
  readonly #limits: ClientLimits;
  readonly #handler: LineHandler;
  readonly #clients = new Set<Client>();
  /** The waiting connections, the oldest first. */
  readonly #waiting = new Map<Client, WaitingConnection>();
  /**
   * The timer, which runs while there are clients. One timer serves all of them, so that requests need not
   * set or clear any.
   */
  #watch: NodeJS.Timeout | undefined;

  constructor(limits: ClientLimits, handler: LineHandler) {
    this.#limits = limits;
    this.#handler = handler;
  }

  get count(): number {
    return this.#clients.size;
  }

  /** Returns an identity for a new client, admitted or not. */
  identify(client: string, host?: string): ClientIdentity {
    return { client, clientId: this.#handler.newClientId(), host };
  }

  /**
   * Makes room for one more client, if the line does that, by ending the least useful client. Returns false
   * if the new client is not served; it is then reported as rejected.
   * @param descriptors a line also counts as full if one more connection would take a descriptor reserved for
   * others
   */
  makeRoom(newcomer: ClientIdentity, descriptors: DescriptorState = 'free'): boolean {
    const { maxClients, whenFull } = this.#limits;
    const { size } = this.#clients;
    const isFull = size >= maxClients;
    if (!isFull && (descriptors === 'free' || (descriptors === 'scarce' && size === 0))) return true;
    const mayWait = this.mayWait(descriptors) ? '; the new client is not served until one closes' : '';
    const why = isFull ? '' : `; ${NO_DESCRIPTORS}`;
    const refuse = (text: string) => {
      this.turnAway(newcomer, 'limit', text + why);
      return false;
    };
    if (size === 0) return refuse(`no room for a client${mayWait}`);
    if (whenFull !== 'evict') return refuse(`all ${size} ${this.#noun} are in use${mayWait}`);
    const idle = leastUseful(this.#clients);
    if (idle === undefined) return refuse(`all ${size} ${this.#noun} have replies pending`);
    this.reject(
      idle,
      'limit',
      `the longest-idle of ${size} ${this.#noun} was closed to make room for a new one${why}`,
    );
    return true;
  }

  /** Adds a client for which there is room, before it can send a request. */
  add(client: Client, role?: string): void {
    this.#clients.add(client);
    // After a stall of this process, what clients sent and read meanwhile counts.
    const watch = () => void systemClock.callAfter(0, () => this.#dropUseless());
    this.#watch ??= setInterval(watch, this.#watchIntervalMs).unref();
    this.#handler.event({ kind: 'client', ...identityOf(client), ...(role !== undefined && { role }) });
  }

  /** Reports whether a new client without room stays connected. It is served when one of the clients leaves. */
  mayWait(descriptors: DescriptorState): boolean {
    const { whenFull } = this.#limits;
    const hasRoom = this.#clients.size > 0 && this.#waiting.size < MAX_WAITING;
    return whenFull === 'ignore' && hasRoom && descriptors !== 'spent';
  }

  /** Keeps a connection waiting until there is room for it. */
  wait(client: WaitingClient, role?: string): void {
    this.#waiting.set(client, { client, role });
  }

  /** Reports that a new client was not admitted. */
  turnAway(newcomer: ClientIdentity, reason: Rejection, text: string): void {
    this.#handler.event({ kind: 'rejected', ...newcomer, reason, text });
  }

  /** Ends a client for a reason of the line, and reports that. */
  reject(client: Client, reason: Rejection, text: string): void {
    if (!this.#clients.has(client)) return;
    this.#handler.event({ kind: 'rejected', ...identityOf(client), reason, text });
    client.end(text);
  }

  /** Removes a client that is gone. The longest-waiting connection takes its place. */
  remove(client: Client, text: string): void {
    // A connection that only waited was reported when it was accepted.
    if (this.#waiting.delete(client)) return;
    this.#clients.delete(client);
    if (this.#clients.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    this.#handler.event({ kind: 'client-gone', ...identityOf(client), text });
    const [next] = this.#waiting.values();
    if (next === undefined) return;
    this.#waiting.delete(next.client);
    this.add(next.client, next.role);
    next.client.serve();
  }

  sendUnsolicited(bytes: Uint8Array, how: { readonly waits: boolean }): void {
    for (const client of this.#clients) client.sendUnsolicited?.(bytes, how);
  }

  /** Ends all clients. @param at only the clients connected to one of these addresses of the line */
  endAll(text: string, at?: ReadonlySet<string>): void {
    for (const client of [...this.#waiting.keys(), ...this.#clients])
      if (!at || (client.host !== undefined && at.has(client.host))) client.end(text);
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

function identityOf({ client, clientId, host }: ClientIdentity): ClientIdentity {
  return { client, clientId, host };
}

/**
 * Returns the client to drop for a new one. Clients that never sent a request go first, so that a flood of
 * silent connections displaces only itself; then the client that has been idle longest. Busy clients stay.
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
