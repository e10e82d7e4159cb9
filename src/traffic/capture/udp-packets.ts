import type { TrafficEvent } from '../event.js';
import { serverOf } from './captured-connections.js';
import { doneSteps, receivedComments } from './comments.js';
import { endpointOf } from './endpoint.js';
import { MAX_DATAGRAM, udpPacket } from './ip-packet.js';
import { type CaptureLine, commentOf, type Packet, wallTime } from './packet.js';

/** What passed a line on UDP, a packet for each datagram. Where there is no reply, there is no packet. */
export function udpPackets(event: TrafficEvent, line: CaptureLine): Packet[] {
  if (!('client' in event) || event.client === undefined) return [];
  const client = endpointOf(event.client);
  const server = serverOf(line, client);
  const packet = (at: number, bytes: Uint8Array, comments: readonly string[]): Packet => ({
    link: 'raw',
    time: wallTime(event, at),
    bytes,
    comment: commentOf(comments),
  });
  switch (event.kind) {
    case 'reply':
      return doneSteps(event).flatMap(({ step, at, comments }) =>
        step.kind === 'bytes'
          ? [packet(at, udpPacket(server, client, step.bytes.subarray(0, MAX_DATAGRAM)), comments)]
          : [],
      );
    // UDP has no connections.
    case 'client':
    case 'client gone':
    case 'client rejected':
      return [];
    default:
      return [packet(event.startedAt, udpPacket(client, server, event.bytes), receivedComments(event))];
  }
}
