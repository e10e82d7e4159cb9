import type { SocketSettings } from '../../../../src/modbus/transport/settings.js';

/** The settings of a line on a free port of the loopback, as the native file's defaults have them. */
export function socketSettings(
  kind: SocketSettings['kind'],
  settings: Partial<SocketSettings> = {},
): SocketSettings {
  const idle = kind === 'udp' ? {} : { idleTimeout: 300_000 };
  return { kind, framing: 'socket', host: '127.0.0.1', port: 0, maxClients: 256, ...idle, ...settings };
}
