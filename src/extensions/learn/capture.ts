import { IP_PROTOCOL, TCP_FLAGS } from '../../common/capture-numbers.js';
import { failure, type Result, success } from '../../common/result.js';
import { counted, plural } from '../../common/words.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import { SOCKET } from '../../modbus/protocol/framing.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { MOST_PACKETS, type Packet, packetsOf, viewOf } from './capture-file.js';
import { CHECKED, wholeFrames } from './frames.js';
import { type LoggedBytes, type LogLines, noteOf } from './logged-bytes.js';

/** TCP or UDP data in a packet. */
interface Segment {
  readonly number: number;
  readonly at: number;
  /** Address and port of the sender and of the receiver. */
  readonly from: string;
  readonly to: string;
  readonly fromPort: number;
  readonly toPort: number;
  /** The TCP fields of the segment; undefined for a UDP datagram. */
  readonly tcp:
    | {
        readonly sequence: number;
        readonly isSyn: boolean;
        readonly isAck: boolean;
        readonly isEnd: boolean;
      }
    | undefined;
  readonly data: Uint8Array;
}

/**
 * The number of bytes before an IP packet, by link type: loopback, raw IP, OpenBSD loopback, Linux cooked,
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
/** The Ethernet types that mark a VLAN tag. */
const TAGS = [0x8100, 0x88a8, 0x9100];
/** The Ethernet type of a PPPoE session, and the bytes between it and IP (RFC 2516, 4). */
const PPPOE = 0x8864;
const PPPOE_HEADER = 8;
const { tcp, udp } = IP_PROTOCOL;
const { fin, syn, rst, ack } = TCP_FLAGS;

/** Reports whether packets with this link type contain IP. */
function hasIp(link: number): boolean {
  return link === ETHERNET || HEADER_LENGTHS.has(link);
}

/** Finds the TCP or UDP data in a packet; undefined if there is none. */
function segmentOf({ number, at, link, bytes }: Packet): Segment | undefined {
  const ip = ipPacketIn(link, bytes);
  const version = (ip?.[0] ?? 0) >> 4;
  if (!ip || (version !== 4 && version !== 6) || ip.length < 28) return undefined;
  const header = version === 4 ? 4 * ((ip[0] as number) & 15) : 40;
  const protocol = version === 4 ? ip[9] : ip[6];
  if ((protocol !== tcp && protocol !== udp) || ip.length < header + (protocol === tcp ? 20 : 8))
    return undefined;
  const view = viewOf(ip);
  // An Ethernet frame may be padded, so it can be longer than the IP packet in it.
  const length = version === 4 ? view.getUint16(2) : 40 + view.getUint16(4);
  const hosts = version === 4 ? ip.subarray(12, 20) : ip.subarray(8, 40);
  const half = hosts.length / 2;
  const [from, to] = [hosts.subarray(0, half), hosts.subarray(half)].map(hostText);
  const [fromPort, toPort] = [view.getUint16(header), view.getUint16(header + 2)];
  const offset = protocol === tcp ? 4 * (view.getUint8(header + 12) >> 4) : 8;
  const flags = protocol === tcp ? view.getUint8(header + 13) : 0;
  return {
    ...{ number, at, fromPort, toPort },
    from: `${from}:${fromPort}`,
    to: `${to}:${toPort}`,
    tcp:
      protocol === tcp
        ? {
            sequence: view.getUint32(header + 4),
            isSyn: (flags & syn) !== 0,
            isAck: (flags & ack) !== 0,
            isEnd: (flags & (fin | rst)) !== 0,
          }
        : undefined,
    data: ip.subarray(header + offset, Math.min(ip.length, length || ip.length)),
  };
}

/** Formats an IPv4 or IPv6 address: `10.0.0.7`, `[fd00:0:0:0:0:0:0:7]`. */
function hostText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const view = viewOf(bytes);
  const groups = Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i).toString(16));
  return `[${groups.join(':')}]`;
}

function ipPacketIn(link: number, bytes: Uint8Array): Uint8Array | undefined {
  const at = HEADER_LENGTHS.get(link);
  if (at !== undefined) return bytes.subarray(at);
  if (link !== ETHERNET) return undefined;
  const typeAt = (at: number) => (bytes[at] ?? 0) * 0x100 + (bytes[at + 1] ?? 0);
  let start = 12;
  while (TAGS.includes(typeAt(start))) start += 4;
  return bytes.subarray(start + 2 + (typeAt(start) === PPPOE ? PPPOE_HEADER : 0));
}

/** Bytes in one direction of a connection, and the packet with the last of them. */
interface SentBytes {
  readonly number: number;
  readonly at: number;
  readonly bytes: Uint8Array;
  /** True if the bytes before these are missing from the capture. */
  readonly isAfterGap: boolean;
}

/** Maximum number of segments that wait for a missing one. */
const MOST_HELD = 64;

/** Puts the segments in one direction of a TCP connection in order, and drops repeated bytes. */
class TcpStream {
  readonly pieces: SentBytes[] = [];
  #next: number | undefined;
  #held: Segment[] = [];

  push(segment: Segment): void {
    const { sequence, isSyn } = segment.tcp ?? { sequence: 0, isSyn: false };
    if (isSyn) this.#next = (sequence + 1) | 0;
    if (segment.data.length === 0) return;
    this.#next ??= sequence;
    this.#held.push(segment);
    this.#drain();
    if (this.#held.length > MOST_HELD) this.#skip();
  }

  /** Accepts the segments that still wait for missing ones. */
  end(): void {
    while (this.#held.length > 0) this.#skip();
  }

  #drain(isAfterGap = false): void {
    let hasGap = isAfterGap;
    for (let i = 0; i < this.#held.length; ) {
      const { number, at, data } = this.#held[i] as Segment;
      const known = -this.#ahead(this.#held[i] as Segment);
      if (known < 0) {
        i++;
        continue;
      }
      this.#held.splice(i, 1);
      if (known >= data.length) continue;
      this.pieces.push({ number, at, bytes: data.subarray(known), isAfterGap: hasGap });
      hasGap = false;
      this.#next = ((this.#next ?? 0) + data.length - known) | 0;
      i = 0;
    }
  }

  /** Skips a gap: continues with the first of the waiting segments. */
  #skip(): void {
    const [first] = this.#held.toSorted((a, b) => this.#ahead(a) - this.#ahead(b));
    this.#next = first?.tcp?.sequence;
    this.#drain(true);
  }

  /** How many bytes are missing before a segment; negative if its first bytes are already known. */
  #ahead({ tcp }: Segment): number {
    return ((tcp?.sequence ?? 0) - (this.#next ?? 0)) | 0;
  }
}

/**
 * Cuts pieces into frames by their MBAP headers. Data without such a header becomes one frame per piece.
 * After a gap, cutting resumes at the first piece that begins with a whole frame.
 * @param isStream false for datagrams, each of which is complete
 */
function cutByMbap(pieces: readonly SentBytes[], isStream: boolean): SentBytes[] {
  const frames: SentBytes[] = [];
  let pending: Uint8Array = new Uint8Array();
  let [isLost, hasGap] = [false, false];
  for (const piece of pieces) {
    if (piece.isAfterGap) [isLost, hasGap] = [true, true];
    // The pending bytes will never be completed, and the next ones may be the end of another frame.
    if (isLost || !isStream) pending = new Uint8Array();
    if (isLost && decodeMbap(piece.bytes).kind === 'more') continue;
    isLost = false;
    pending = pending.length === 0 ? piece.bytes : concatBytes(pending, piece.bytes);
    while (pending.length > 0) {
      const decoded = decodeMbap(pending);
      if (decoded.kind === 'more') break;
      const length = decoded.kind === 'invalid' ? pending.length : decoded.length;
      frames.push({ ...piece, bytes: pending.subarray(0, length), isAfterGap: hasGap });
      pending = pending.subarray(length);
      hasGap = false;
    }
  }
  return frames;
}

/**
 * Finds the Modbus frames in a capture: Modbus TCP, RTU and ASCII over TCP or UDP, and serial lines as this
 * program writes them (link type 250).
 */

const SERIAL = 250;
const SERIAL_HEADER = 12;
const SERIAL_SENT = 1;
const SERIAL_RECEIVED = 2;

/** A TCP connection, or the datagrams between two endpoints. */
interface Connection {
  readonly name: string;
  readonly first: Segment;
  /** The endpoint that opened the connection; undefined if the capture does not show it. */
  client: string | undefined;
  /** When each endpoint closed the connection, in ms. */
  readonly closed: Map<string, number>;
  /** The data that each endpoint sent. */
  readonly streams: Map<string, TcpStream>;
  readonly isStream: boolean;
}

export function readCapture(file: Uint8Array): Result<LogLines> {
  const packets = packetsOf(file);
  if (packets.length === 0) return failure('the capture has no packets, or ends within the first one');
  const connections = connectionsOf(packets);
  const ends = packets.reduce((latest, { at }) => Math.max(latest, at), 0);
  const found = connections.map((connection) => ({ connection, frames: framesOf(connection, ends) }));
  const frames = [...serialFrames(packets, ends), ...found.flatMap((each) => each.frames)];
  const others = found.filter(({ connection, frames }) => frames.length === 0 && hasData(connection));
  const unread = packets.filter(({ link }) => link !== SERIAL && !hasIp(link));
  return success({
    frames: frames.sort((a, b) => a.line - b.line),
    notes: [
      ...noteOf(
        'after missing TCP segments, so an exchange before them may be left out',
        frames.filter(({ isAfterGap }) => isAfterGap),
      ),
      ...(others.length > 0
        ? [
            `${counted(others.length, 'connection')} without Modbus frames left out: ${portsOf(others.map(({ connection }) => connection))}, the first from packet ${others[0]?.connection.first.number} on`,
          ]
        : []),
      ...(unread.length > 0
        ? [
            `${counted(unread.length, 'packet')} left out, with unsupported link type ${unread[0]?.link}: packet ${unread[0]?.number}`,
          ]
        : []),
      ...(packets.length === MOST_PACKETS ? [`only the first ${MOST_PACKETS} packets were read`] : []),
    ],
  });
}

function serialFrames(packets: readonly Packet[], until: number): LoggedBytes[] {
  const events = packets.filter(
    ({ link, bytes }) =>
      link === SERIAL &&
      bytes.length > SERIAL_HEADER &&
      (bytes[8] === SERIAL_SENT || bytes[8] === SERIAL_RECEIVED),
  );
  // On a line that only listened, both requests and replies are marked as received.
  const isHeard = events.every(({ bytes }) => bytes[8] === SERIAL_RECEIVED);
  return events.map(({ number, at, bytes }) => ({
    line: number,
    ...{ at, until },
    direction: isHeard ? undefined : bytes[8] === SERIAL_SENT ? 'out' : 'in',
    bytes: bytes.subarray(SERIAL_HEADER),
  }));
}

function connectionsOf(packets: readonly Packet[]): Connection[] {
  const all: Connection[] = [];
  const current = new Map<string, Connection>();
  for (const packet of packets) {
    const segment = segmentOf(packet);
    if (!segment) continue;
    const { from, to, tcp } = segment;
    const isOpening = tcp?.isSyn === true && !tcp.isAck;
    const key = `${tcp ? 'tcp' : 'udp'} ${[from, to].sort().join(' ')}`;
    let connection = current.get(key);
    // A client may reuse its port.
    if (!connection || (isOpening && hasData(connection))) {
      const name = `${key} ${all.length}`;
      connection = {
        name,
        first: segment,
        client: undefined,
        closed: new Map(),
        streams: new Map(),
        isStream: !!tcp,
      };
      all.push(connection);
      current.set(key, connection);
    }
    if (isOpening) connection.client = from;
    if (tcp?.isSyn && tcp.isAck) connection.client = to;
    if (tcp?.isEnd && !connection.closed.has(from)) connection.closed.set(from, segment.at);
    const stream = connection.streams.get(from) ?? new TcpStream();
    connection.streams.set(from, stream);
    if (tcp) stream.push(segment);
    else if (segment.data.length > 0)
      stream.pieces.push({ number: segment.number, at: segment.at, bytes: segment.data, isAfterGap: false });
  }
  for (const { streams } of all) for (const stream of streams.values()) stream.end();
  return all;
}

function hasData({ streams }: Connection): boolean {
  return [...streams.values()].some(({ pieces }) => pieces.length > 0);
}

/**
 * The frames of a connection, in both directions; none if it does not carry Modbus.
 * @param ends when the capture ends, in ms
 */
function framesOf(connection: Connection, ends: number): LoggedBytes[] {
  const { streams, isStream, name, first, closed } = connection;
  const cut = Array.from(streams, ([from, { pieces }]) => ({ from, frames: cutByMbap(pieces, isStream) }));
  const isValid = ({ bytes }: SentBytes) => SOCKET.decode(bytes) !== undefined;
  const all = cut.flatMap(({ frames }) => frames);
  const valid = all.filter(isValid).length;
  const isTcp = valid > 0 && 2 * valid >= all.length;
  const found = isTcp ? cut : checkedFrames(connection);
  if (!found) return [];
  const server = serverOf(connection, found);
  const { fromPort, toPort } = first;
  const closes = Math.min(...[...closed].flatMap(([from, at]) => (from === server ? [] : [at])), ends);
  const sent = found.flatMap(({ from, frames }) => (from === server ? [] : frames));
  const isElsewhere = !MODBUS_PORTS.includes(fromPort) && !MODBUS_PORTS.includes(toPort);
  // On other ports, another protocol may look like MBAP.
  if (isElsewhere && 2 * sent.filter(({ bytes }) => isRequest(bytes)).length < sent.length) return [];
  return found.flatMap(({ from, frames }) =>
    frames.map(
      ({ number, at, bytes, isAfterGap }): LoggedBytes => ({
        ...{ line: number, at, bytes, isAfterGap, server, until: closes },
        channel: name,
        hasServer: streams.has(server),
        direction: from === server ? 'in' : 'out',
      }),
    ),
  );
}

/** The data from each endpoint as frames with check values; undefined if there are none. */
function checkedFrames({ streams, first }: Connection): { from: string; frames: SentBytes[] }[] | undefined {
  const pieces = [...streams].flatMap(([from, stream]) =>
    stream.pieces.map((piece) => ({
      ...piece,
      from,
      direction: from === first.from ? ('out' as const) : ('in' as const),
    })),
  );
  pieces.sort((a, b) => a.number - b.number);
  for (const framing of CHECKED) {
    const frames = wholeFrames(pieces, framing);
    if (frames.some(({ bytes }) => framing.decode(bytes)))
      return [...streams.keys()].map((from) => ({
        from,
        frames: frames.filter((each) => each.from === from),
      }));
  }
  return undefined;
}

/** The ports that IANA has assigned to Modbus and to Modbus over TLS. */
const MODBUS_PORTS = [502, 802];

/**
 * Decides which endpoint is the server: the endpoint that accepted the connection, has a Modbus port, or
 * sends fewer valid requests; failing that, the endpoint with the lower port.
 */
function serverOf(
  { first: { from, to, fromPort, toPort }, client }: Connection,
  ends: readonly { readonly from: string; readonly frames: readonly SentBytes[] }[],
): string {
  if (client !== undefined) return client === from ? to : from;
  if (MODBUS_PORTS.includes(fromPort) !== MODBUS_PORTS.includes(toPort))
    return MODBUS_PORTS.includes(fromPort) ? from : to;
  const asked = (end: string) => {
    const frames = ends.find((each) => each.from === end)?.frames ?? [];
    return frames.reduce((sum, { bytes }) => sum + (isRequest(bytes) ? 1 : -1), 0);
  };
  const more = asked(from) - asked(to);
  if (more !== 0) return more > 0 ? to : from;
  return toPort < fromPort ? to : from;
}

function isRequest(bytes: Uint8Array): boolean {
  const content = [SOCKET, ...CHECKED].map((framing) => framing.decode(bytes)).find(Boolean);
  return content !== undefined && decodeRequest(content.pdu).ok;
}

const MOST_PORTS = 5;

function portsOf(connections: readonly Connection[]): string {
  const lower = connections.map(({ first }) => Math.min(first.fromPort, first.toPort));
  const ports = [...new Set(lower)].sort((a, b) => a - b);
  const shown = ports.slice(0, MOST_PORTS).join(', ');
  return `${plural(ports.length, 'port')} ${shown}${ports.length > MOST_PORTS ? ', …' : ''}`;
}
