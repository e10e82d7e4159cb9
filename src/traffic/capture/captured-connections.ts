import { addressOf, type Endpoint, endpointOf } from './endpoint.js';
import type { CaptureLine } from './packet.js';
import { CapturedConnection } from './tcp-connection.js';

/** More connections than a line may have. Of the oldest ones the sequence numbers are forgotten. */
const MAX_CONNECTIONS = 65_536;
/** 2^32 divided by the golden ratio: multiples of it are far from each other. */
const SPREAD = 0x9e37_79b1;

/** The TCP connections of all lines of a capture. */
export class CapturedConnections {
  readonly #byClient = new Map<string, CapturedConnection>();

  of(line: CaptureLine, clientId: number, client: string): CapturedConnection {
    const key = `${clientId} ${line.name}`;
    const known = this.#byClient.get(key);
    if (known) return known;
    const [oldest] = this.#byClient.size >= MAX_CONNECTIONS ? this.#byClient.keys() : [];
    if (oldest !== undefined) this.#byClient.delete(oldest);
    const from = endpointOf(client);
    const initial = Math.imul(clientId - 1, SPREAD) >>> 0;
    const connection = new CapturedConnection(from, serverOf(line, from), initial);
    this.#byClient.set(key, connection);
    return connection;
  }

  forget(line: CaptureLine, clientId: number): void {
    this.#byClient.delete(`${clientId} ${line.name}`);
  }
}

/**
 * Where a line listens, as its client sees it: the address of the line, if it has one of the client's kind. Otherwise
 * it is the client's own address for a client on this machine, and else the address that means any.
 */
export function serverOf({ host = '', port = 0 }: CaptureLine, client: Endpoint): Endpoint {
  const address = addressOf(host);
  const fits = address.length === client.address.length && address.some((byte) => byte !== 0);
  if (fits) return { address, port };
  return { address: isLoopback(client) ? client.address : new Uint8Array(client.address.length), port };
}

function isLoopback({ address }: Endpoint): boolean {
  return address.length === 4 ? address[0] === 127 : address.every((byte, i) => byte === (i === 15 ? 1 : 0));
}
