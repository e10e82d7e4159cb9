import type { TrafficEvent } from '../event.js';
import type { LinkType } from './pcapng.js';

/** What a capture has to know about a line beside its events. */
export interface CaptureLine {
  readonly name: string;
  readonly kind: 'serial' | 'tcp' | 'udp' | 'tls';
  /** The line in words, for the description of its interface. */
  describe(): string;
  /** Where a socket listens; absent on a serial line. */
  readonly host?: string;
  readonly port?: number;
}

/** The lines as they are now. */
export interface CaptureLines {
  names(): Iterable<string>;
  get(name: string): CaptureLine | undefined;
}

/** A packet of a capture. */
export interface Packet {
  readonly link: LinkType;
  /** When its first byte was on the line, in ms since 1970. */
  readonly time: number;
  readonly bytes: Uint8Array;
  readonly comment: string | undefined;
}

/** Makes packets of the events of a line, in the order of the events. */
export type Form = (event: TrafficEvent, line: CaptureLine) => readonly Packet[];

/** A moment of an event by the wall clock, in ms since 1970. @param at in ms of `performance.now()` */
export function wallTime(event: TrafficEvent, at: number): number {
  return event.time + (at - event.at);
}

/** Lines of text as one comment; undefined when there are none. */
export function commentOf(lines: readonly string[]): string | undefined {
  return lines.length === 0 ? undefined : lines.join('\n');
}
