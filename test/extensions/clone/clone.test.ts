import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { ruleSchema } from '../../../src/device/faults/rule.js';
import { loadNative } from '../../../src/document/load.js';
import { cloneDevices } from '../../../src/extensions/clone/clone.js';
import type { CloneCommand } from '../../../src/extensions/clone/command.js';
import { importText } from '../../../src/extensions/import/import.js';
import type { ClientRequest, RequestOutcome } from '../../../src/modbus/client/client.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { writeClone } from '../../../src/testing/survey/write.js';
import { hexOf } from '../../modbus/protocol/hex.js';
import { answerAtOnce } from '../../simulator/bus/answer-at-once.js';

/* Clones of devices of our own, asked without a wire: a clone answers each read as its original does. */

const ORDER: CloneCommand = {
  target: { kind: 'tcp', host: 'meter', port: 502, framing: 'socket' },
  units: [1],
  ranges: [[0, 300]],
  watch: 0,
  functions: [],
  pause: 0,
  timeout: 1000,
  thorough: false,
  force: false,
};

function simulatorOf(file: string | object): Simulator {
  const loaded = loadNative(file, '.');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return new Simulator(loaded.configuration, pino({ level: 'silent' }));
}

/** Asks the bus of a simulator. Keeps the functions that were sent. */
function clientOf(simulator: Simulator, line = 'lan') {
  const functions = new Set<number>();
  const ask = ({ unitId, pdu }: ClientRequest): Promise<RequestOutcome> => {
    functions.add(pdu[0] as number);
    const bus = simulator.lines.get(line)?.bus;
    const plan = bus && answerAtOnce(bus, { unitId, pdu, transactionId: 1, clientId: 1 })?.plan;
    const step = plan?.kind === 'send' ? plan.steps[0] : undefined;
    if (step?.kind !== 'bytes')
      return Promise.resolve({ kind: 'timeout', heard: new Uint8Array(), ms: 1000 });
    return Promise.resolve({ kind: 'answered', adu: step.bytes, pdu: step.bytes.slice(7), ms: step.waitMs });
  };
  return { functions, ask };
}

async function clone(original: Simulator, order: Partial<CloneCommand> = {}, map?: string) {
  const client = clientOf(original);
  const imported = map === undefined ? undefined : importText(map, 'map.csv', undefined);
  if (imported?.ok === false) throw new Error(imported.error);
  const cloned = await cloneDevices(client, { ...ORDER, ...order }, imported?.value, {
    sleep: () => Promise.resolve(),
    isStopped: () => false,
    progress: () => {},
  });
  const text = writeClone(cloned.clone);
  return { ...cloned, text, again: simulatorOf(text), functions: client.functions };
}

/** What a simulator says to every read of one register or bit, and to reads of many. */
async function repliesOf(simulator: Simulator, unitId: number, last: number): Promise<string[]> {
  const { ask } = clientOf(simulator);
  const replies: string[] = [];
  for (const code of [1, 2, 3, 4]) {
    for (let address = 0; address <= last; address++) {
      for (const quantity of [1, 2, 10, 40, 41, 125]) {
        if (quantity > 2 && address % 10 > 1) continue;
        const pdu = Uint8Array.of(code, address >> 8, address & 0xff, 0, quantity);
        const outcome = await ask({ unitId, pdu, timeout: 0 });
        const text = outcome.kind === 'answered' ? hexOf(outcome.pdu) : outcome.kind;
        replies.push(`${code} ${address}+${quantity}: ${text}`);
      }
    }
  }
  return replies;
}

/** A meter with registers in all tables, with holes between them. */
const METER = {
  identity: { vendorName: 'Nobody', productCode: 'M-1', majorMinorRevision: '2.0', productName: 'Meter' },
  serverId: { id: [1, 2], running: true, additional: 'M-1' },
  registers: {
    coils: [{ address: 3, value: [1, 0, 1] }],
    discrete: [{ address: 0, quantity: 9, value: 1 }],
    input: [
      { address: 7, value: [1, 2, 3] },
      { address: 40, value: 4 },
    ],
    holding: [
      { address: 0, quantity: 60, value: 5 },
      { address: 100, type: 'float32', value: 230.5 },
      { address: 110, type: 'string', length: 6, value: 'Serial 0815' },
    ],
  },
};

const bench = (meter: object, more: object = {}) => ({
  devices: { meter },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  ...more,
});

describe('a clone answers every read as its original does', () => {
  it.each<[string, object]>([
    ['of a plain device', bench(METER)],
    ['of one that reads 40 registers at most', bench({ ...METER, manners: { most: { registers: 40 } } })],
    [
      'of one that is silent to too many',
      bench({ ...METER, manners: { most: { registers: 17, bits: 8, otherwise: 'silence' } } }),
    ],
    ['of one with silent holes', bench({ ...METER, manners: { holes: 'silence' } })],
    ['of one that refuses holes with 04', bench({ ...METER, manners: { holes: { exception: 4 } } })],
    ['of one that fills holes', bench({ ...METER, manners: { holes: { fill: 9 } } })],
    [
      'of one without functions 2, 7 and 17',
      bench(METER, {
        faults: [
          { name: 'a', when: { function: [2, 17] }, do: [{ exception: 1 }] },
          { name: 'b', when: { function: 7 }, do: [{ silence: true }] },
        ],
      }),
    ],
  ])('%s', async (_, file) => {
    const original = simulatorOf(file);
    const { again, functions } = await clone(original);
    expect(await repliesOf(again, 1, 170)).toEqual(await repliesOf(original, 1, 170));
    const rest = async (simulator: Simulator) => {
      const { ask } = clientOf(simulator);
      const pdus = [[7], [17], [43, 14, 1, 0], [43, 14, 2, 0]].map((pdu) => Uint8Array.from(pdu));
      return Promise.all(pdus.map((pdu) => ask({ unitId: 1, pdu, timeout: 0 })));
    };
    expect(await rest(again)).toEqual(await rest(original));
    expect([...functions].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 7, 8, 11, 12, 17, 43]);
  });

  it('of the demo, whose values move', async () => {
    const original = simulatorOf(readFileSync('examples/power-meter.yaml', 'utf8'));
    const { again, absent } = await clone(original, { units: [1, 2, 3] });
    const shapes = async (simulator: Simulator, unit: number) =>
      (await repliesOf(simulator, unit, 150)).map((reply) => reply.replace(/: 0[1-4].*/, ''));
    for (const unit of [1, 2]) expect(await shapes(again, unit)).toEqual(await shapes(original, unit));
    expect(absent).toEqual(['unit 3: exception 11']);
  });
});

it('refuses quantities that do not exist as its original does, and functions that nobody asked the device for', async () => {
  const silent = { name: 'many', when: { function: [3, 4], quantity: '126-65535' }, do: [{ silence: true }] };
  const none = { name: 'none', when: { quantity: 0 }, do: [{ exception: 2 }] };
  const original = simulatorOf(bench(METER, { faults: [silent, none] }));
  const { again, text } = await clone(original);
  const answers = (simulator: Simulator, requests: readonly (readonly number[])[]) =>
    Promise.all(
      requests.map((pdu) => clientOf(simulator).ask({ unitId: 1, pdu: Uint8Array.from(pdu), timeout: 0 })),
    );
  const wrong = [1, 2, 3, 4].flatMap((code) =>
    [0, 126, 255, 256, 2001, 2047, 2048, 65535].map((quantity) => [
      code,
      0,
      7,
      quantity >> 8,
      quantity & 0xff,
    ]),
  );
  expect(await answers(again, wrong)).toEqual(await answers(original, wrong));
  const notAsked = [
    [20, 7, 6, 0, 1, 0, 0, 0, 1],
    [22, 0, 0, 0, 0, 0, 0],
    [23, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0],
    [24, 0, 0],
  ];
  for (const [i, outcome] of (await answers(again, notAsked)).entries())
    expect(outcome).toMatchObject({ pdu: Uint8Array.of((notAsked[i]?.[0] ?? 0) | 0x80, 1) });
  expect(text).toContain('# Functions 20 to 24 and unassigned ones were not tried');
});

it('loses no register to a quantity that the original answers and no file can say', async () => {
  const silent = { name: 'many', when: { function: 3, quantity: '127-65535' }, do: [{ silence: true }] };
  const original = simulatorOf(bench(METER, { faults: [silent] }));
  const { ask } = clientOf(original);
  // Like many that count wrongly, it answers 126 registers.
  const sloppy: typeof ask = (request) =>
    request.pdu[0] === 3 && request.pdu[3] === 0 && request.pdu[4] === 126
      ? Promise.resolve({ kind: 'answered', adu: new Uint8Array(7), pdu: Uint8Array.of(3, 252), ms: 1 })
      : ask(request);
  const cloned = await cloneDevices({ ask: sloppy }, ORDER, undefined, {
    sleep: () => Promise.resolve(),
    isStopped: () => false,
    progress: () => {},
  });
  const text = writeClone(cloned.clone);
  const again = simulatorOf(text);
  expect(text).toContain('quantity: 127');
  expect(text).toContain('# Unit 1: holding: the device answered a quantity of 126; this file refuses it');
  expect(again.devices.get('unit-1')).toBeDefined();
});

it('makes a comment of what a file can not say, and keeps the registers', async () => {
  const { clone: made } = await clone(simulatorOf(bench(METER)));
  const [device] = made.devices;
  if (!device) throw new Error('nothing was cloned');
  const tested = {
    ...{ remarks: [], unknownFunction: undefined },
    manners: { most: { registers: 0, otherwise: 3 } },
    writable: {},
    functions: new Set<number>(),
    faults: [{ name: 'impossible', when: { quantity: '5' }, do: [{ exception: 300 }] }],
  };
  const text = writeClone({ ...made, devices: [{ ...device, tested }] });
  expect(simulatorOf(text).devices.get('unit-1')).toBeDefined();
  expect(text).toMatch(/# Left out, because a file can't express it \(.*\): the rule .*impossible/);
  expect(text).toMatch(/# Left out, because a file can't express it \(.*\): manners of "unit-1"/);
});

it('answers a function that was asked for on demand, and is known to the device', async () => {
  const { text, again } = await clone(simulatorOf(bench(METER)), { functions: [24] });
  expect(text).toContain('# Unit 1: function 24, sent without data: exception 3');
  const outcome = await clientOf(again).ask({ unitId: 1, pdu: Uint8Array.of(24, 0, 0), timeout: 0 });
  expect(outcome).toMatchObject({ pdu: Uint8Array.of(24, 0, 2, 0, 0) });
});

it('names what it guesses, and why', async () => {
  const { text } = await clone(simulatorOf(bench(METER)));
  expect(text).toContain('description: "guessed: 230.5 looks measured"');
  expect(text).toContain('value: Serial 0815');
  expect(text).toContain('# Unit 1: holding: 68 found');
});

it('takes names and types from a map', async () => {
  const map = 'address,name,type,unit\n40101,voltage,float32,V\n40001,first,uint16,\n40500,nowhere,uint16,\n';
  const { text, again } = await clone(simulatorOf(bench(METER)), {}, map);
  const { points } = again.devices.get('unit-1') ?? {};
  expect([...(points?.named.keys() ?? [])].toSorted()).toEqual(['first', 'voltage']);
  expect(text).toContain('unit: V');
});

it('says what functions that were asked for answered', async () => {
  const { text } = await clone(simulatorOf(bench(METER)), { functions: [20, 65] });
  expect(text).toContain('# Unit 1: function 20, sent without data: exception 3');
  expect(text).toContain('# Unit 1: function 65, sent without data: exception 1');
});

it('is late as its original was', async () => {
  const late = ruleSchema.parse({ name: 'late', do: [{ delay: { ms: 40, jitter: 10 } }] });
  const original = simulatorOf(bench(METER));
  original.faults.rules.set(late);
  const { text } = await clone(original);
  expect(text).toMatch(/delay: \{ms: (39|40|41)/);
});

it('keeps what it knows when it is stopped', async () => {
  const client = clientOf(simulatorOf(bench(METER)));
  let requests = 0;
  const { clone: cloned } = await cloneDevices(
    {
      ask(request) {
        requests++;
        return client.ask(request);
      },
    },
    ORDER,
    undefined,
    { sleep: () => Promise.resolve(), isStopped: () => requests > 40, progress: () => {} },
  );
  const text = writeClone(cloned);
  expect(text).toContain('# Unit 1: not read completely: it was stopped');
  expect(loadNative(text, '.').ok).toBe(true);
});

it('gives up a device whose port is gone, and says so', async () => {
  const { absent, clone: cloned } = await cloneDevices(
    { ask: () => Promise.resolve({ kind: 'failed', reason: '/dev/ttyUSB0: is not there' }) },
    { ...ORDER, units: [1, 2, 3] },
    undefined,
    { sleep: () => Promise.resolve(), isStopped: () => false, progress: () => {} },
  );
  expect(absent).toEqual(['unit 1: /dev/ttyUSB0: is not there']);
  expect(cloned.devices).toEqual([]);
});
