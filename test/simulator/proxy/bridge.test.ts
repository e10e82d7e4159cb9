import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { RealOutcome } from '../../../src/device/device.js';
import type { RealDefinition } from '../../../src/document/configuration.js';
import type { ModbusClient, RequestOutcome } from '../../../src/modbus/client/client.js';
import { Bridge, RealLine } from '../../../src/simulator/proxy/bridge.js';
import { deviceOf } from '../../device/build.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { VirtualClock } from '../../support/virtual-clock.js';

/* What reaches a real device, and who answers. The test plays the client that asks the real device. */

const READ = '03 0000 0001';
const WRITE = '06 0000 0001';

function start(settings: Partial<RealDefinition> = {}, hasFallback = true) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const open: ((outcome: RequestOutcome) => void)[] = [];
  const client: ModbusClient = {
    raw: () => Promise.resolve({ kind: 'failed', reason: 'nobody sends raw bytes here' }),
    pending: 0,
    ask: ({ unitId, pdu }) => {
      sent.push(`${unitId} ${hexOf(pdu)}`);
      return new Promise((resolve) => void open.push(resolve));
    },
    close: () => Promise.resolve(),
  };
  const told: string[] = [];
  const device = deviceOf({ holding: [{ address: 0, value: 1 }] });
  const fallback = deviceOf({ holding: [{ address: 0, value: 2 }] });
  const line = new RealLine(client, clock);
  const definition: RealDefinition = {
    target: { kind: 'tcp', host: 'meter', port: 502, framing: 'socket' },
    timeout: 100,
    pause: 0,
    writes: true,
    whenSilent: 'silence',
    shadow: true,
    ...settings,
  };
  const bridge = new Bridge(definition, line, {
    clock,
    device,
    fallback: () => (hasFallback ? fallback : undefined),
    report: (text) => void told.push(text),
  });
  const outcomes: string[] = [];
  const note = (name: string) => (outcome: RealOutcome) => {
    const what = outcome.kind === 'response' ? hexOf(outcome.pdu) : outcome.kind;
    outcomes.push(`${name}: ${what}`);
  };
  return {
    clock,
    sent,
    told,
    outcomes,
    bridge,
    fallback,
    ask: (name: string, pdu: string, unitId = 1) => bridge.ask(unitId, bytesOf(pdu), note(name)),
    /** The request under way ends so. */
    end: async (outcome: 'timeout' | string) => {
      const done = open.shift();
      if (outcome === 'timeout') done?.({ kind: 'timeout', heard: new Uint8Array(), ms: 100 });
      else done?.({ kind: 'answered', pdu: bytesOf(outcome), adu: new Uint8Array(), ms: 1 });
      await turn();
    },
  };
}

it('asks one request after another, by the unit of the client or by its own', async () => {
  const { ask, end, sent, outcomes } = start();
  ask('first', READ, 3);
  ask('second', READ, 4);
  expect(sent).toEqual(['3 0300000001']);
  await end('03 02 0007');
  expect(sent).toEqual(['3 0300000001', '4 0300000001']);
  await end('03 02 0008');
  expect(outcomes).toEqual(['first: 03020007', 'second: 03020008']);
  const own = start({ unit: 9 });
  own.ask('own', READ, 3);
  expect(own.sent).toEqual(['9 0300000001']);
});

it('does not ask what nobody waits for any more, and not twice what is under way', async () => {
  const { ask, end, sent, outcomes } = start();
  const giveUp = ask('first', READ);
  const giveUpWrite = ask('write', WRITE);
  giveUpWrite();
  giveUp();
  ask('again', READ);
  await end('03 02 0007');
  expect(sent).toEqual(['1 0300000001']);
  expect(outcomes).toEqual(['again: 03020007']);
});

it('a write that timed out is neither answered nor executed by the fallback, nor sent again', async () => {
  const { ask, end, sent, outcomes, fallback, clock } = start();
  ask('read', READ);
  await end('03 02 0007');
  ask('write', WRITE);
  await end('timeout');
  expect(outcomes).toEqual(['read: 03020007', 'write: silence']);
  expect(fallback.tables.holding.readWords(0, 1)).toEqual([7]);
  clock.advance(1500);
  await turn();
  expect(sent).toEqual(['1 0300000001', '1 0600000001', '1 0300000001']);
});

it('after one time-out the fallback answers what waits, and the last read is tried every second', async () => {
  const { ask, end, sent, outcomes, told, clock, bridge } = start();
  ask('first', READ);
  ask('second', READ);
  await end('timeout');
  expect(outcomes.toSorted()).toEqual(['first: fallback', 'second: fallback']);
  expect(bridge.status).toEqual({ to: 'meter:502', answers: false });
  ask('third', '04 0000 0001');
  expect(outcomes.at(-1)).toBe('third: fallback');
  expect(sent).toHaveLength(1);
  clock.advance(1000);
  await end('timeout');
  clock.advance(1000);
  expect(sent).toEqual(['1 0300000001', '1 0400000001', '1 0400000001']);
  await end('04 02 0005');
  expect(told).toEqual([
    expect.stringMatching(/: did not answer within 100 ms; .* answers instead$/),
    expect.stringMatching(/: answers again$/),
  ]);
  ask('fourth', READ);
  expect(sent).toHaveLength(4);
  clock.advance(5000);
  expect(sent).toHaveLength(4);
});

it('without a fallback, it is silent or gives exception 0B, and asks each time', async () => {
  const silent = start({}, false);
  silent.ask('read', READ);
  await silent.end('timeout');
  silent.ask('again', READ);
  expect(silent.sent).toHaveLength(2);
  expect(silent.outcomes).toEqual(['read: silence']);
  const loud = start({ whenSilent: 'exception' }, false);
  loud.ask('read', READ);
  await loud.end('timeout');
  expect(loud.outcomes).toEqual(['read: 830b']);
});

it.each([
  '05 0000 ff00',
  '06 0000 0001',
  '08 0000 0001',
  '0f 0000 0001 01 01',
  '10 0000 0001 02 0001',
  '15 00',
])('without writes, %s gets exception 01 and is not sent', (pdu) => {
  const { ask, sent, outcomes, told } = start({ writes: false });
  ask('it', pdu);
  expect(sent).toEqual([]);
  expect(outcomes).toEqual([`it: ${hexOf(Uint8Array.of((bytesOf(pdu)[0] as number) | 0x80))}01`]);
  expect(told).toHaveLength(1);
});

it.each(['01 0000 0001', '07', '0b', '0c', '11', '14 07 06 0001 0000 0001', '18 0000', '2b 0e 01 00'])(
  'without writes, %s is sent',
  (pdu) => {
    const { ask, sent } = start({ writes: false });
    ask('it', pdu);
    expect(sent).toHaveLength(1);
  },
);

it('keeps the pause before each request', async () => {
  const { ask, end, sent, clock } = start({ pause: 50 });
  ask('first', READ);
  await end('03 02 0007');
  ask('second', READ);
  expect(sent).toHaveLength(1);
  clock.advance(49);
  expect(sent).toHaveLength(1);
  clock.advance(1);
  expect(sent).toHaveLength(2);
});

it('keeps no more than 256 requests waiting', async () => {
  const { ask, outcomes } = start({}, false);
  for (let i = 0; i < 258; i++) ask(String(i), READ);
  expect(outcomes).toEqual(['257: silence']);
});

it('is not asked any more when its device is gone', async () => {
  const { ask, bridge, clock, end, sent } = start();
  ask('read', READ);
  await end('timeout');
  bridge.end();
  clock.advance(10_000);
  expect(sent).toHaveLength(1);
});
