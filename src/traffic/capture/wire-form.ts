import { CapturedConnections } from './captured-connections.js';
import type { Form } from './packet.js';
import { serialPackets } from './serial-packets.js';
import { tcpPackets } from './tcp-packets.js';
import { udpPackets } from './udp-packets.js';

/** Everything as it was on the wire: each line in the protocols that it has. */
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
