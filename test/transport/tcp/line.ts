import { TcpLine, type TcpLineSettings } from '../../../src/transport/tcp/tcp-line.js';
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
  const device = new HoldingRegisters();
  const line = new TcpLine({ host: '127.0.0.1', port: 0, ...settings }, device);
  const started = await line.start();
  if (!started.ok) throw new Error(started.error);
  const clients: RawClient[] = [];
  return {
    line,
    port: started.port,
    device,
    client: () => {
      const client = new RawClient(started.port, started.address);
      clients.push(client);
      return client;
    },
    close: async () => {
      for (const client of clients) client.socket.destroy();
      await line.stop();
    },
  };
}
