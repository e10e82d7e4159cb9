import type { TrafficEvent } from '../event.js';
import type { CapturedConnections } from './captured-connections.js';
import { doneSteps, receivedComments, silenceComments } from './comments.js';
import { type CaptureLine, commentOf, type Packet, wallTime } from './packet.js';

/**
 * What passed a line on TCP, or what a TLS line has decrypted, as the TCP of its connections. Sequence numbers,
 * handshakes and acknowledgements are made up; addresses, bytes and times are those of the line.
 */
export function tcpPackets(
  event: TrafficEvent,
  line: CaptureLine,
  connections: CapturedConnections,
): Packet[] {
  if (!('client' in event) || event.client === undefined) return [];
  const { clientId, client } = event;
  const connection = connections.of(line, clientId, client);
  const packets = (at: number, all: readonly Uint8Array[], comments: readonly string[] = []): Packet[] =>
    all.map((bytes, i) => ({
      link: 'raw',
      time: wallTime(event, at),
      bytes,
      comment: i === 0 ? commentOf(comments) : undefined,
    }));
  switch (event.kind) {
    case 'reply': {
      const steps = doneSteps(event);
      if (steps.length === 0)
        return packets(event.at, connection.data('server', NOTHING), silenceComments(event));
      return steps.flatMap(({ step, at, comments }) => {
        if (step.kind === 'bytes') return packets(at, connection.data('server', step.bytes), comments);
        // Sockets have no breaks.
        if (step.kind === 'break') return [];
        return packets(at, connection.close('server', step.how), comments);
      });
    }
    case 'client':
      return packets(event.at, connection.open(), textOf('role', event.text));
    case 'client rejected':
      return packets(event.at, connection.close('server', 'reset'), textOf('turned away', event.text));
    case 'client gone':
      connections.forget(line, clientId);
      return packets(event.at, connection.close('client', 'end'), textOf('gone', event.text));
    default:
      return packets(event.startedAt, connection.data('client', event.bytes), receivedComments(event));
  }
}

const NOTHING = new Uint8Array();

function textOf(what: string, text: string): string[] {
  return text === '' ? [] : [`${what}: ${text}`];
}
