import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { SerialPort } from 'serialport';
import { systemClock } from '../../../src/modbus/transport/clock.js';
import { FAULTLESS, type Habits } from './habits.js';
import { ModelClient, type Wire } from './model-client.js';

/*
 * real-client FILE PATH|HOST BAUD|PORT
 *
 * A model client as a program of its own, on a serial port or on Modbus TCP. FILE has its habits as JSON; error-rates-real.test.ts
 * bundles this program.
 */
const [file = '', place = '', number] = process.argv.slice(2);

const revived = JSON.parse(readFileSync(file, 'utf8'), (key, value) =>
  key === 'pdu' ? Uint8Array.from(value) : value,
) as Partial<Habits>;
const wire = place.startsWith('/') ? await serialWire() : tcpWire();
const client: ModelClient = new ModelClient({ ...FAULTLESS, ...revived }, wire, systemClock);
await client.poll();
process.exit(0);

async function serialWire(): Promise<Wire> {
  const port = new SerialPort({ path: place, baudRate: Number(number) });
  await once(port, 'open');
  port.on('data', (bytes: Buffer) => client.received(bytes));
  return {
    framing: 'rtu',
    isOpen: true,
    send: (bytes) => void port.write(Buffer.from(bytes)),
    open: async () => true,
    close: () => {},
  };
}

function tcpWire(): Wire {
  let socket: Socket | undefined;
  const lose = () => {
    socket?.destroy();
    socket = undefined;
    client.closed(false);
  };
  return {
    framing: 'socket',
    get isOpen() {
      return socket !== undefined;
    },
    send: (bytes) => void socket?.write(bytes),
    open: () =>
      new Promise((resolve) => {
        const made = connect(Number(number), place, () => {
          socket = made;
          resolve(true);
        });
        made.setNoDelay();
        made.on('data', (bytes) => client.received(bytes));
        made.on('error', () => resolve(false));
        made.on('close', () => (made === socket ? lose() : undefined));
      }),
    close: lose,
  };
}
