import { decodeEvent } from '../decode.js';
import type { TrafficEvent } from '../event.js';
import type { TrafficCursor } from '../reading.js';
import { decodedForm } from './decoded-form.js';
import {
  type CaptureLine,
  type CaptureLines,
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
import { CapturedConnections, tcpPackets, udpPackets } from './socket-packets.js';

/**
 * The packets of a serial line, with link type 250. Each step of a reply is a packet of its own, at its own
 * time.
 */
function serialPackets(event: TrafficEvent): Packet[] {
  const packet = (
    kind: keyof typeof SERIAL_EVENTS,
    at: number,
    comments: readonly string[],
    bytes = NOTHING,
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

const NOTHING: Uint8Array = new Uint8Array();

/** The kinds of records on a serial line, with their codes in link type 250 (RTAC Serial). */
export const SERIAL_EVENTS = {
  /** Only the comment says what happened. */
  status: 0x00,
  sent: 0x01,
  received: 0x02,
  /** Wrong parity, or no stop bit: the port does not say which. */
  damagedCharacters: 0x08,
  break: 0x09,
  overrun: 0x0a,
} as const;

const HEADER_LENGTH = 12;

/**
 * Bytes on a serial line behind the header of link type 250, big-endian: seconds and microseconds, event,
 * control lines, two bytes of footer. The control lines are not known here, so all of them are 0.
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

/** Makes the blocks of one pcapng file from events. Each line is an interface. */
export class Capture {
  readonly #lines: CaptureLines;
  readonly #formName: FormName;
  readonly #form: Form;
  /** The number of the interface for each line and link type. */
  readonly #interfaces = new Map<string, number>();
  #missed = 0;
  /** How many of the missed events a comment has counted. */
  #commented = 0;

  constructor(formName: FormName, lines: CaptureLines) {
    this.#formName = formName;
    this.#form = FORMS[formName]();
    this.#lines = lines;
  }

  /** The beginning of the file. @param names the lines to describe; all of them when absent */
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

  /** The blocks of an event; none when the event is not shown. */
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
   * Sets how many events in all could not be read, because the stream has dropped them. The comment on the
   * next packet counts the new ones.
   */
  missed(count: number): void {
    this.#missed = count;
  }

  /**
   * A block without content, for readers that have to know that the capture goes on.
   * @param time in ms since 1970
   */
  stillAlive(time: number): Uint8Array[] {
    return this.#interfaces.size > 0 ? [interfaceStatistics(0, time)] : [];
  }

  #commentOn({ comment }: Packet): string | undefined {
    const omitted = this.#missed - this.#commented;
    if (omitted === 0) return comment;
    this.#commented = this.#missed;
    const count = `${omitted} events before this one were left out`;
    return comment === undefined ? count : `${count}\n${comment}`;
  }

  /** The number of an interface. A new interface is described in `blocks`. */
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
 * The packets of the events up to `until`, made one after another. Yields an empty piece when there are none,
 * so that the caller can pause.
 */
export function* capturePieces(
  capture: Capture,
  cursor: TrafficCursor,
  until: number,
): Generator<Uint8Array> {
  for (const event of cursor.events(until)) {
    capture.missed(cursor.missed);
    const blocks = event ? capture.blocksOf(event) : [];
    if (blocks.length === 0) yield NOTHING;
    yield* blocks;
  }
}

/** Shows everything as it was on the wire: each line in its own protocols. */
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
