import type { Framing } from '../protocol/framing.js';
import { SerialLine } from './serial/serial-line.js';
import type { LineSettings, SocketSettings } from './settings.js';
import { TcpLine } from './socket/tcp-line.js';
import { UdpLine } from './socket/udp-line.js';
import type { LineHandler } from './transport.js';

/** The transport that settings want, not started. */
export function newTransport(
  settings: LineSettings,
  framing: Framing,
  handler: LineHandler,
): SerialLine | TcpLine | UdpLine {
  switch (settings.kind) {
    case 'serial':
      return new SerialLine(settings, framing, handler);
    case 'udp':
      return new UdpLine({ ...listening(settings), framing }, handler);
    case 'tcp':
    case 'tls': {
      const { idleTimeout: idleTimeoutMs, files: tls } = settings;
      return new TcpLine(
        {
          ...listening(settings),
          framing,
          ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
          ...(tls && { tls }),
        },
        handler,
      );
    }
  }
}

function listening({ host, port, maxClients }: SocketSettings) {
  return { host, port, maxClients };
}
