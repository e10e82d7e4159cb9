import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { server as servers } from 'jsmodbus';
import { noMosquitto, startMosquitto } from '../peers/mosquitto.js';
import { VALUES } from './asking.js';

/** What is around the benches of a package. */
export interface Around {
  readonly directory: string;
  /** The port of a real device, which listens on all addresses. */
  readonly realPort: number;
  /** The port of an MQTT broker, which listens on all addresses; undefined where none is installed. */
  readonly brokerPort: number | undefined;
  /** Where programs write which files they have loaded. */
  readonly loaded: string | undefined;
  stop(): Promise<void>;
}

/** @param keepsLoaded whether programs write which files they have loaded */
export async function startAround({ keepsLoaded = false } = {}): Promise<Around> {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-shipped-'));
  const real = createServer();
  const sockets = new Set<Socket>();
  real.on('connection', (socket) => void sockets.add(socket));
  new servers.TCP(real, { holding: Buffer.from(Uint16Array.from(VALUES).buffer).swap16() });
  // Without an address it listens on all of them.
  await once(real.listen(0), 'listening');
  if (noMosquitto !== undefined && process.env.CI === 'true') throw new Error(noMosquitto);
  if (noMosquitto !== undefined) process.stderr.write(`test/shipped: MQTT left out: ${noMosquitto}\n`);
  const broker = noMosquitto === undefined ? await startMosquitto(directory, '') : undefined;
  return {
    directory,
    realPort: (real.address() as AddressInfo).port,
    brokerPort: broker?.port,
    loaded: keepsLoaded ? join(directory, 'loaded') : undefined,
    async stop() {
      for (const socket of sockets) socket.destroy();
      real.close();
      await broker?.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
