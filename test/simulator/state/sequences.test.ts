import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { parseText } from '../../../src/document/text/parse-text.js';
import type { CallName } from '../../../src/remote/rpc/rpc.js';
import { unservedDevices, unservedUnits } from '../../../src/simulator/commands/faults.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { tries } from '../../support/tries.js';
import { keep, stateDirectory } from './kept.js';
import { asIs, asWritten, type Command, log, METER, PLAIN, request, START, written } from './plant.js';

/*
 * Whatever is changed, in whatever order: what runs can be written into a file that makes it again, and is what it was after a
 * restart. Commands go as through `rpc`, with the checks of REST and MQTT, and nothing moves but by `wait`.
 */

const DEVICES = ['meter', 'other', 'spare', 'extra', 'other-9', 'meter-5', 'meter@127.1.0.1', 'a b'];
const NAMES = [
  'voltage',
  'limit',
  'text',
  'setpoint',
  'waits',
  'away',
  'level',
  'total',
  'energy',
  'noise',
  'relay',
];
const SIGNALS = [
  { ramp: { from: 1, to: 2, over: '1s' } },
  { counter: { perSecond: 3 } },
  { counter: { integral: 'voltage', per: '1s' } },
  { expression: 'voltage / 2' },
  { square: { period: '2s', amplitude: 3, offset: 230 } },
  { hold: 5 },
];
const SOURCES = [
  PLAIN,
  METER,
  { registers: {} },
  { registers: { input: [{ address: 0, name: 'double', signal: { expression: 'meter.voltage * 2' } }] } },
  { ...PLAIN, like: 'few-registers', clock: { speed: 10 } },
  { ...PLAIN, like: 'gap-in-frame' },
  { identity: { vendorName: 'A: "b"', extended: { 128: 'x' } }, ...PLAIN, manners: { holes: 'shift' } },
  { sunspec: [1] },
  { queues: { 7: [1, 2] }, files: { 3: { records: 5, write: true, values: [1, 2] } }, ...PLAIN },
];
const RULES = [
  { do: [{ silence: true }] },
  { when: { line: 'lan' }, do: [{ delay: 5 }] },
  { when: { line: 'new' }, do: [{ exception: 4 }] },
  { when: { name: 'meter.limit' }, schedule: [{ for: '1s', every: '5s' }], do: [{ exception: 2 }], seed: 3 },
  { when: { unit: [1, [3, 5]] }, enabled: false, do: [{ delay: { ms: 1, jitter: 1 } }] },
];
const CONFIGURATIONS = [
  { devices: START.devices, lines: START.lines, faults: START.faults },
  { devices: { meter: METER }, lines: { lan: { tcp: { port: 15020 }, units: { 1: 'meter' } } } },
  {
    devices: { other: PLAIN, meter: { ...METER, seed: 8 } },
    lines: {
      lan: {
        tcp: { port: 15020 },
        units: { 1: 'other', '5-6': { copyOf: 'other' }, 9: { copyOf: 'meter' } },
      },
      new: { udp: { port: 15022 }, units: { 1: 'meter' } },
    },
    faults: [{ name: 'named', when: { line: 'new' }, do: [{ delay: 1 }] }],
  },
];

type Step =
  | Command
  | { readonly name: 'wait'; readonly ms: number }
  | { readonly name: 'restart' }
  | { readonly name: 'apply what runs' };

const pick = <T>(...all: readonly T[]) => fc.constantFrom(...all);
const device = fc.oneof({ weight: 3, arbitrary: fc.constant('meter') }, pick(...DEVICES));
const newcomer = pick('extra', 'extra', 'a b', 'other', 'spare', 'meter', 'other-9', 'meter@127.1.0.1');
const line = pick('lan', 'lan', 'many', 'new');
const rule = pick('slow', 'named', 'mine', 'few-registers', 'gap-in-frame');
const table = pick('coils', 'discrete', 'input', 'holding', 'holding');
const address = fc.oneof(fc.nat(12), pick(300, 65_535));
const word = pick(0, 1, 7, 0xffff);
const value = pick<unknown>(0, 1, -1, 5.5, 231.5, 99, '3', 'on', 'xyz', 1e9, '.nan', '-0', true);
const unit = pick<unknown>(
  ...DEVICES,
  { copyOf: 'meter' },
  { copyOf: 'other' },
  { copyOf: 'extra' },
  { copyOf: 'other-9' },
);
const units = fc.dictionary(pick('0', '1', '2', '5', '9', '20-21'), unit, { minKeys: 1, maxKeys: 3 });
const settings = fc.oneof(
  fc.record({ units }),
  pick<object>(
    { missingUnit: 'silence' },
    { missingUnit: null },
    { framing: 'rtu' },
    { start: 'waiting' },
    { tcp: { maxClients: 3 } },
    { tcp: { hosts: '127.1.0.1-127.1.0.3' } },
    { each: null },
    { each: { copyOf: 'meter' } },
    { udp: { port: 15_023 } },
    { serial: { path: 'virtual' } },
  ),
);

function command(name: CallName, input: fc.Arbitrary<object>): fc.Arbitrary<Command> {
  return input.map((input) => ({ name, input }));
}

const step: fc.Arbitrary<Step> = fc.oneof(
  command(
    'device.add',
    fc.tuple(newcomer, pick<object>(...SOURCES)).map(([name, source]) => ({ name, ...source })),
  ),
  command('device.remove', fc.record({ device: newcomer, force: fc.constant(true) })),
  command(
    'device.power',
    fc.record(
      { device, state: pick('on', 'off', 'cycle'), forMs: pick(100, 5000), bootMs: pick(0, 1000) },
      { requiredKeys: ['device', 'state'] },
    ),
  ),
  command(
    'device.clock',
    fc.record(
      {
        device,
        speed: pick(0, 1, 60, 100_000),
        pause: fc.boolean(),
        step: pick<unknown>(0, 5000, '1h', '3650d'),
      },
      { requiredKeys: ['device'] },
    ),
  ),
  command(
    'device.manners',
    fc.record({ device, manners: pick<object>({}, { holes: 'shift' }, { most: { registers: 7 } }) }),
  ),
  command('device.reset', fc.record({ device })),
  command(
    'value.set',
    fc.record(
      { device, name: pick(...NAMES), value, available: fc.boolean() },
      { requiredKeys: ['device', 'name'] },
    ),
  ),
  command(
    'value.change',
    fc.record({
      device,
      changes: fc.array(
        fc.oneof(
          fc.record({ table, address, value }),
          fc.record({ table, address, words: fc.array(word, { minLength: 1, maxLength: 3 }) }),
        ),
        { maxLength: 2 },
      ),
    }),
  ),
  command(
    'value.define',
    fc.record({ device, table, address, quantity: fc.integer({ min: 1, max: 12 }), write: fc.boolean() }),
  ),
  command('signal.set', fc.record({ device, value: pick(...NAMES), signal: pick<object>(...SIGNALS) })),
  command('signal.remove', fc.record({ device, value: pick(...NAMES) })),
  command(
    'cells.set',
    fc.record(
      {
        device,
        table,
        from: fc.constant(0),
        to: fc.constant(5),
        register: fc.nat(5),
        value: word,
        writable: fc.boolean(),
      },
      { requiredKeys: ['device', 'table', 'from', 'to', 'register', 'writable'] },
    ),
  ),
  command(
    'line.add',
    fc
      .record({
        name: pick('new', 'new', 'lan'),
        units,
        transport: pick<object>(
          { tcp: { port: 15_020 } },
          { udp: { port: 15_022 } },
          { serial: { path: 'virtual' } },
        ),
      })
      .map(({ transport, ...rest }) => ({ ...rest, ...transport })),
  ),
  command('line.change', fc.record({ line, settings })),
  command('line.remove', fc.record({ line })),
  command(
    'rule.add',
    fc.tuple(rule, pick<object>(...RULES)).map(([name, each]) => ({ rule: { name, ...each } })),
  ),
  command(
    'rule.replace',
    fc.tuple(rule, pick<object>(...RULES)).map(([name, each]) => ({ rule: { name, ...each } })),
  ),
  command('rule.switch', fc.record({ name: rule, enabled: fc.boolean() })),
  command('rule.remove', fc.record({ name: rule })),
  command('rule.reset', fc.constant({})),
  command(
    'misbehaviour.arm',
    fc.record({ id: pick('few-registers', 'gap-in-frame'), target: fc.record({ device }) }),
  ),
  command('misbehaviour.disarm', fc.record({ id: pick('few-registers', 'gap-in-frame') })),
  command('configuration.apply', fc.record({ configuration: pick<object>(...CONFIGURATIONS) })),
  command('configuration.undo', fc.constant({})),
  pick<Step>({ name: 'wait', ms: 1 }, { name: 'wait', ms: 5000 }, { name: 'wait', ms: 3_600_000 }),
  fc.constant<Step>({ name: 'restart' }),
  fc.constant<Step>({ name: 'apply what runs' }),
);

/** The file that `GET /api/v1/configuration` gives is taken by `check`, and makes what runs. */
function expectFileMakesIt(simulator: Simulator): void {
  const text = written(simulator);
  const loaded = loadNative(text, simulator.directory);
  if (!loaded.ok) throw new Error(`${JSON.stringify(loaded.problems)}\n${text}`);
  const again = new Simulator(loaded.configuration, log);
  const [now, then] = [asWritten(simulator), asWritten(again)];
  expect(then, text).toEqual(now);
}

/** What has been said of rules when they came: that no line serves what they are for. */
function warnedOf({ faults, lines }: Simulator): ReadonlySet<string> {
  const all = [...lines.values()];
  const rules = faults.rules.list().map(({ rule }) => rule);
  return new Set(rules.flatMap((rule) => [...unservedUnits(rule, all), ...unservedDevices(rule, all)]));
}

/** A property over sequences; the clock of the machine stands still but for `wait`. */
async function play(steps: readonly Step[]): Promise<void> {
  const times = { now: 1e12, uptime: 0 };
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => times.uptime);
  try {
    const directory = stateDirectory();
    let kept = await keep(START, directory, { times });
    const restart = async () => {
      const before = asIs(kept.simulator);
      const known = warnedOf(kept.simulator);
      await kept.keeper.end();
      kept = await keep(START, directory, { times });
      expect(kept.warnings.filter((warning) => !known.has(warning))).toEqual([]);
      expect(asIs(kept.simulator)).toEqual(before);
    };
    for (const step of steps) {
      if (step.name === 'restart') await restart();
      else if (step.name === 'apply what runs') {
        const parsed = parseText(written(kept.simulator));
        if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
        const { api, state, ...sections } = parsed.source.value as Record<string, unknown>;
        const before = asWritten(kept.simulator);
        await request(kept.simulator, { name: 'configuration.apply', input: { configuration: sections } });
        expect(asWritten(kept.simulator)).toEqual(before);
      } else if ('ms' in step) {
        times.uptime += step.ms;
        times.now += step.ms;
      } else await request(kept.simulator, step);
    }
    expectFileMakesIt(kept.simulator);
    await restart();
    await kept.keeper.end();
  } finally {
    spy.mockRestore();
  }
}

describe('after any sequence of changes', () => {
  it('the configuration that is written makes what runs, and a restart with its state has it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 16, size: 'max' }), (steps) => play(steps)),
      { numRuns: tries(400) },
    );
  }, 1_200_000);

  it.each<[string, readonly Step[]]>([
    [
      'rules for a device that no line serves any more',
      [
        { name: 'line.change', input: { line: 'lan', settings: { units: { 0: 'spare' } } } },
        { name: 'misbehaviour.arm', input: { id: 'gap-in-frame', target: { device: 'meter' } } },
        { name: 'restart' },
      ],
    ],
    [
      'entries with numbers that JSON has not',
      [
        { name: 'value.set', input: { device: 'meter', name: 'limit', value: '.nan' } },
        { name: 'apply what runs' },
      ],
    ],
    [
      'values whose signal was taken away while they were as the file has them',
      [
        {
          name: 'signal.set',
          input: { device: 'meter', value: 'noise', signal: { counter: { perSecond: 3 } } },
        },
        { name: 'signal.remove', input: { device: 'meter', value: 'noise' } },
      ],
    ],
    [
      'counters into which somebody has written what is no number',
      [
        { name: 'wait', ms: 3_600_000 },
        { name: 'value.set', input: { device: 'meter', name: 'energy', value: '.nan' } },
      ],
    ],
    [
      'counters that add up a counter',
      [
        {
          name: 'signal.set',
          input: { device: 'meter', value: 'voltage', signal: { counter: { perSecond: 3 } } },
        },
        { name: 'wait', ms: 1 },
      ],
    ],
    [
      'counters beyond what their registers hold',
      [
        { name: 'device.clock', input: { device: 'meter', step: '1h' } },
        {
          name: 'signal.set',
          input: { device: 'meter', value: 'voltage', signal: { counter: { perSecond: 3 } } },
        },
        { name: 'apply what runs' },
      ],
    ],
    [
      'values with a signal that clients may write since',
      [
        {
          name: 'cells.set',
          input: { device: 'meter', table: 'input', from: 0, to: 9, register: 0, writable: true },
        },
        {
          name: 'cells.set',
          input: { device: 'meter', table: 'input', from: 0, to: 9, register: 6, writable: true },
        },
      ],
    ],
    [
      'copies that were written as devices of their own, and what they were copies of after them',
      [
        { name: 'wait', ms: 1 },
        { name: 'apply what runs' },
        { name: 'device.reset', input: { device: 'meter' } },
        { name: 'apply what runs' },
      ],
    ],
    [
      'settings of -0, which JSON has',
      [
        { name: 'device.clock', input: { device: 'meter', speed: -0 } },
        { name: 'value.define', input: { device: 'meter', table: 'discrete', address: -0 } },
        {
          name: 'device.add',
          input: { name: 'extra', registers: { holding: [{ address: -0, type: 'float32', value: -0 }] } },
        },
        { name: 'line.change', input: { line: 'lan', settings: { tcp: { port: -0 } } } },
      ],
    ],
    [
      'lines of which the second was to have the port of the first',
      ['lan', 'many'].map((line) => ({
        name: 'line.change',
        input: { line, settings: { udp: { port: 15_023 }, each: null } },
      })),
    ],
    [
      'lines that have exchanged their addresses',
      [
        { name: 'line.change', input: { line: 'lan', settings: { tcp: { port: 15_022 } } } },
        {
          name: 'line.change',
          input: { line: 'many', settings: { tcp: { port: 15_020, hosts: null }, each: null } },
        },
        {
          name: 'line.change',
          input: {
            line: 'lan',
            settings: { tcp: { port: 15_021, host: null, hosts: '127.1.0.1-127.1.0.2' } },
          },
        },
      ],
    ],
  ])('so are %s', (_, steps) => play(steps));
});
