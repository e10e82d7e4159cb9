import { once } from 'node:events';
import { connect } from 'node:net';
import jsmodbus from 'jsmodbus';
import modbusSerial from 'modbus-serial';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLine, type TestLine } from './line.js';

let line: TestLine;

beforeEach(async () => {
  line = await openLine();
});

afterEach(() => line.close());

test('modbus-serial reads and writes holding registers', async () => {
  const client = new modbusSerial.default();
  await client.connectTCP('127.0.0.1', { port: line.port });
  client.setID(17);
  await client.writeRegister(3, 1234);
  await client.writeRegisters(4, [1, 2, 65535]);
  expect((await client.readHoldingRegisters(3, 4)).data).toEqual([1234, 1, 2, 65535]);
  await expect(client.readCoils(0, 1)).rejects.toMatchObject({ modbusCode: 1 });
  expect(line.device.requests.every(({ unitId }) => unitId === 17)).toBe(true);
  await new Promise<void>((resolve) => {
    client.close(() => resolve());
  });
});

test('jsmodbus reads and writes holding registers, several requests at a time', async () => {
  const socket = connect(line.port, '127.0.0.1');
  const client = new jsmodbus.client.TCP(socket, 1);
  await once(socket, 'connect');
  await client.writeMultipleRegisters(0, [10, 11, 12, 13, 14]);
  const reads = await Promise.all([0, 1, 2, 3, 4].map((address) => client.readHoldingRegisters(address, 1)));
  expect(reads.map(({ response }) => response.body.valuesAsArray)).toEqual([[10], [11], [12], [13], [14]]);
  socket.destroy();
});
