import { once } from 'node:events';
import { connect } from 'node:net';
import jsmodbus from 'jsmodbus';
import { SerialPort } from 'serialport';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { METER, PEER_CONFIG } from '../../support/peer-config.js';
import { type RunningProgram, startProgram } from '../../support/program.mjs';

let program: RunningProgram;
beforeAll(async () => {
  program = await startProgram({ config: PEER_CONFIG });
});
afterAll(async () => {
  expect(await program.stop()).toBe(0);
});

async function rtuClient() {
  const port = new SerialPort({ path: program.serialPath('fast'), baudRate: 115200, parity: 'even' });
  await once(port, 'open');
  onTestFinished(() => new Promise<void>((resolve) => port.close(() => resolve())));
  return new jsmodbus.client.RTU(port, 1);
}

async function tcpClient() {
  const socket = connect(program.tcpPort('lan'), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const client = new jsmodbus.client.TCP(socket, 1);
  await once(socket, 'connect');
  return client;
}

describe.each([
  ['RTU', rtuClient],
  ['TCP', tcpClient],
] as const)('a jsmodbus client over %s', (_, open) => {
  it('reads all four tables', async () => {
    const client = await open();
    const coils = await client.readCoils(0, 8);
    const inputs = await client.readDiscreteInputs(0, 8);
    const holding = await client.readHoldingRegisters(0, 4);
    const input = await client.readInputRegisters(0, 3);
    expect([...coils.response.body.valuesAsArray]).toEqual(METER.coils.slice(0, 8));
    expect([...inputs.response.body.valuesAsArray]).toEqual(METER.discrete.slice(0, 8));
    expect([...holding.response.body.valuesAsArray]).toEqual(METER.holding);
    expect([...input.response.body.valuesAsArray]).toEqual(METER.input);
  });

  it('reads the device identification', async () => {
    const client = await open();
    const { response } = await client.readDeviceIdentification(1, 0);
    expect(response.body.objects.map(({ value }) => `${value}`)).toEqual(['Example Co', 'EX-1', '1.2']);
  });
});
