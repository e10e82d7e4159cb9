import { AsciiFraming } from '../../modbus/protocol/ascii.js';
import { RTU, SOCKET } from '../../modbus/protocol/framing.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { MOST_PACKETS, type Packet, packetsOf } from './capture-file.js';
import { type LoggedBytes, type LogLines, noteOf } from './log-lines.js';
import { hasIp, type Segment, segmentOf } from './segments.js';
import { cutByMbap, type SentBytes, TcpStream } from './tcp-stream.js';

/**
 * Finds the frames of Modbus in a capture: of Modbus TCP, of RTU and ASCII over TCP or UDP, and of serial
 * lines as this program writes them (link type 250).
 */

const SERIAL = 250;
const SERIAL_HEADER = 12;
const SERIAL_SENT = 1;
const SERIAL_RECEIVED = 2;

/** A TCP connection, or the datagrams between two ends. */
interface Connection {
  readonly name: string;
  readonly first: Segment;
  /** The end that opened the connection; undefined when the capture does not show that. */
  client: string | undefined;
  /** What each end has sent. */
  readonly streams: Map<string, TcpStream>;
  readonly isStream: boolean;
}

/** Reads a capture. @returns what is wrong with it, as a sentence */
export function readCapture(file: Uint8Array): LogLines | string {
  const packets = packetsOf(file);
  if (packets.length === 0) return 'the capture has no packets, or ends within the first one';
  const connections = connectionsOf(packets);
  const found = connections.map((connection) => ({ connection, frames: framesOf(connection) }));
  const frames = [...serialFrames(packets), ...found.flatMap((each) => each.frames)];
  const others = found.filter(({ connection, frames }) => frames.length === 0 && hasData(connection));
  const unread = packets.filter(({ link }) => link !== SERIAL && !hasIp(link));
  return {
    frames: frames.sort((a, b) => a.line - b.line),
    notes: [
      ...noteOf(
        'come after missing TCP segments, so an exchange before them may be left out',
        frames.filter(({ isAfterGap }) => isAfterGap),
      ),
      ...(others.length > 0
        ? [
            `${others.length} ${others.length === 1 ? 'connection has' : 'connections have'} no frame of Modbus, so left out: ${portsOf(others.map(({ connection }) => connection))}, the first from packet ${others[0]?.connection.first.number} on`,
          ]
        : []),
      ...(unread.length > 0
        ? [
            `${unread.length} packets have link type ${unread[0]?.link}, which is not read: packet ${unread[0]?.number}`,
          ]
        : []),
      ...(packets.length === MOST_PACKETS ? [`only the first ${MOST_PACKETS} packets were read`] : []),
    ],
  };
}

function serialFrames(packets: readonly Packet[]): LoggedBytes[] {
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
    at,
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
    // A client may use its port again.
    if (!connection || (isOpening && hasData(connection))) {
      const name = `${key} ${all.length}`;
      connection = { name, first: segment, client: undefined, streams: new Map(), isStream: !!tcp };
      all.push(connection);
      current.set(key, connection);
    }
    if (isOpening) connection.client = from;
    if (tcp?.isSyn && tcp.isAck) connection.client = to;
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

const CHECKED = [RTU, new AsciiFraming()];

/** The frames of a connection, in both directions; none when it does not carry Modbus. */
function framesOf(connection: Connection): LoggedBytes[] {
  const { streams, isStream, name } = connection;
  const raw = Array.from(streams, ([from, { pieces }]) => ({ from, frames: pieces as readonly SentBytes[] }));
  const cut = raw.map(({ from, frames }) => ({ from, frames: cutByMbap(frames, isStream) }));
  const isValid = ({ bytes }: SentBytes) => SOCKET.decode(bytes) !== undefined;
  const all = cut.flatMap(({ frames }) => frames);
  const valid = all.filter(isValid).length;
  const isTcp = valid > 0 && 2 * valid >= all.length;
  const isChecked = ({ bytes }: SentBytes) => CHECKED.some((framing) => framing.decode(bytes));
  if (!isTcp && !raw.some(({ frames }) => frames.some(isChecked))) return [];
  const ends = isTcp ? cut : raw;
  const server = serverOf(connection, ends);
  const { fromPort, toPort } = connection.first;
  const sent = ends.flatMap(({ from, frames }) => (from === server ? [] : frames));
  const isElsewhere = !MODBUS_PORTS.includes(fromPort) && !MODBUS_PORTS.includes(toPort);
  // On other ports, other protocols may look like MBAP.
  if (isElsewhere && 2 * sent.filter(({ bytes }) => isRequest(bytes)).length < sent.length) return [];
  return ends.flatMap(({ from, frames }) =>
    frames.map(
      ({ number, at, bytes, isAfterGap }): LoggedBytes => ({
        ...{ line: number, at, bytes, isAfterGap, server },
        channel: name,
        direction: from === server ? 'in' : 'out',
      }),
    ),
  );
}

/** The ports that IANA has given to Modbus and to Modbus with TLS. */
const MODBUS_PORTS = [502, 802];

/**
 * The end that is the server: the one that was called, has a port of Modbus, or sends fewer valid requests;
 * where none of that tells, the one with the lower port.
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
  return `${ports.length === 1 ? 'port' : 'ports'} ${shown}${ports.length > MOST_PORTS ? ', …' : ''}`;
}
