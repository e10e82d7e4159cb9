import type { Framing } from '../protocol/framing.js';
import { SerialLine } from './serial/serial-line.js';
import type { LineSettings } from './settings.js';
import { SocketLine } from './socket/socket-line.js';
import type { LineHandler } from './transport.js';

/** The transport that settings want, not started. */
export function newTransport(
  settings: LineSettings,
  framing: Framing,
  handler: LineHandler,
): SerialLine | SocketLine {
  return settings.kind === 'serial'
    ? new SerialLine(settings, framing, handler)
    : new SocketLine(settings, framing, handler);
}
