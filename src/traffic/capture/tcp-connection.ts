import type { Endpoint } from './endpoint.js';
import { TCP_FLAGS, tcpPacket } from './ip-packet.js';

const { ack, fin, psh, rst, syn } = TCP_FLAGS;

export type Side = 'client' | 'server';

/** A longer piece goes into several segments. */
const MAX_SEGMENT = 32 * 1024;
const NOTHING = new Uint8Array();

/**
 * One TCP connection as packets. Both directions begin with the same sequence number. A connection whose beginning is not in
 * the capture begins with data.
 */
export class CapturedConnection {
  readonly #ends: Readonly<Record<Side, Endpoint>>;
  /** The next sequence number of each side: the one behind its SYN. */
  readonly #next: Record<Side, number>;
  /** Sides that have sent a FIN or a RST. */
  readonly #closed = new Set<Side>();

  /** @param initial the initial sequence number. A client may use a port again: then it has to be another one. */
  constructor(client: Endpoint, server: Endpoint, initial: number) {
    this.#ends = { client, server };
    this.#next = { client: (initial + 1) >>> 0, server: (initial + 1) >>> 0 };
  }

  open(): Uint8Array[] {
    const { client, server } = this.#ends;
    const behind = this.#next.client;
    const first = { sequence: (behind - 1) >>> 0, acknowledgement: 0, payload: NOTHING };
    return [
      tcpPacket(client, server, { ...first, flags: syn }),
      tcpPacket(server, client, { ...first, acknowledgement: behind, flags: syn | ack }),
      this.#packet('client', ack),
    ];
  }

  /** Bytes that one side has sent; without bytes, an acknowledgement alone. */
  data(from: Side, bytes: Uint8Array): Uint8Array[] {
    if (bytes.length === 0) return [this.#packet(from, ack)];
    const packets = [];
    for (let at = 0; at < bytes.length; at += MAX_SEGMENT) {
      packets.push(this.#packet(from, psh | ack, bytes.subarray(at, at + MAX_SEGMENT)));
    }
    return packets;
  }

  close(from: Side, how: 'end' | 'reset'): Uint8Array[] {
    if (this.#closed.has(from)) return [];
    this.#closed.add(from);
    if (how === 'reset') {
      this.#closed.add('client').add('server');
      return [this.#packet(from, rst | ack)];
    }
    const packet = this.#packet(from, fin | ack);
    this.#next[from] = (this.#next[from] + 1) >>> 0;
    return [packet];
  }

  #packet(from: Side, flags: number, payload: Uint8Array = NOTHING): Uint8Array {
    const to = from === 'client' ? 'server' : 'client';
    const sequence = this.#next[from];
    this.#next[from] = (sequence + payload.length) >>> 0;
    const segment = { sequence, acknowledgement: this.#next[to], flags, payload };
    return tcpPacket(this.#ends[from], this.#ends[to], segment);
  }
}
