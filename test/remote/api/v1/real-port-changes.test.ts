import { writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { expect, it, onTestFinished } from 'vitest';
import { openPty } from '../../../../src/modbus/transport/port/pty.js';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';

stopAfterEach();

/** Reads register 0 of unit 1, which is 7. */
const READ = Buffer.from('010300000001840a', 'hex');
const REPLY = '0103020007f986';

/** A line on a port that is opened as real ones are, and what is at the other end of the wire. */
async function wired() {
  const opened = await openPty();
  if (!opened.ok) throw new Error(opened.error);
  const { pty } = opened;
  const stream = new ReadStream(pty.masterFd);
  let received = '';
  stream.on('data', (chunk) => {
    received += chunk.toString('hex');
  });
  onTestFinished(() => {
    stream.destroy();
    pty.close();
  });
  const { rest } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
      lines: { bus: { serial: { path: pty.path, baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } } },
    }),
  );
  const answers = async () => {
    received = '';
    writeSync(pty.masterFd, READ);
    await until(() => received.length >= REPLY.length, 'the reply has come');
    return received;
  };
  return { rest, path: pty.path, answers };
}

it('a port is opened again with another baud rate, and its line serves on', async () => {
  const { rest, path, answers } = await wired();
  expect(await answers()).toBe(REPLY);
  const serial = { path, baudRate: 115200, stopBits: 2 };
  expect(await rest.send('PUT', '/api/v1/lines/bus', { serial })).toMatchObject({
    status: 200,
    body: { state: 'open', place: path, settings: { serial }, port: { adapter: 'pseudo-terminal' } },
  });
  expect(await answers()).toBe(REPLY);
  expect(await rest.send('GET', '/api/v1/lines/bus')).toMatchObject({
    body: { counters: { requests: 2, replies: 2 } },
  });
});

it('what a port can not do is refused in its words, and its line is as before', async () => {
  const { rest, path, answers } = await wired();
  const before = await rest.send<{ settings: object }>('GET', '/api/v1/lines/bus');
  const change = { serial: { rs485: { mode: 'kernel' }, baudRate: 115200 } };
  expect(await rest.send('PUT', '/api/v1/lines/bus', change)).toMatchObject({
    status: 409,
    body: { error: expect.stringMatching(new RegExp(`^${path}: .*RS-485`)) },
  });
  expect(await rest.send('GET', '/api/v1/lines/bus')).toMatchObject({
    body: { state: 'open', place: path, settings: before.body.settings },
  });
  expect(await answers()).toBe(REPLY);
});
