import { type Framing, SOCKET } from '../../../../src/modbus/protocol/framing.js';
import type { TlsFiles, WhenFull } from '../../../../src/modbus/transport/settings.js';
import { type SocketLimits, SocketLine } from '../../../../src/modbus/transport/socket/socket-line.js';
import { HoldingRegisters } from './holding-registers.js';
import { RawClient } from './raw-client.js';
import { socketSettings } from './socket-settings.js';

export interface LineSettings extends Partial<SocketLimits> {
  readonly host?: string;
  readonly framing?: Framing;
  readonly tls?: TlsFiles;
  readonly maxClients?: number;
  readonly whenFull?: WhenFull;
  readonly idleTimeoutMs?: number;
}

/** A line on a free port of the loopback with a small device, closed with everything else when the scope ends. */
export interface TestLine {
  readonly line: SocketLine;
  readonly port: number;
  readonly device: HoldingRegisters;
  client(): RawClient;
  close(): Promise<void>;
}

export async function openLine({
  host,
  framing = SOCKET,
  tls,
  maxClients,
  whenFull,
  idleTimeoutMs,
  ...limits
}: LineSettings = {}): Promise<TestLine> {
  const device = new HoldingRegisters(framing);
  const settings = socketSettings(tls ? 'tls' : 'tcp', {
    framing: framing.name,
    ...(host && { host }),
    ...(tls && { files: tls }),
    ...(maxClients && { maxClients }),
    ...(whenFull && { whenFull }),
    ...(idleTimeoutMs && { idleTimeout: idleTimeoutMs }),
  });
  const line = new SocketLine(settings, framing, device, limits);
  const started = await line.start();
  if (!started.ok) throw new Error(started.error);
  const { host: address, port } = endpointOf(started.endpoint);
  const clients: RawClient[] = [];
  return {
    line,
    port,
    device,
    client: () => {
      const client = new RawClient(port, address);
      clients.push(client);
      return client;
    },
    close: async () => {
      for (const client of clients) client.socket.destroy();
      await line.stop();
    },
  };
}

/** `127.0.0.1:502`, `[::1]:502`. */
function endpointOf(endpoint: string): { host: string; port: number } {
  const colon = endpoint.lastIndexOf(':');
  return { host: endpoint.slice(0, colon).replace(/[[\]]/g, ''), port: Number(endpoint.slice(colon + 1)) };
}
