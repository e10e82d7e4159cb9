import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import modbusSerial from 'modbus-serial';
import { onTestFinished } from 'vitest';

export type Master = InstanceType<typeof modbusSerial.default>;

/** A modbus-serial client of a serial line, until the test ends. */
export async function serialMaster(path: string, baudRate = 19200): Promise<Master> {
  const master = newMaster();
  await master.connectRTUBuffered(path, { baudRate });
  return master;
}

/** A modbus-serial client of a Modbus TCP line, until the test ends; rejects when nobody listens. */
export async function tcpMaster(port: number): Promise<Master> {
  const master = newMaster();
  await master.connectTCP('127.0.0.1', { port });
  return master;
}

/** A modbus-serial client of a line with RTU frames on TCP, until the test ends. */
export async function rtuOverTcpMaster(port: number): Promise<Master> {
  const master = newMaster();
  await master.connectTelnet('127.0.0.1', { port });
  return master;
}

/** A net for a reply that never comes. A test that waits for one sets a shorter time itself. */
const PATIENCE_MS = 30_000;

function newMaster(): Master {
  const master = new modbusSerial.default();
  master.setTimeout(PATIENCE_MS);
  master.setID(1);
  // One whose connection is gone never calls back.
  onTestFinished(async () => {
    if (master.isOpen) await new Promise<void>((resolve) => master.close(() => resolve()));
  });
  return master;
}

/** A port of this machine that another program listens on, until the test ends. */
export async function takenPort(host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return portOf(server.address());
}

/**
 * A port of this machine that nobody listens on. It is below those that the system gives to whoever asks for any
 * (ip_local_port_range), so no other test gets it before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return port;
  }
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('not a TCP socket');
  return address.port;
}
