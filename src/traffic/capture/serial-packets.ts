import { decodeEvent } from '../decode.js';
import type { NoticeEvent, TrafficEvent } from '../event.js';
import { doneSteps, receivedComments, silenceComments } from './comments.js';
import { commentOf, type Packet, wallTime } from './packet.js';
import { type SERIAL_EVENTS, serialRecord } from './serial-record.js';

/** What passed a serial line, as link type 250. Each step of a reply is a packet of its own, at its own time. */
export function serialPackets(event: TrafficEvent): Packet[] {
  const packet = (
    kind: keyof typeof SERIAL_EVENTS,
    at: number,
    comments: readonly string[],
    bytes?: Uint8Array,
  ): Packet => {
    const time = wallTime(event, at);
    return {
      link: 'serial',
      time,
      bytes: serialRecord(kind, time, bytes),
      comment: commentOf(comments),
    };
  };
  switch (event.kind) {
    case 'reply': {
      const steps = doneSteps(event);
      if (steps.length === 0) return [packet('status', event.at, silenceComments(event))];
      return steps.flatMap(({ step, at, comments }) => {
        if (step.kind === 'bytes') return [packet('sent', at, comments, step.bytes)];
        return [
          packet('break', at, step.kind === 'break' ? [`break of ${step.ms} ms`, ...comments] : comments),
        ];
      });
    }
    case 'line':
      return [packet('status', event.at, [`line ${event.state}: ${event.text}`])];
    case 'test':
      return [packet('status', event.at, [decodeEvent(event, () => undefined).text])];
    case 'damaged characters':
    case 'overrun':
    case 'echo':
    case 'loop':
    case 'collision': {
      const { kind, text } = NOTICES[event.kind];
      return [packet(kind, event.at, [text(event.count)])];
    }
    // A serial line has no clients.
    case 'client':
    case 'client gone':
    case 'client rejected':
      return [];
    default:
      return [packet('received', event.startedAt, receivedComments(event), event.bytes)];
  }
}

const NOTICES: Readonly<
  Record<NoticeEvent['kind'], { kind: keyof typeof SERIAL_EVENTS; text: (count: number) => string }>
> = {
  'damaged characters': { kind: 'damagedCharacters', text: (count) => `${count} characters arrived damaged` },
  overrun: { kind: 'overrun', text: (count) => `the UART has lost ${count} characters` },
  echo: { kind: 'status', text: () => 'echo: our own reply came back and was taken out' },
  loop: { kind: 'status', text: () => 'loop: copies of our replies came one after the other' },
  collision: { kind: 'status', text: () => 'collision: somebody else spoke while a reply was on the wire' },
};
