import { decodeEvent } from '../decode.js';
import type { TrafficEvent } from '../event.js';
import { doneSteps, type Packet, packetOf, receivedComments, silenceComments } from './packet.js';

/**
 * The packets of a serial line, with link type 250. Each step of a reply is a packet of its own, at its own
 * time.
 */
export function serialPackets(event: TrafficEvent): Packet[] {
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
