import { once } from 'node:events';
import { Socket } from 'node:net';
import modbus from 'jsmodbus';
import { SerialPort } from 'serialport';
import { poll } from './poll.mjs';

// jsmodbus.mjs PATH|HOST BAUD|PORT TIMEOUT_MS FILE
const [place = '', number, timeoutMs, file = ''] = process.argv.slice(2);
const UNIT = 1;

await poll(file, async () => (place.startsWith('/') ? openPort() : connect()));

async function openPort() {
  const port = new SerialPort({ path: place, baudRate: Number(number), autoOpen: false });
  port.on('error', () => {});
  const client = new modbus.client.RTU(port, UNIT, Number(timeoutMs));
  port.open();
  await once(port, 'open');
  return connection(client, { isOpen: () => port.isOpen, close: () => port.close() });
}

async function connect() {
  const socket = new Socket();
  socket.on('error', () => {});
  const client = new modbus.client.TCP(socket, UNIT, Number(timeoutMs));
  socket.connect({ host: place, port: Number(number) });
  await once(socket, 'connect');
  return connection(client, { isOpen: () => !socket.destroyed, close: () => socket.destroy() });
}

/**
 * @param {InstanceType<typeof modbus.client.RTU> | InstanceType<typeof modbus.client.TCP>} client
 * @param {{isOpen: () => boolean, close: () => void}} way
 * @returns {import('./poll.mjs').Connection}
 */
function connection(client, way) {
  return {
    read: async (address, quantity) => {
      const { response } = await client.readHoldingRegisters(address, quantity);
      return /** @type {number[]} */ (response.body.values);
    },
    ...way,
  };
}
