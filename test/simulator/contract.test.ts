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
function benchOf(devices: object, units: object, faults: readonly object[] = []) {
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
    nativeSetup({ devices, lines: { bus: { serial: { path: 'virtual' }, units } }, faults }),
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
    /** The real device gives this answer to the request that is under way, or none in time. */
    answers: async (hex: string | undefined) => {
      open.shift()?.(
        hex === undefined
          ? { kind: 'timeout', heard: new Uint8Array(), ms: 1000 }
          : { kind: 'answered', pdu: bytesOf(hex), adu: new Uint8Array(), ms: 1 },
      );
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

/** Why a plan is silent; undefined when it sends, or is still to come. */
const whySilent = ({ plan }: LineReply) => (plan?.kind === 'silence' ? plan.reason : undefined);

describe('a device that does not answer', () => {
  const LISTEN_ONLY = '08 0004 0000';
  const RESTART = '08 0001 0000';

  it.each<[why: string, manners: object, before: (device: Device) => void, requests: string[]]>([
    ['the device is off or booting', {}, (device) => device.interrupt({ bootMs: 0 }), []],
    ['the device is in listen-only mode', {}, () => {}, [LISTEN_ONLY]],
    ['the device has locked up', { locksUp: { on: ['address'], for: '1h' } }, () => {}, ['03 0009 0001']],
    ['the device does not answer this kind of request', { holes: 'silence' }, () => {}, []],
  ])('has the reason in its plan: %s', (why, manners, before, requests) => {
    const { request, device } = benchOf({ meter: { ...METER, manners } }, { 1: 'meter' });
    before(device('meter'));
    for (const each of requests) request(1, each);
    expect(whySilent(request(1, '03 0005 0001'))).toBe(why);
  });

  it('does not hear a broadcast while it has locked up', () => {
    const { request, device } = benchOf(
      { meter: { ...METER, manners: { locksUp: { on: ['address'], for: '1h' } } }, other: METER },
      { 1: 'meter', 2: 'other' },
    );
    expect(sent(request(1, '03 0009 0001'))).toEqual(['018302']);
    request(BROADCAST, '06 0000 0007');
    expect(device('meter').tables.holding.readWords(0, 2)).toEqual([1, 0]);
    expect(sent(request(2, READ))).toEqual(['02030400070001']);
  });

  it.each(['a restart, which it does not answer', 'the loss of its power'])(
    'in listen-only mode comes back by %s',
    (way) => {
      const { request, device } = benchOf({ meter: METER }, { 1: 'meter' });
      request(1, LISTEN_ONLY);
      if (way.startsWith('a restart')) expect(sent(request(1, RESTART))).toEqual([]);
      else {
        device('meter').interrupt({ bootMs: 0 });
        device('meter').restore(0);
      }
      expect(sent(request(1, READ))).toEqual(['01030400010000']);
      // Function 8, sub-function 15: messages that were not answered, since then.
      expect(sent(request(1, '08 000F 0000'))).toEqual(['0108000f0000']);
    },
  );
});

it('a write has its line as the writer', () => {
  const { request, device } = benchOf({ meter: METER }, { 1: 'meter' });
  const writer = () => device('meter').tables.holding.window.image.lastWrites.get(0)?.writer;
  for (const unit of [1, BROADCAST]) {
    request(unit, `06 0000 000${unit + 2}`);
    expect(writer()).toEqual({ by: 'line', line: 'bus', client: undefined });
  }
});

it('of several devices that answer broadcasts the first is heard', () => {
  const answering = { ...METER, manners: { answersBroadcasts: 'own' } };
  const { request } = benchOf(
    { quiet: METER, one: answering, two: answering },
    { 1: 'quiet', 5: 'one', 6: 'two' },
  );
  expect(sent(request(BROADCAST, '06 0000 0007'))).toEqual(['050600000007']);
  for (const unit of [1, 5, 6]) expect(sent(request(unit, READ))).toEqual([`0${unit}030400070001`]);
});

describe('a request to a real device', () => {
  it.each([
    ['its manners', { writes: 'single' }, [], '10 0000 0001 02 0007', '019001'],
    ['a fault', {}, [{ name: 'busy', when: { unit: 1 }, do: { exception: 6 } }], '03 0000 0001', '018306'],
  ])('is answered by %s, and not passed on', (_, manners, faults, pdu, answer) => {
    const { request, asked } = benchOf({ meter: { ...REAL, manners } }, { 1: 'meter' }, faults);
    expect(sent(request(1, pdu))).toEqual([answer]);
    expect(asked).toEqual([]);
  });

  it('has its plan when the real device has answered, or is away and the fallback has', async () => {
    const { request, answers, device } = benchOf(
      { meter: { ...REAL, fallback: 'spare' }, spare: METER },
      { 1: 'meter', 2: 'spare' },
    );
    const first = request(1, READ);
    const planned: string[] = [];
    expect(first.plan).toBeUndefined();
    first.whenPlanned?.(() => planned.push(...sent(first)));
    await answers('03 04 0008 0009');
    expect(planned).toEqual(['01030400080009']);
    const second = request(1, '06 0000 0005');
    await answers(undefined);
    const third = request(1, '06 0000 0006');
    expect([sent(second), sent(third)]).toEqual([[], ['010600000006']]);
    expect(device('spare').tables.holding.window.image.lastWrites.get(0)?.writer).toMatchObject({
      by: 'line',
    });
  });

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
