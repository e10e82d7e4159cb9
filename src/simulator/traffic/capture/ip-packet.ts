import { concatBytes, setWord, wordAt } from '../../../modbus/protocol/bytes.js';

/** One end of a conversation on IP. */
export interface IpEndpoint {
  /** Four bytes (IPv4) or sixteen (IPv6). */
  readonly address: Uint8Array;
  readonly port: number;
}

/** Reads the address of a client in an event: `192.168.0.7:40112` or `[fe80::1%eth0]:40112`. */
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

/**
 * The bytes of an IPv6 address. Fills up what `::` stands for. The last four bytes may be written as an IPv4
 * address.
 */
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

/** Flags of a TCP segment (RFC 9293, 3.1). */
export const TCP_FLAGS = { fin: 0x01, syn: 0x02, rst: 0x04, psh: 0x08, ack: 0x10 } as const;

export interface Segment {
  readonly sequence: number;
  readonly acknowledgement: number;
  readonly flags: number;
  readonly payload: Uint8Array;
}

const TCP = 6;
const UDP = 17;
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
  // The checksum 0 would mean that there is none (RFC 768).
  setWord(datagram, 6, checksum(UDP, from, to, datagram) || 0xffff);
  return ipPacket(UDP, from, to, datagram);
}

/** An IP packet with a TCP segment. */
export function tcpPacket(from: IpEndpoint, to: IpEndpoint, segment: Segment): Uint8Array {
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
  setWord(bytes, 16, checksum(TCP, from, to, bytes));
  return ipPacket(TCP, from, to, bytes);
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

/** The header of an IPv4 packet (RFC 791, 3.1): without options, not to be fragmented. */
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

/** The checksum of a segment or datagram, whose own checksum is still 0, with its pseudo-header. */
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
