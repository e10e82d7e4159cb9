import { describe, expect, it } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { bytesOf } from '../../../modbus/protocol/hex.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';

const SETUP = {
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, quantity: 20, write: true }],
        holding: [
          { address: 0, quantity: 10, write: true },
          { address: 10, type: 'float32', name: 'limit', write: true },
          { address: 12, name: 'wave', signal: { sine: { period: '10s', amplitude: 5, offset: 9 } } },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

interface Register {
  readonly lastWriter: Readonly<Record<string, string | null>> | null;
}

async function lastWriters(running: RunningSimulator, query: string) {
  const url = `/api/v1/devices/meter/registers?${query}`;
  const { body } = await running.rest.send<{ registers: Register[] }>('GET', url);
  return body.registers.map(({ lastWriter }) => lastWriter);
}

describe('the last writer of a register', () => {
  stopAfterEach();

  it('is nobody at first, and a signal where one moves the value', async () => {
    const running = await startSimulator(nativeSetup(SETUP));
    expect(await lastWriters(running, 'table=holding&from=9&to=12')).toEqual([
      null,
      null,
      { by: 'signal', line: null, client: null, time: null },
    ]);
  });

  it('is the client on its line, for each of the registers that it has written', async () => {
    const running = await startSimulator(nativeSetup(SETUP));
    const client = running.client();
    const requests = ['10 0001 0002 04 0007 0008', '06 000B 0001', '0F 0003 000A 02 FF 03', '03 0005 0001'];
    for (const pdu of requests)
      client.send(SOCKET.encode({ unitId: 1, transactionId: 1, pdu: bytesOf(pdu) }));
    await client.responsesOf(requests.length);
    const { localPort } = client.socket;
    const written = {
      by: 'line',
      line: 'lan',
      client: `127.0.0.1:${localPort}`,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
    };
    expect(await lastWriters(running, 'table=holding&from=0&to=3')).toEqual([null, written, written, null]);
    expect(await lastWriters(running, 'names=limit')).toEqual([written]);
    expect(await lastWriters(running, 'table=coils&from=2&to=13')).toEqual([
      null,
      ...new Array(10).fill(written),
      null,
    ]);
  });

  it('is REST, and nobody again after a reset', async () => {
    const running = await startSimulator(nativeSetup(SETUP));
    const { rest } = running;
    await rest.send('PUT', '/api/v1/devices/meter/values/limit', { value: 5 });
    await rest.registers({ submit: 'Set', register: 3, value: '8', device: 'meter' });
    const written = { by: 'REST', line: null, client: null, time: expect.any(String) };
    expect(await lastWriters(running, 'names=limit')).toEqual([written]);
    expect(await lastWriters(running, 'table=holding&from=3&to=4')).toEqual([written, null]);
    await rest.send('POST', '/api/v1/devices/meter/reset');
    expect(await lastWriters(running, 'names=limit')).toEqual([null]);
  });
});
