import { expect, it } from 'vitest';
import { decodeEvent } from '../../../src/simulator/traffic/decode.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../support/configuration.js';
import { exchangesOf } from '../../support/exchanges.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

stopAfterEach();

const meter = {
  registers: {
    coils: [{ address: 0, quantity: 8, write: true }],
    holding: [
      { address: 0, quantity: 8, write: true },
      { address: 10, quantity: 2 },
      { address: 65_535, value: 1 },
    ],
    input: [{ address: 5, value: 1 }],
  },
};

/** What the traffic says about the reply to each request, when all of them were answered. */
async function repliesTo(pdus: readonly string[], faults: readonly object[] = []) {
  const running = await startSimulator(
    nativeSetup({ devices: { meter }, lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } } }),
  );
  for (const fault of faults) running.addRule(fault);
  const client = running.client();
  for (const [i, pdu] of pdus.entries()) {
    const body = bytesOf(pdu);
    client.send(Uint8Array.of(0, i, 0, 0, 0, body.length + 1, 1, ...body));
    await until(() => exchangesOf(running.simulator).length === i + 1, 'answered');
  }
  // Registers that are defined later change nothing that was said.
  const { traffic } = running.simulator;
  return exchangesOf(running.simulator)
    .map((event) => decodeEvent(event, (seq) => traffic.read(seq)).text)
    .reverse();
}

const TEXT = 'exception 02 illegal data address';

it.each<[what: string, pdu: string, text: string]>([
  ['the addresses at the end of a read', '03 0000 000a', `holding registers 0–9: ${TEXT} (8–9 not defined)`],
  ['only the first gap', '03 0007 0010', `holding registers 7–22: ${TEXT} (8–9 not defined)`],
  ['one address', '04 0006 0001', `input registers 6: ${TEXT} (6 not defined)`],
  ['those beyond the last one', '03 FFFF 0002', `holding registers 65535–65536: ${TEXT} (65536 not defined)`],
  ['coils', '01 0000 0010', `read coils 0–15: ${TEXT} (8–15 not defined)`],
  ['what is read only', '10 000A 0002 04 0001 0002', `registers 10–11: ${TEXT} (10–11 read only)`],
  ['a coil', '05 0008 FF00', `coil 8: ${TEXT} (8 not defined)`],
  ['what function 22 would change', '16 0008 00F2 0025', `register 8: ${TEXT} (8 not defined)`],
  [
    'what function 23 would write',
    '17 0000 0002 0009 0001 02 0001',
    `read/write multiple registers, read 0–1: ${TEXT} (9 not defined)`,
  ],
])('exception 02 names %s', async (_, pdu, text) => {
  expect((await repliesTo([pdu]))[0]).toContain(text);
});

it('an exception 02 that a fault has made names none', async () => {
  const made = { name: 'made', do: [{ exception: 2 }] };
  expect(await repliesTo(['03 0000 0001'], [made])).toEqual([`unit 1 read holding registers 0: ${TEXT}`]);
});

it('other replies around it, and a fault on it, change nothing', async () => {
  const late = { name: 'late', do: [{ delay: 1 }] };
  expect(await repliesTo(['03 0000 0001', '03 0008 0001', '03 0000 0001'], [late])).toEqual([
    'unit 1 read holding registers 0: 0',
    `unit 1 read holding registers 8: ${TEXT} (8 not defined)`,
    'unit 1 read holding registers 0: 0',
  ]);
});
