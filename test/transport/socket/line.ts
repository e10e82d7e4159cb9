import { TcpLine, type TcpLineSettings } from '../../../src/transport/socket/tcp-line.js';
import { HoldingRegisters } from './holding-registers.js';
import { RawClient } from './raw-client.js';

/** A line on a free port of the loopback with a small device, closed with everything else when the scope ends. */
export interface TestLine {
  readonly line: TcpLine;
  readonly port: number;
  readonly device: HoldingRegisters;
  client(): RawClient;
  close(): Promise<void>;
}

export async function openLine(settings: Partial<TcpLineSettings> = {}): Promise<TestLine> {
  const device = new HoldingRegisters(settings.framing);
  const line = new TcpLine({ host: '127.0.0.1', port: 0, ...settings }, device);
  const started = await line.start();
  if (!started.ok) throw new Error(started.error);
  const { host, port } = placeOf(started.place);
  const clients: RawClient[] = [];
  return {
    line,
    port,
    device,
    client: () => {
      const client = new RawClient(port, host);
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
function placeOf(place: string): { host: string; port: number } {
  const colon = place.lastIndexOf(':');
  return { host: place.slice(0, colon).replace(/[[\]]/g, ''), port: Number(place.slice(colon + 1)) };
}
