import { IP_PROTOCOL, TCP_FLAGS } from '../../../common/capture-numbers.js';
import { concatBytes, NO_BYTES, setWord, wordAt } from '../../../modbus/protocol/bytes.js';
import type { ClientOf, TrafficEvent } from '../event.js';
import {
  type CaptureLine,
  doneSteps,
  type Packet,
  packetOf,
  receivedComments,
  silenceComments,
} from './packet.js';

/** One end of an IP conversation. */
export interface IpEndpoint {
  /** Four bytes (IPv4) or sixteen (IPv6). */
  readonly address: Uint8Array;
  readonly port: number;
}

/** Parses the client address of an event: `192.168.0.7:40112` or `[fe80::1%eth0]:40112`. */
export function endpointOf(client: string): IpEndpoint {
  const colon = client.lastIndexOf(':');
  return { address: addressOf(client.slice(0, colon)), port: Number(client.slice(colon + 1)) };
}

/** The bytes of an address. For a name, the result is 0.0.0.0. */
export function addressOf(text: string): Uint8Array {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (IPV4.test(bare)) return Uint8Array.from(bare.split('.'), Number);
  return bare.includes(':') ? ipv6(bare) : new Uint8Array(4);
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** The bytes of an IPv6 address. Expands `::`. The last four bytes may be written as an IPv4 address. */
function ipv6(text: string): Uint8Array {
  const [front = '', back] = text.split('::');
  const [head, tail] = [groups(front), groups(back ?? '')];
  const bytes = new Uint8Array(16);
  bytes.set(head.slice(0, 16));
  if (tail.length > 0) bytes.set(tail, Math.max(0, 16 - tail.length));
  return bytes;
}

function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (IPV4.test(group)) return group.split('.').map(Number);
    const word = Number.parseInt(group, 16) || 0;
    return [word >>> 8, word & 0xff];
  });
}

interface Segment {
  readonly sequence: number;
  readonly acknowledgement: number;
  readonly flags: number;
  readonly payload: Uint8Array;
}

const HOP_LIMIT = 64;
/** The longest payload of a UDP datagram on IPv4. */
export const MAX_DATAGRAM = 65_507;
const WINDOW = 0xffff;

/** An IP packet with a UDP datagram. Both ends have addresses of the same kind. */
export function udpPacket(from: IpEndpoint, to: IpEndpoint, payload: Uint8Array): Uint8Array {
  const header = new Uint8Array(8);
  setWord(header, 0, from.port);
  setWord(header, 2, to.port);
  setWord(header, 4, header.length + payload.length);
  const datagram = concatBytes(header, payload);
  // A checksum of 0 would mean that there is none (RFC 768).
  setWord(datagram, 6, checksum(IP_PROTOCOL.udp, from, to, datagram) || 0xffff);
  return ipPacket(IP_PROTOCOL.udp, from, to, datagram);
}

function tcpPacket(from: IpEndpoint, to: IpEndpoint, segment: Segment): Uint8Array {
  const { sequence, acknowledgement, flags, payload } = segment;
  const header = new Uint8Array(20);
  const view = new DataView(header.buffer);
  view.setUint16(0, from.port);
  view.setUint16(2, to.port);
  view.setUint32(4, sequence);
  view.setUint32(8, acknowledgement);
  view.setUint8(12, (header.length / 4) << 4);
  view.setUint8(13, flags);
  view.setUint16(14, WINDOW);
  const bytes = concatBytes(header, payload);
  setWord(bytes, 16, checksum(IP_PROTOCOL.tcp, from, to, bytes));
  return ipPacket(IP_PROTOCOL.tcp, from, to, bytes);
}

function ipPacket(protocol: number, from: IpEndpoint, to: IpEndpoint, payload: Uint8Array): Uint8Array {
  const isIpv4 = from.address.length === 4;
  const header = isIpv4 ? ipv4Header(protocol, payload.length) : ipv6Header(protocol, payload.length);
  const addressesAt = header.length - 2 * from.address.length;
  header.set(from.address, addressesAt);
  header.set(to.address, addressesAt + from.address.length);
  if (isIpv4) setWord(header, 10, complement(sumOf(header)));
  return concatBytes(header, payload);
}

/** The header of an IPv4 packet (RFC 791, 3.1), without options and with "don't fragment" set. */
function ipv4Header(protocol: number, length: number): Uint8Array {
  const header = Uint8Array.of(0x45, 0, 0, 0, 0, 0, 0x40, 0, HOP_LIMIT, protocol, ...new Array(10).fill(0));
  setWord(header, 2, header.length + length);
  return header;
}

/** The header of an IPv6 packet (RFC 8200, 3). */
function ipv6Header(protocol: number, length: number): Uint8Array {
  const header = new Uint8Array(40);
  header[0] = 0x60;
  setWord(header, 4, length);
  header[6] = protocol;
  header[7] = HOP_LIMIT;
  return header;
}

/** The checksum of a segment or datagram and its pseudo-header. The checksum field in it is still 0. */
function checksum(protocol: number, from: IpEndpoint, to: IpEndpoint, bytes: Uint8Array): number {
  return complement(sumOf(from.address) + sumOf(to.address) + protocol + bytes.length + sumOf(bytes));
}

function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += wordAt(bytes, i);
  return sum;
}

/** The one's complement of a sum of words (RFC 1071). */
function complement(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + (folded >>> 16);
  return ~folded & 0xffff;
}

/**
 * Shows the traffic of a TCP line, or the decrypted traffic of a TLS line, as TCP connections. Sequence
 * numbers, handshakes and acknowledgements are made up; addresses, bytes and times are real.
 */
export function tcpPackets(
  event: TrafficEvent,
  line: CaptureLine,
  connections: CapturedConnections,
): Packet[] {
  if (!('client' in event) || event.client === undefined) return [];
  const { clientId } = event;
  const connection = connections.of(line, event, event.client);
  const opening = event.kind === 'client' ? [] : connection.openAgain();
  const packets = (at: number, all: readonly Uint8Array[], comments: readonly string[] = []): Packet[] => [
    ...opening.splice(0).map((bytes) => packetOf(event, 'raw', at, bytes, [])),
    ...all.map((bytes, i) => packetOf(event, 'raw', at, bytes, i === 0 ? comments : [])),
  ];
  switch (event.kind) {
    case 'reply': {
      const steps = doneSteps(event);
      if (steps.length === 0)
        return packets(event.at, connection.data('server', NO_BYTES), silenceComments(event));
      return steps.flatMap(({ step, at, comments }) => {
        if (step.kind === 'bytes') return packets(at, connection.data('server', step.bytes), comments);
        // Sockets do not have breaks.
        if (step.kind === 'break') return [];
        return packets(at, connection.close('server', step.how), comments);
      });
    }
    case 'client':
      return packets(event.at, connection.open(), textOf('role', event.text));
    case 'client rejected':
      return packets(event.at, connection.close('server', 'reset'), textOf('turned away', event.text));
    case 'client gone':
      connections.forget(line, clientId);
      return packets(event.at, connection.close('client', 'end'), textOf('gone', event.text));
    default:
      return packets(event.startedAt, connection.data('client', event.bytes), receivedComments(event));
  }
}

function textOf(what: string, text: string): string[] {
  return text === '' ? [] : [`${what}: ${text}`];
}

/** Shows the traffic of a UDP line, one packet per datagram. Silence has no packet. */
export function udpPackets(event: TrafficEvent, line: CaptureLine): Packet[] {
  if (!('client' in event) || event.client === undefined) return [];
  const client = endpointOf(event.client);
  const server = serverOf(line, event, client);
  switch (event.kind) {
    case 'reply':
      return doneSteps(event).flatMap(({ step, at, comments }) => {
        if (step.kind !== 'bytes') return [];
        const sent = udpPacket(server, client, step.bytes.subarray(0, MAX_DATAGRAM));
        return packetOf(event, 'raw', at, sent, comments);
      });
    // UDP has no connections.
    case 'client':
    case 'client gone':
    case 'client rejected':
      return [];
    default: {
      const received = udpPacket(client, server, event.bytes);
      return [packetOf(event, 'raw', event.startedAt, received, receivedComments(event))];
    }
  }
}

/**
 * Maximum number of connections that are remembered: more than a line may have. The sequence numbers of the
 * oldest are forgotten.
 */
const MAX_CONNECTIONS = 65_536;
/** 2^32 divided by the golden ratio: its multiples are far apart. */
const SPREAD = 0x9e37_79b1;

export class CapturedConnections {
  readonly #byClient = new Map<string, CapturedConnection>();
  /** The client ports seen in the capture so far. */
  readonly #ports = new Set<string>();

  of(line: CaptureLine, of: ClientOf, client: string): CapturedConnection {
    const { clientId } = of;
    const key = `${clientId} ${line.name}`;
    const known = this.#byClient.get(key);
    if (known) return known;
    const [oldest] = this.#byClient.size >= MAX_CONNECTIONS ? this.#byClient.keys() : [];
    if (oldest !== undefined) this.#byClient.delete(oldest);
    const from = endpointOf(client);
    const initial = Math.imul(clientId - 1, SPREAD) >>> 0;
    const port = `${client} ${line.name}`;
    const connection = new CapturedConnection(from, serverOf(line, of, from), initial, this.#ports.has(port));
    this.#byClient.set(key, connection);
    const [first] = this.#ports.size >= MAX_CONNECTIONS ? this.#ports : [];
    if (first !== undefined) this.#ports.delete(first);
    this.#ports.add(port);
    return connection;
  }

  forget(line: CaptureLine, clientId: number): void {
    this.#byClient.delete(`${clientId} ${line.name}`);
  }
}

/**
 * The server's address as its client sees it: the address that the client connected to, or the line's, if it
 * is of the same kind as the client's. Otherwise, the client's own address for a client on this machine, or
 * else the unspecified address.
 */
function serverOf({ host = '', port = 0 }: CaptureLine, of: ClientOf, client: IpEndpoint): IpEndpoint {
  const address = addressOf(of.host ?? host);
  const fits = address.length === client.address.length && address.some((byte) => byte !== 0);
  if (fits) return { address, port };
  return { address: isLoopback(client) ? client.address : new Uint8Array(client.address.length), port };
}

function isLoopback({ address }: IpEndpoint): boolean {
  return address.length === 4 ? address[0] === 127 : address.every((byte, i) => byte === (i === 15 ? 1 : 0));
}

const { ack, fin, psh, rst, syn } = TCP_FLAGS;

type Side = 'client' | 'server';

/** Maximum number of bytes in a segment. A longer piece is split into several segments. */
const MAX_SEGMENT = 32 * 1024;

/**
 * A TCP connection as packets. Both directions start with the same sequence number. A connection whose start
 * is not in the capture starts with data, unless its client port was used before: without a handshake,
 * Wireshark would add the data to the earlier connection.
 */
export class CapturedConnection {
  readonly #ends: Readonly<Record<Side, IpEndpoint>>;
  /** The next sequence number of each side: initially the one after its SYN. */
  readonly #next: Record<Side, number>;
  /** The sides that have sent FIN or RST. */
  readonly #closed = new Set<Side>();

  #needsOpening: boolean;

  /** @param initial the initial sequence number; it must differ when a client reuses a port */
  constructor(client: IpEndpoint, server: IpEndpoint, initial: number, isPortUsedAgain = false) {
    this.#ends = { client, server };
    this.#needsOpening = isPortUsedAgain;
    this.#next = { client: (initial + 1) >>> 0, server: (initial + 1) >>> 0 };
  }

  /** The handshake of a connection that needs one before its first data and has not had one yet. */
  openAgain(): Uint8Array[] {
    return this.#needsOpening ? this.open() : [];
  }

  open(): Uint8Array[] {
    this.#needsOpening = false;
    const { client, server } = this.#ends;
    const behind = this.#next.client;
    const first = { sequence: (behind - 1) >>> 0, acknowledgement: 0, payload: NO_BYTES };
    return [
      tcpPacket(client, server, { ...first, flags: syn }),
      tcpPacket(server, client, { ...first, acknowledgement: behind, flags: syn | ack }),
      this.#packet('client', ack),
    ];
  }

  /** The packets for bytes sent by one side; without bytes, a single acknowledgement. */
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

  #packet(from: Side, flags: number, payload: Uint8Array = NO_BYTES): Uint8Array {
    const to = from === 'client' ? 'server' : 'client';
    const sequence = this.#next[from];
    this.#next[from] = (sequence + payload.length) >>> 0;
    const segment = { sequence, acknowledgement: this.#next[to], flags, payload };
    return tcpPacket(this.#ends[from], this.#ends[to], segment);
  }
}
