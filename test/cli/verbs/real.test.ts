import { SerialPort } from 'serialport';
import { afterEach, expect, it } from 'vitest';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../support/configuration.js';
import { startProgram } from '../../support/program.mjs';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

/* Real devices on a serial line, behind simulated ones on TCP and on a serial line. The real ones are the program itself. */

stopAfterEach();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const meter = (value: number) => ({ registers: { holding: [{ address: 0, value, write: true }] } });

async function startPlant() {
  const plant = await startProgram({
    config: {
      devices: { five: meter(5), six: meter(6) },
      lines: { plant: { serial: { path: 'virtual' }, units: { 5: 'five', 6: 'six' } } },
    },
  });
  ends.push(() => plant.stop());
  return plant.serialPath('plant');
}

async function serialClient(path: string) {
  const port = new SerialPort({ path, baudRate: 19200 });
  ends.push(() => new Promise((resolve) => port.close(resolve)));
  let heard = Buffer.alloc(0);
  port.on('data', (bytes: Buffer) => {
    heard = Buffer.concat([heard, bytes]);
  });
  return async (unitId: number, pdu: string, length: number) => {
    heard = Buffer.alloc(0);
    port.write(encodeRtu(unitId, bytesOf(pdu)));
    await until(() => heard.length >= length, `${length} bytes have come`);
    return hexOf(heard);
  };
}

it('two real devices share a port, for clients on TCP and on a serial line', {
  timeout: 60_000,
}, async () => {
  const serial = { path: await startPlant(), baudRate: 19200 };
  const behind = (unit: number) => ({ real: { serial, unit }, writes: true });
  const { client, path } = await startSimulator(
    nativeSetup({
      devices: { one: behind(5), two: behind(6) },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'one', 2: 'two' } },
        bus: { serial: { path: 'virtual' }, units: { 1: 'one', 2: 'two' } },
      },
    }),
  );
  const lan = client('lan');
  // Ten requests to two devices at once: each waits for its turn on the real line.
  for (let id = 0; id < 10; id++)
    lan.send(bytesOf(`00${hexOf(Uint8Array.of(id))} 0000 0006 0${(id % 2) + 1} 03 0000 0001`));
  const values = (await lan.responsesOf(10)).map(({ transactionId, pdu }) => [transactionId, hexOf(pdu)]);
  expect(values).toEqual(Array.from({ length: 10 }, (_, id) => [id, id % 2 ? '03020006' : '03020005']));
  const ask = await serialClient(path('bus'));
  expect(await ask(1, '03 0000 0001', 7)).toBe(hexOf(encodeRtu(1, bytesOf('03 02 0005'))));
  expect(await ask(2, '06 0000 0063', 8)).toBe(hexOf(encodeRtu(2, bytesOf('06 0000 0063'))));
  expect(await ask(2, '03 0000 0001', 7)).toBe(hexOf(encodeRtu(2, bytesOf('03 02 0063'))));
  // An exception, and a function that nobody has.
  expect(await ask(1, '03 0009 0001', 5)).toBe(hexOf(encodeRtu(1, bytesOf('83 02'))));
  expect(await ask(1, '41', 5)).toBe(hexOf(encodeRtu(1, bytesOf('c1 01'))));
});
