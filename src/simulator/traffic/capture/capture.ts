import { counted } from '../../../common/words.js';
import { concatBytes, NO_BYTES } from '../../../modbus/protocol/bytes.js';
import type { Framing } from '../../../modbus/protocol/framing.js';
import { MIN_RTU_LENGTH } from '../../../modbus/protocol/limits.js';
import { encodeRtu } from '../../../modbus/protocol/rtu.js';
import { decodeEvent } from '../decode.js';
import type { ReplyEvent, TrafficEvent } from '../event.js';
import type { TrafficCursor } from '../reading.js';
import {
  type CaptureLine,
  type CaptureLines,
  type DoneStep,
  doneSteps,
  enhancedPacket,
  type Form,
  type FormName,
  interfaceDescription,
  interfaceStatistics,
  type LinkType,
  type Packet,
  packetOf,
  receivedComments,
  sectionHeader,
  silenceComments,
} from './packet.js';
import {
  CapturedConnections,
  endpointOf,
  type IpEndpoint,
  MAX_DATAGRAM,
  tcpPackets,
  udpPacket,
  udpPackets,
} from './socket-packets.js';

/** The packets of a serial line, with link type 250. Each step of a reply is a separate packet with its own time. */
function serialPackets(event: TrafficEvent): Packet[] {
  const packet = (
    kind: keyof typeof SERIAL_EVENTS,
    at: number,
    comments: readonly string[],
    bytes = NO_BYTES,
  ) => {
    const record = serialRecord(kind, event.time + (at - event.at), bytes);
    return packetOf(event, 'serial', at, record, comments);
  };
  const notice = (kind: keyof typeof SERIAL_EVENTS) => [
    packet(kind, event.at, [decodeEvent(event, () => undefined).text]),
  ];
  switch (event.kind) {
    case 'reply': {
      const steps = doneSteps(event);
      if (steps.length === 0) return [packet('status', event.at, silenceComments(event))];
      return steps.map(({ step, at, comments }) => {
        if (step.kind === 'bytes') return packet('sent', at, comments, step.bytes);
        return packet(
          'break',
          at,
          step.kind === 'break' ? [`break of ${step.ms} ms`, ...comments] : comments,
        );
      });
    }
    case 'line':
      return [packet('status', event.at, [`line ${event.state}: ${event.text}`])];
    case 'test':
    case 'echo':
    case 'loop':
    case 'collision':
      return notice('status');
    case 'damaged characters':
      return notice('damagedCharacters');
    case 'overrun':
      return notice('overrun');
    // A serial line has no clients.
    case 'client':
    case 'client gone':
    case 'client rejected':
      return [];
    default:
      return [packet('received', event.startedAt, receivedComments(event), event.bytes)];
  }
}

/** The kinds of records on a serial line, with their codes in link type 250 (RTAC Serial). */
export const SERIAL_EVENTS = {
  /** The packet's comment says what happened. */
  status: 0x00,
  sent: 0x01,
  received: 0x02,
  /** A parity or framing error: the port does not say which. */
  damagedCharacters: 0x08,
  break: 0x09,
  overrun: 0x0a,
} as const;

const HEADER_LENGTH = 12;

/**
 * A record of link type 250: a header followed by bytes from a serial line. The header is big-endian: seconds
 * and microseconds, event, control lines, two bytes of footer. The control lines are unknown here, so they
 * are all 0.
 * @param time in ms since 1970
 */
export function serialRecord(event: keyof typeof SERIAL_EVENTS, time: number, bytes: Uint8Array): Uint8Array {
  const record = new Uint8Array(HEADER_LENGTH + bytes.length);
  const view = new DataView(record.buffer);
  const us = Math.round(time * 1000);
  view.setUint32(0, Math.floor(us / 1e6));
  view.setUint32(4, us % 1e6);
  view.setUint8(8, SERIAL_EVENTS[event]);
  record.set(bytes, HEADER_LENGTH);
  return record;
}

const FORMS: Readonly<Record<FormName, () => Form>> = { wire: wireForm, decoded: decodedForm };

/** Converts events into the blocks of one pcapng file. Each line is an interface. */
export class Capture {
  readonly #lines: CaptureLines;
  readonly #formName: FormName;
  readonly #form: Form;
  /** The number of the interface for each line and link type. */
  readonly #interfaces = new Map<string, number>();
  #missed = 0;
  /** How many of the missed events earlier comments have reported. */
  #commented = 0;

  constructor(formName: FormName, lines: CaptureLines) {
    this.#formName = formName;
    this.#form = FORMS[formName]();
    this.#lines = lines;
  }

  /** The start of the file. @param names the lines to describe; all of them when absent */
  header(names: Iterable<string> = this.#lines.names()): Uint8Array[] {
    const blocks = [sectionHeader('modbus-sim')];
    for (const name of names) {
      const line = this.#lines.get(name);
      if (!line) continue;
      const link = line.kind === 'serial' && this.#formName === 'wire' ? 'serial' : 'raw';
      this.#interfaceOf(line, link, blocks);
    }
    return blocks;
  }

  /** The blocks of an event; none if it is not shown. */
  blocksOf(event: TrafficEvent): Uint8Array[] {
    const line = this.#lines.get(event.line);
    if (!line) return [];
    const blocks: Uint8Array[] = [];
    for (const packet of this.#form(event, line)) {
      const number = this.#interfaceOf(line, packet.link, blocks);
      blocks.push(enhancedPacket(number, packet.time, packet.bytes, this.#commentOn(packet)));
    }
    return blocks;
  }

  /**
   * Sets the total number of events that could not be read because the stream dropped them. The comment on
   * the next packet reports the new ones.
   */
  missed(count: number): void {
    this.#missed = count;
  }

  /**
   * An empty block, to show readers that the capture continues.
   * @param time in ms since 1970
   */
  stillAlive(time: number): Uint8Array[] {
    return this.#interfaces.size > 0 ? [interfaceStatistics(0, time)] : [];
  }

  #commentOn({ comment }: Packet): string | undefined {
    const omitted = this.#missed - this.#commented;
    if (omitted === 0) return comment;
    this.#commented = this.#missed;
    const count = `${counted(omitted, 'event')} before this one left out`;
    return comment === undefined ? count : `${count}\n${comment}`;
  }

  /** The number of an interface. A new interface adds its description to `blocks`. */
  #interfaceOf(line: CaptureLine, link: LinkType, blocks: Uint8Array[]): number {
    const key = `${link} ${line.name}`;
    const known = this.#interfaces.get(key);
    if (known !== undefined) return known;
    const number = this.#interfaces.size;
    this.#interfaces.set(key, number);
    blocks.push(interfaceDescription(link, line.name, line.describe()));
    return number;
  }
}

/**
 * Yields the packets of the events up to `until`, one event at a time. Yields an empty piece if there are
 * none, so that the caller can pause.
 */
export function* capturePieces(
  capture: Capture,
  cursor: TrafficCursor,
  until: number,
): Generator<Uint8Array> {
  for (const event of cursor.events(until)) {
    capture.missed(cursor.missed);
    const blocks = event ? capture.blocksOf(event) : [];
    if (blocks.length === 0) yield NO_BYTES;
    yield* blocks;
  }
}

/** Shows everything as it was on the wire: each line with its own protocols. */
export function wireForm(): Form {
  const connections = new CapturedConnections();
  return (event, line) => {
    switch (line.kind) {
      case 'serial':
        return serialPackets(event);
      case 'udp':
        return udpPackets(event, line);
      case 'tcp':
      case 'tls':
        return tcpPackets(event, line, connections);
    }
  };
}

/** The port of devices in the decoded form, whatever their real port is. */
const DECODED_PORT = 5020;
/** The port for bytes that are not a frame, so that readers do not take them for Modbus. */
const NO_FRAME_PORT = 5021;

/** The address for the master of a serial line, which has none of its own (RFC 5737: for documentation). */
const MASTER: IpEndpoint = { address: Uint8Array.of(192, 0, 2, 1), port: 49_152 };

/**
 * Shows each frame as a UDP datagram with Modbus RTU, whatever the framing and transport of its line. Each
 * line has its own address, so that Wireshark pairs requests and responses per line.
 */
export function decodedForm(): Form {
  const lines: string[] = [];
  return (event, { name }) => {
    if (!lines.includes(name)) lines.push(name);
    return decodedPackets(event, lines.indexOf(name) + 1);
  };
}

function decodedPackets(event: TrafficEvent, lineNumber: number): Packet[] {
  const client = 'client' in event && event.client !== undefined ? endpointOf(event.client) : MASTER;
  const address = lineAddress(client, lineNumber);
  const packet = (
    from: 'client' | 'server',
    at: number,
    rtu: Uint8Array | undefined,
    bytes: Uint8Array,
    comments: readonly string[],
  ): Packet => {
    const server = { address, port: rtu ? DECODED_PORT : NO_FRAME_PORT };
    const payload = (rtu ?? bytes).subarray(0, MAX_DATAGRAM);
    const datagram =
      from === 'client' ? udpPacket(client, server, payload) : udpPacket(server, client, payload);
    return packetOf(event, 'raw', at, datagram, comments);
  };
  // Events of the line itself or of a client are not frames.
  if (!('framing' in event)) return [];
  switch (event.kind) {
    case 'reply': {
      const frames = framesOf(event);
      if (frames.length === 0)
        return [packet('server', event.at, undefined, NO_BYTES, silenceComments(event))];
      return frames.map(({ at, bytes, comments }) =>
        packet('server', at, asRtu(bytes, event.framing), bytes, comments),
      );
    }
    case 'discarded':
      return [packet('client', event.startedAt, undefined, event.bytes, receivedComments(event))];
    case 'unsolicited': {
      const { bytes, framing, startedAt } = event;
      const rtu = framing.decode(bytes) && asRtu(bytes, framing);
      return [packet('server', startedAt, rtu, bytes, receivedComments(event))];
    }
    default: {
      const { kind, bytes, framing, startedAt } = event;
      const from = kind === 'foreign response' || kind === 'duplicate' ? 'server' : 'client';
      const rtu = asRtu(bytes, framing);
      const comments = [...receivedComments(event), ...shortComment(rtu)];
      return [packet(from, startedAt, rtu, bytes, comments)];
    }
  }
}

/**
 * The comment on a frame of four bytes, such as a request of function 7, 11, 12 or 17: Wireshark's dissector
 * can't read it.
 */
function shortComment(rtu: Uint8Array | undefined): string[] {
  return rtu?.length === MIN_RTU_LENGTH ? [`unit ${rtu[0]}, function ${rtu[1]}, without data`] : [];
}

/**
 * An address for a line, of the same kind as the client's: 198.18.0.1, 198.18.0.2 … (RFC 2544), or
 * 2001:db8::1 … (RFC 3849).
 */
function lineAddress({ address }: IpEndpoint, lineNumber: number): Uint8Array {
  const number = [lineNumber >>> 8, lineNumber & 0xff];
  if (address.length === 4) return Uint8Array.of(198, 18, ...number);
  return concatBytes([0x20, 0x01, 0x0d, 0xb8], new Uint8Array(10), number);
}

/** A frame that was sent, in one or more pieces. */
interface SentFrame {
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly comments: readonly string[];
}

/** The frames of a reply. The comments of a step without bytes are added to the preceding frame, or to an empty one. */
function framesOf(event: ReplyEvent): SentFrame[] {
  const frames: { at: number; pieces: Uint8Array[]; comments: string[] }[] = [];
  for (const { step, at, comments } of doneSteps(event)) {
    const last = frames.at(-1);
    const all = [...stepComment(step), ...comments];
    const isOwn = step.kind === 'bytes' && !step.continues;
    if (last && !isOwn) last.comments.push(...all);
    else frames.push({ at, pieces: [], comments: all });
    if (step.kind === 'bytes') frames.at(-1)?.pieces.push(step.bytes);
  }
  return frames.map(({ at, pieces, comments }) => ({ at, bytes: concatBytes(...pieces), comments }));
}

function stepComment(step: DoneStep['step']): string[] {
  switch (step.kind) {
    case 'bytes':
      return [];
    case 'break':
      return [`break of ${step.ms} ms`];
    case 'close':
      return [step.how === 'end' ? 'connection closed' : 'connection reset'];
  }
}

/**
 * Converts a frame to RTU framing. A damaged frame keeps its wrong CRC, or gets an inverted one if it had a
 * different framing. Undefined if there are too few bytes for a frame.
 */
function asRtu(bytes: Uint8Array, framing: Framing): Uint8Array | undefined {
  if (framing.name === 'rtu') return bytes.length >= MIN_RTU_LENGTH ? bytes : undefined;
  const valid = framing.decode(bytes);
  if (valid) return encodeRtu(valid.unitId, valid.pdu);
  const fields = framing.fields(bytes);
  if (!fields || fields.pdu.length === 0) return undefined;
  const rtu = encodeRtu(fields.unitId, fields.pdu);
  return rtu.map((byte, i) => (i < rtu.length - 2 ? byte : byte ^ 0xff));
}
