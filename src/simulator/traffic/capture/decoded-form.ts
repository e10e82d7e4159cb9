import { concatBytes } from '../../../modbus/protocol/bytes.js';
import type { Framing } from '../../../modbus/protocol/framing.js';
import { encodeRtu, MIN_RTU_LENGTH } from '../../../modbus/protocol/rtu.js';
import type { ReplyEvent, TrafficEvent } from '../event.js';
import {
  type DoneStep,
  doneSteps,
  type Form,
  type Packet,
  packetOf,
  receivedComments,
  silenceComments,
} from './packet.js';
import { endpointOf, type IpEndpoint, MAX_DATAGRAM, udpPacket } from './socket-packets.js';

/** The port of devices in the decoded form, whatever port they really have. */
const DECODED_PORT = 5020;
/** The port of bytes that are no frame, so that no reader takes them for Modbus. */
const NO_FRAME_PORT = 5021;

/** The address of the master of a serial line, which has none (RFC 5737: for documentation). */
const MASTER: IpEndpoint = { address: Uint8Array.of(192, 0, 2, 1), port: 49_152 };

/**
 * Shows each frame as a UDP datagram with Modbus RTU, whatever framing and transport its line has. Each line
 * has an address of its own, so that Wireshark pairs requests and responses on each.
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
  // Events of the line itself or of a client are no frames.
  if (!('framing' in event)) return [];
  switch (event.kind) {
    case 'reply': {
      const frames = framesOf(event);
      if (frames.length === 0)
        return [packet('server', event.at, undefined, NOTHING, silenceComments(event))];
      return frames.map(({ at, bytes, comments }) =>
        packet('server', at, asRtu(bytes, event.framing), bytes, comments),
      );
    }
    case 'discarded':
      return [packet('client', event.startedAt, undefined, event.bytes, receivedComments(event))];
    case 'unasked': {
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

const NOTHING = new Uint8Array();

/**
 * The comment on a frame of four bytes, as requests of functions 7, 11, 12 and 17 have: Wireshark's dissector
 * does not read these.
 */
function shortComment(rtu: Uint8Array | undefined): string[] {
  return rtu?.length === MIN_RTU_LENGTH ? [`unit ${rtu[0]}, function ${rtu[1]}, without data`] : [];
}

/**
 * An address for a line, of the client's kind: 198.18.0.1, 198.18.0.2 … (RFC 2544), or 2001:db8::1 … (RFC
 * 3849).
 */
function lineAddress({ address }: IpEndpoint, lineNumber: number): Uint8Array {
  const number = [lineNumber >>> 8, lineNumber & 0xff];
  if (address.length === 4) return Uint8Array.of(198, 18, ...number);
  return concatBytes([0x20, 0x01, 0x0d, 0xb8], new Uint8Array(10), number);
}

/** A frame that was sent, in one piece or in several. */
interface SentFrame {
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly comments: readonly string[];
}

/**
 * The frames of a reply. The comments of a step without bytes go to the frame before it, or to an empty one.
 */
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
 * A frame in RTU framing. A damaged frame has a wrong CRC: its own, or, from another framing, an inverted
 * one. Undefined when the bytes are too few for a frame.
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
