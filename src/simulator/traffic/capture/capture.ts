import type { TrafficEvent } from '../event.js';
import type { TrafficCursor } from '../reading.js';
import { decodedForm } from './decoded-form.js';
import type { CaptureLine, CaptureLines, Form, FormName, Packet } from './packet.js';
import {
  enhancedPacket,
  interfaceDescription,
  interfaceStatistics,
  type LinkType,
  sectionHeader,
} from './pcapng.js';
import { serialPackets } from './serial-packets.js';
import { CapturedConnections, tcpPackets, udpPackets } from './socket-packets.js';

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

const NOTHING = new Uint8Array();

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
