import { resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Device } from '../../src/device/device.js';
import type { RequestOutcome } from '../../src/modbus/client/client.js';
import { SOCKET } from '../../src/modbus/protocol/framing.js';
import { systemClock } from '../../src/modbus/transport/clock.js';
import type { LineHandler, LineReply, Transport } from '../../src/modbus/transport/transport.js';
import { Simulator } from '../../src/simulator/simulator.js';
import { Capture } from '../../src/simulator/traffic/capture/capture.js';
import { type CaptureLines, FORM_NAMES } from '../../src/simulator/traffic/capture/packet.js';
import { bytesOf, hexOf } from '../modbus/protocol/hex.js';
import { nativeSetup } from '../support/configuration.js';
import { frameEvent, replyEvent } from './traffic/events.js';

/*
 * What the wing promises between a file and a transport: requests in, reply plans out. The test plays the transport. The captures are goldens:
 * `npx vitest run test/simulator/contract.test.ts -u` writes them again; a commit that has one of them says why.
 */

const golden = (name: string) => resolve('test/goldens/written', name);

const BROADCAST = 0;
const REAL = { real: { tcp: { host: 'meter', port: 502 } }, writes: true };

/** A simulator of a file with one serial line, to which the test hands requests. */
function benchOf(devices: object, units: object) {
  let handler: LineHandler | undefined;
  const transport: Transport = {
    state: { kind: 'stopped' },
    clients: undefined,
    start: () => Promise.resolve({ ok: true, endpoint: 'played' }),
    stop: () => Promise.resolve(),
    reframe: () => {},
  };
  const asked: string[] = [];
  const open: ((outcome: RequestOutcome) => void)[] = [];
  const simulator = new Simulator(
    nativeSetup({ devices, lines: { bus: { serial: { path: 'virtual' }, units } } }),
    pino({ level: 'silent' }),
    {
      clock: systemClock,
      newTransport: (_, __, given) => {
        handler = given;
        return transport;
      },
      newRealClient: () => ({
        raw: () => Promise.resolve({ kind: 'failed', reason: 'nobody sends raw bytes here' }),
        pending: 0,
        ask: ({ unitId, pdu }) => {
          asked.push(`${unitId} ${hexOf(pdu)}`);
          return new Promise((resolve) => void open.push(resolve));
        },
        close: () => Promise.resolve(),
      }),
    },
  );
  return {
    asked,
    device: (name: string) => simulator.devices.get(name) as Device,
    /** The reply to a request, whose plan the transport has now. */
    request(unitId: number, hex: string): LineReply {
      const pdu = bytesOf(hex);
      let reply: LineReply | undefined;
      const times = { startedAt: performance.now(), receivedAt: performance.now() };
      handler?.request({ unitId, pdu, adu: pdu, transactionId: 0, clientId: 0, ...times }, (begun) => {
        reply = begun;
      });
      if (!reply) throw new Error('no reply was begun');
      return reply;
    },
    /** The real device gives this answer to the request that is under way. */
    answers: async (hex: string) => {
      open.shift()?.({ kind: 'answered', pdu: bytesOf(hex), adu: new Uint8Array(), ms: 1 });
      await turn();
    },
  };
}

/** The PDUs that a plan sends, as hex with the unit identifier before it. */
const sent = ({ plan }: LineReply) =>
  plan?.kind === 'send'
    ? plan.steps.map((step) => (step.kind === 'bytes' ? hexOf(step.bytes.slice(0, -2)) : step.kind))
    : [];

const holding = [
  {
    address: 0,
    name: 'level',
    value: 1,
    write: true,
    retain: true,
    onWrite: [{ set: { writes: 'writes + 1' } }],
  },
  { address: 1, name: 'writes', value: 0, retain: true },
];
const METER = { registers: { holding } };
const READ = '03 0000 0002';

describe('a broadcast', () => {
  it('does not reach a device without power, nor one that boots, and no counter of theirs', () => {
    const devices = { on: METER, off: METER, boots: { ...METER, manners: { answersBroadcasts: 'own' } } };
    const { request, device } = benchOf(devices, { 1: 'on', 2: 'off', 3: 'boots' });
    device('off').interrupt({ bootMs: 0 });
    device('boots').interrupt({ forMs: 0, bootMs: 3_600_000 });
    expect(sent(request(BROADCAST, '06 0000 0007'))).toEqual([]);
    expect(sent(request(1, READ))).toEqual(['01030400070001']);
    expect(sent(request(2, READ))).toEqual([]);
    device('off').restore(0);
    expect(sent(request(2, READ))).toEqual(['02030400010000']);
    // Function 11: no event of that broadcast.
    expect(sent(request(2, '0b'))).toEqual(['020b00000001']);
    expect(device('boots').tables.holding.readWords(0, 2)).toEqual([1, 0]);
    expect(sent(request(BROADCAST, '06 0000 0009'))).toEqual([]);
    expect(sent(request(2, READ))).toEqual(['02030400090001']);
  });

  it.each([
    ['silently', {}, []],
    ['once though it answers broadcasts', { answersBroadcasts: 'own' }, ['010600000007']],
  ])('is carried out once by a device under two units: %s', (_, manners, answer) => {
    const { request } = benchOf({ meter: { ...METER, manners } }, { 1: 'meter', 2: 'meter' });
    expect(sent(request(BROADCAST, '06 0000 0007'))).toEqual(answer);
    for (const unit of [1, 2]) expect(sent(request(unit, READ))).toEqual([`0${unit}030400070001`]);
  });

  it('of function 8 is for each unit of a device: both only listen then', () => {
    const { request } = benchOf({ meter: METER }, { 1: 'meter', 2: 'meter' });
    request(BROADCAST, '08 0004 0000');
    for (const unit of [1, 2]) expect(sent(request(unit, READ))).toEqual([]);
  });

  it('goes once to a real device under two units, and nobody waits for it', async () => {
    const { request, asked, answers } = benchOf({ meter: REAL }, { 1: 'meter', 2: 'meter' });
    expect(sent(request(BROADCAST, '06 0000 0007'))).toEqual([]);
    await answers('06 0000 0007');
    expect(asked).toEqual(['0 0600000007']);
  });
});

describe('a request to a real device', () => {
  it('is called off when its reply is given up, and is not sent any more', async () => {
    const { request, asked, answers } = benchOf({ meter: REAL }, { 1: 'meter' });
    const [first, second, third] = ['03 0000 0001', '03 0001 0001', '03 0002 0001'].map((hex) =>
      request(1, hex),
    );
    second?.played({ steps: [], ended: 'superseded' });
    await answers('03 02 0005');
    await answers('03 02 0006');
    expect(asked).toEqual(['1 0300000001', '1 0300020001']);
    expect([first, second, third].map((reply) => reply && sent(reply))).toEqual([
      ['0103020005'],
      [],
      ['0103020006'],
    ]);
  });
});

describe('a capture is as it was', () => {
  const lines: CaptureLines = {
    names: () => ['bench', 'lan'],
    get: (name) =>
      name === 'bench'
        ? { name, kind: 'serial', describe: () => 'RTU' }
        : { name, kind: 'tcp', host: '127.0.0.1', port: 502, describe: () => 'Modbus TCP' },
  };
  const client = { line: 'lan', framing: SOCKET, client: '192.0.2.7:40112', clientId: 3 };
  const events = [
    frameEvent(READ),
    replyEvent(READ, '03 04 0007 0001', { acted: [{ rule: 'late', kind: 'delay' }] }),
    frameEvent(READ, { ...client, seq: 3 }),
    replyEvent(READ, '03 04 0007 0001', { ...client, seq: 4, request: 3 }),
  ];

  it.each(FORM_NAMES)('in the form %s', async (form) => {
    const capture = new Capture(form, lines);
    const blocks = [...capture.header(), ...events.flatMap((event) => capture.blocksOf(event))];
    const text = blocks.map((block) => `${hexOf(block)}\n`).join('');
    await expect(text).toMatchFileSnapshot(golden(`capture-${form}.hex`));
  });
});
