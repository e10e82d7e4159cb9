import { type Packet, viewOf } from './capture-file.js';

/** Data of TCP or UDP in a packet. */
export interface Segment {
  readonly number: number;
  readonly at: number;
  /** Address and port of the sender and of the receiver. */
  readonly from: string;
  readonly to: string;
  readonly fromPort: number;
  readonly toPort: number;
  /** What TCP says of the segment; undefined in a datagram of UDP. */
  readonly tcp: { readonly sequence: number; readonly isSyn: boolean; readonly isAck: boolean } | undefined;
  readonly data: Uint8Array;
}

/**
 * The number of bytes before an IP packet, by link type: loopback, raw IP, loopback of OpenBSD, Linux cooked,
 * raw IPv4 and IPv6, Linux cooked 2.
 */
const HEADER_LENGTHS = new Map([
  [0, 4],
  [12, 0],
  [14, 0],
  [101, 0],
  [108, 4],
  [113, 16],
  [228, 0],
  [229, 0],
  [276, 20],
]);
const ETHERNET = 1;
/** The types of Ethernet of a tag of a virtual LAN. */
const TAGS = [0x8100, 0x88a8, 0x9100];
const TCP = 6;
const UDP = 17;
const SYN = 0x02;
const ACK = 0x10;

/** Tells whether packets of this link type have IP in them. */
export function hasIp(link: number): boolean {
  return link === ETHERNET || HEADER_LENGTHS.has(link);
}

/** Finds the data of TCP or UDP in a packet; undefined where there is none. */
export function segmentOf({ number, at, link, bytes }: Packet): Segment | undefined {
  const ip = ipPacketIn(link, bytes);
  const version = (ip?.[0] ?? 0) >> 4;
  if (!ip || (version !== 4 && version !== 6) || ip.length < 28) return undefined;
  const header = version === 4 ? 4 * ((ip[0] as number) & 15) : 40;
  const protocol = version === 4 ? ip[9] : ip[6];
  if ((protocol !== TCP && protocol !== UDP) || ip.length < header + (protocol === TCP ? 20 : 8))
    return undefined;
  const view = viewOf(ip);
  // A frame of Ethernet may be longer than its packet.
  const length = version === 4 ? view.getUint16(2) : 40 + view.getUint16(4);
  const hosts = version === 4 ? ip.subarray(12, 20) : ip.subarray(8, 40);
  const half = hosts.length / 2;
  const [from, to] = [hosts.subarray(0, half), hosts.subarray(half)].map((each) =>
    Buffer.from(each).toString('hex'),
  );
  const [fromPort, toPort] = [view.getUint16(header), view.getUint16(header + 2)];
  const offset = protocol === TCP ? 4 * (view.getUint8(header + 12) >> 4) : 8;
  const flags = protocol === TCP ? view.getUint8(header + 13) : 0;
  return {
    ...{ number, at, fromPort, toPort },
    from: `${from}:${fromPort}`,
    to: `${to}:${toPort}`,
    tcp:
      protocol === TCP
        ? {
            sequence: view.getUint32(header + 4),
            isSyn: (flags & SYN) !== 0,
            isAck: (flags & ACK) !== 0,
          }
        : undefined,
    data: ip.subarray(header + offset, Math.min(ip.length, length || ip.length)),
  };
}

function ipPacketIn(link: number, bytes: Uint8Array): Uint8Array | undefined {
  const at = HEADER_LENGTHS.get(link);
  if (at !== undefined) return bytes.subarray(at);
  if (link !== ETHERNET) return undefined;
  let start = 12;
  while (TAGS.includes((bytes[start] ?? 0) * 0x100 + (bytes[start + 1] ?? 0))) start += 4;
  return bytes.subarray(start + 2);
}
