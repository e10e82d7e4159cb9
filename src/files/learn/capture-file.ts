import { type LoggedBytes, type LogLines, noteOf } from './log-lines.js';
import { TcpStream } from './tcp-stream.js';

/**
 * Reads captures: pcapng and pcap, of Modbus TCP, of RTU over TCP, and of serial lines as this program writes
 * them (link type 250).
 */

/**
 * The first four bytes of a pcapng file, and those of pcap files with the byte order and the units of a
 * second that they stand for.
 */
const PCAPNG = 0x0a0d0d0a;
const PCAP: ReadonlyMap<number, { readonly little: boolean; readonly perSecond: number }> = new Map([
  [0xa1b2c3d4, { little: false, perSecond: 1e6 }],
  [0xd4c3b2a1, { little: true, perSecond: 1e6 }],
  [0xa1b23c4d, { little: false, perSecond: 1e9 }],
  [0x4d3cb2a1, { little: true, perSecond: 1e9 }],
]);

const MOST_PACKETS = 200_000;

/** A packet, and when it was captured, in ms. `number` counts from 1, as Wireshark's does. */
interface Captured {
  readonly number: number;
  readonly at: number;
  readonly link: number;
  readonly bytes: Uint8Array;
}

export function isCapture(file: Uint8Array): boolean {
  if (file.length < 4) return false;
  const magic = viewOf(file).getUint32(0);
  return magic === PCAPNG || PCAP.has(magic);
}

/** Reads a capture. @returns what is wrong with it, as a sentence */
export function readCapture(file: Uint8Array): LogLines | string {
  const packets: Captured[] = [];
  try {
    if (viewOf(file).getUint32(0) === PCAPNG) readPcapng(file, packets);
    else readPcap(file, packets);
  } catch (error) {
    // Of a file that was cut off, everything before the end is used.
    if (!(error instanceof RangeError)) throw error;
  }
  if (packets.length === 0) return 'the capture has no packets, or ends within the first one';
  const streams = new Map<string, TcpStream>();
  const frames = packets.flatMap((packet) => framesOf(packet, streams));
  // On a line that only listened, both requests and replies are marked as received.
  const onlyHeard = packets.every(({ link, bytes }) => link !== LINK.serial || bytes[8] !== SERIAL_SENT);
  const isHeard = ({ channel }: LoggedBytes) => onlyHeard && channel === undefined;
  return {
    frames: frames.map((frame) => (isHeard(frame) ? { ...frame, direction: undefined } : frame)),
    notes: noteOf(
      'come after missing TCP segments, so an exchange before them may be left out',
      frames.filter(({ isAfterGap }) => isAfterGap),
    ),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readPcap(file: Uint8Array, packets: Captured[]): void {
  const view = viewOf(file);
  const { little = false, perSecond = 1e6 } = PCAP.get(view.getUint32(0)) ?? {};
  const link = view.getUint32(20, little) & 0xffff;
  for (let at = 24; at + 16 <= file.length && packets.length < MOST_PACKETS; ) {
    const length = view.getUint32(at + 8, little);
    const ms = 1000 * view.getUint32(at, little) + (1000 * view.getUint32(at + 4, little)) / perSecond;
    if (at + 16 + length > file.length) return;
    packets.push({
      number: packets.length + 1,
      at: ms,
      link,
      bytes: file.subarray(at + 16, at + 16 + length),
    });
    at += 16 + length;
  }
}

const BLOCK = { interface: 1, enhanced: 6 };
const TSRESOL = 9;

function readPcapng(file: Uint8Array, packets: Captured[]): void {
  const view = viewOf(file);
  let little = false;
  let interfaces: { readonly link: number; readonly perSecond: number }[] = [];
  for (let at = 0; at + 12 <= file.length && packets.length < MOST_PACKETS; ) {
    if (view.getUint32(at) === PCAPNG) {
      little = view.getUint32(at + 8) !== 0x1a2b3c4d;
      interfaces = [];
    }
    const type = view.getUint32(at, little);
    const length = view.getUint32(at + 4, little);
    if (length < 12 || at + length > file.length) return;
    if (type === BLOCK.interface)
      interfaces.push({
        link: view.getUint16(at + 8, little),
        perSecond: resolutionOf(view, at, length, little),
      });
    if (type === BLOCK.enhanced) {
      const { link, perSecond } = interfaces[view.getUint32(at + 8, little)] ?? { link: 0, perSecond: 1e6 };
      const ticks = view.getUint32(at + 12, little) * 2 ** 32 + view.getUint32(at + 16, little);
      const captured = Math.min(view.getUint32(at + 20, little), length - 32);
      const bytes = file.subarray(at + 28, at + 28 + captured);
      packets.push({ number: packets.length + 1, at: (1000 * ticks) / perSecond, link, bytes });
    }
    at += length;
  }
}

/**
 * The units of a second in the timestamps of an interface: microseconds, unless the interface says otherwise.
 */
function resolutionOf(view: DataView, block: number, length: number, little: boolean): number {
  for (let at = block + 16; at + 4 <= block + length - 4; ) {
    const [code, size] = [view.getUint16(at, little), view.getUint16(at + 2, little)];
    if (code === 0) break;
    if (code === TSRESOL) {
      const value = view.getUint8(at + 4);
      return value & 0x80 ? 2 ** (value & 0x7f) : 10 ** value;
    }
    at += 4 + size + ((4 - (size % 4)) % 4);
  }
  return 1e6;
}

const LINK = { ethernet: 1, serial: 250 };
/**
 * The number of bytes before an IP packet, by link type: loopback, raw IP, loopback of OpenBSD, Linux cooked,
 * raw IPv4 and IPv6, Linux cooked 2.
 */
const HEADER_LENGTHS = new Map([
  [0, 4],
  [101, 0],
  [108, 4],
  [113, 16],
  [228, 0],
  [229, 0],
  [276, 20],
]);
const SERIAL_HEADER = 12;
const SERIAL_SENT = 1;
const SERIAL_RECEIVED = 2;

function framesOf(packet: Captured, streams: Map<string, TcpStream>): LoggedBytes[] {
  const { link, bytes, number, at } = packet;
  if (link === LINK.serial) {
    const event = bytes[8];
    if ((event !== SERIAL_SENT && event !== SERIAL_RECEIVED) || bytes.length <= SERIAL_HEADER) return [];
    const direction = event === SERIAL_SENT ? 'out' : 'in';
    return [{ line: number, at, direction, bytes: bytes.subarray(SERIAL_HEADER) }];
  }
  const ip = ipPacketIn(link, bytes);
  const segment = ip && segmentIn(ip);
  if (!segment) return [];
  const { key, channel, server, direction, sequence, data } = segment;
  const shown = { line: number, at, direction, channel, server };
  if (sequence === undefined) return [{ ...shown, bytes: data }];
  const stream = streams.get(key) ?? new TcpStream();
  streams.set(key, stream);
  const pushed = stream.push(sequence, data);
  return pushed.map((bytes) => ({ ...shown, bytes, isAfterGap: stream.takeGap() }));
}

function ipPacketIn(link: number, bytes: Uint8Array): Uint8Array | undefined {
  const at = HEADER_LENGTHS.get(link);
  if (at !== undefined) return bytes.subarray(at);
  if (link !== LINK.ethernet) return undefined;
  const isTagged = bytes[12] === 0x81 && bytes[13] === 0;
  return bytes.subarray(isTagged ? 18 : 14);
}

interface Segment {
  /** The key of this direction of the connection. */
  readonly key: string;
  /** The key of the connection. */
  readonly channel: string;
  /** The address of the server: the end with the lower port. */
  readonly server: string;
  readonly direction: 'out' | 'in';
  /** The sequence number; undefined in a datagram. */
  readonly sequence: number | undefined;
  readonly data: Uint8Array;
}

const TCP = 6;
const UDP = 17;

/**
 * Finds the data of TCP or UDP. The server is the end with the lower port, since that is 502 or another
 * well-known port.
 */
function segmentIn(ip: Uint8Array): Segment | undefined {
  const version = (ip[0] ?? 0) >> 4;
  if ((version !== 4 && version !== 6) || ip.length < 28) return undefined;
  const header = version === 4 ? 4 * ((ip[0] as number) & 15) : 40;
  const protocol = version === 4 ? ip[9] : ip[6];
  const view = viewOf(ip);
  // A frame of Ethernet may be longer than its packet.
  const length = version === 4 ? view.getUint16(2) : 40 + view.getUint16(4);
  const hosts = version === 4 ? ip.subarray(12, 20) : ip.subarray(8, 40);
  const half = hosts.length / 2;
  const names = [hosts.subarray(0, half), hosts.subarray(half)].map((each) =>
    Buffer.from(each).toString('hex'),
  );
  const [from, to] = [view.getUint16(header), view.getUint16(header + 2)];
  const offset = protocol === TCP ? 4 * (view.getUint8(header + 12) >> 4) : 8;
  if (protocol !== TCP && protocol !== UDP) return undefined;
  const data = ip.subarray(header + offset, Math.min(ip.length, length || ip.length));
  if (data.length === 0) return undefined;
  const ends = [`${names[0]}:${from}`, `${names[1]}:${to}`] as const;
  return {
    key: ends.join(' '),
    channel: ends.toSorted().join(' '),
    server: ends[to < from ? 1 : 0],
    direction: to < from ? 'out' : 'in',
    sequence: protocol === TCP ? view.getUint32(header + 4) : undefined,
    data,
  };
}
