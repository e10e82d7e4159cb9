import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { isMapping } from '../../../src/common/schema/parts.js';
import type { Device } from '../../../src/device/device.js';
import { loadNative } from '../../../src/files/config/load.js';
import { lineSource } from '../../../src/files/config/native/line-source.js';
import { parseText } from '../../../src/files/config/text/parse-text.js';
import { COMMANDS } from '../../../src/remote/rpc/declared.js';
import { carryOut } from '../../../src/remote/rpc/line-end.js';
import type { CallName } from '../../../src/remote/rpc/rpc.js';
import { ruleSource, whyUnusable } from '../../../src/simulator/as-file/written-configuration.js';
import { inputSchema, meantBy } from '../../../src/simulator/commands/declared.js';
import { unservedDevices, unservedUnits } from '../../../src/simulator/commands/faults.js';
import { configuration } from '../../../src/simulator/commands/program.js';
import type { RegisterView } from '../../../src/simulator/commands/schemas/value.js';
import { listValues } from '../../../src/simulator/commands/values.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { hasSignals } from '../../../src/simulator/state/device-state.js';
import { newTestContext } from '../../../src/testing/commands.js';
import { tries } from '../../support/tries.js';
import { keep, stateDirectory } from './kept.js';

/*
 * Whatever is changed, in whatever order: what runs can be written into a file that makes it again, and is what it was after a
 * restart. Commands go as through `rpc`, with the checks of REST and MQTT, and nothing moves but by `wait`.
 */

const METER = {
  clock: { speed: 1 },
  seed: 7,
  registers: {
    coils: [
      { address: 0, name: 'relay', labels: { 0: 'off', 1: 'on' }, write: true },
      { address: 4, quantity: 3, write: true },
    ],
    holding: [
      { address: 0, name: 'voltage', unit: 'V', scale: 0.1, value: 2301, write: true },
      { address: 1, name: 'limit', type: 'float32', value: 5, write: true },
      { address: 3, value: [1, 2, 3], write: true },
      { address: 6, type: 'string', name: 'text', value: 'ab', length: 2, write: true },
      { address: 8, name: 'setpoint', value: 4, write: true, limits: { min: 0, max: 99 } },
      { address: 10, name: 'waits', value: 4, write: true, available: 'whenWritten' },
      { address: 9, type: 'uint16', name: 'away', value: 5, unavailable: [{ from: '1h', for: '1m' }] },
    ],
    input: [
      { address: 0, name: 'level', type: 'int16', signal: { ramp: { from: 0, to: 100, over: '10s' } } },
      { address: 1, name: 'total', type: 'uint32', signal: { counter: { perSecond: 10 } }, retain: true },
      {
        address: 3,
        name: 'energy',
        type: 'float32',
        signal: { counter: { integral: 'voltage', per: '1h' } },
      },
      { address: 5, quantity: 2, signal: { expression: 'level * 2' } },
      { address: 7, name: 'noise', signal: { noise: { around: 50, amplitude: 3 } } },
    ],
  },
};
const PLAIN = { registers: { holding: [{ address: 0, value: [7, 8], write: true }] } };
const START = {
  devices: {
    meter: METER,
    other: { ...PLAIN, manners: { holes: 'shift' } },
    spare: PLAIN,
  },
  lines: {
    lan: { tcp: { port: 15020 }, units: { 1: 'meter', 2: 'other', 9: { copyOf: 'other' } } },
    many: {
      tcp: { port: 15021, hosts: '127.1.0.1-127.1.0.2' },
      units: { 1: 'meter' },
      each: { copyOf: 'meter' },
    },
  },
  faults: [
    { name: 'slow', seed: 1, when: { line: 'lan', from: '1m' }, do: [{ delay: { ms: 5, jitter: 1 } }] },
    { name: 'named', seed: 2, when: { name: 'meter.voltage' }, do: [{ exception: 4 }] },
  ],
  state: 'keep',
} as const;

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

interface Command {
  readonly name: CallName;
  readonly input: object;
}

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
/** Where there are registers, whatever was defined: to look at all the others takes most of the time. */
const USED = [
  { from: 0, to: 400 },
  { from: 40_000, to: 40_100 },
  { from: 65_500, to: 65_535 },
];
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
  pick<Step>({ name: 'wait', ms: 1 }, { name: 'wait', ms: 5000 }, { name: 'wait', ms: 3_600_000 }),
  fc.constant<Step>({ name: 'restart' }),
  fc.constant<Step>({ name: 'apply what runs' }),
);

const log = pino({ level: 'silent' });

function room(simulator: Simulator) {
  return newTestContext(simulator, log);
}

/** Does what REST does with a request: what does not fit the schema is refused. */
async function request(simulator: Simulator, { name, input }: Command): Promise<void> {
  const declared = COMMANDS[name];
  const read = inputSchema(declared).safeParse(structuredClone(input));
  if (!read.success) return;
  const meant = await meantBy(declared, read.data as object);
  if (!meant.ok) return;
  const came = await carryOut(room(simulator), name, meant.value);
  // JSON has no other numbers.
  JSON.stringify(came, (_, each) => {
    if (typeof each === 'number') expect(each).toSatisfy(Number.isFinite);
    return each;
  });
}

/** What a simulator serves, without what a file does not say, or what begins anew with it. */
function asWritten(simulator: Simulator) {
  return serves(simulator, ({ device, view, signal: placed, isMoving }) => {
    // A counter goes on from what it has.
    const { written } = placed;
    const signal = { ...placed, written: isMapping(written) ? { ...written, from: undefined } : written };
    const { name, raw, unit, type, table, address, registers, writable, description, action } = view;
    const point = device.points.at(
      device.tables[table].window.image,
      device.tables[table].window.base + address,
    );
    return {
      ...{ name, unit, type, table, address, registers, writable, description, action, signal },
      isSwitchedOn: point?.isSwitchedOn,
      // Bytes that are no text have a question mark in the file, and a comment that says so.
      ...(!isMoving && { raw: typeof raw === 'string' ? raw.replaceAll('\uFFFD', '?') : raw }),
    };
  });
}

/** All that there is. */
function asIs(simulator: Simulator) {
  return {
    ...serves(simulator, ({ view, signal }) => {
      const { reads, writes, lastWriter, saturated, ...rest } = view;
      return { ...rest, signal };
    }),
    // Where nobody has changed anything and nothing moves, nobody sees that the clock begins anew.
    clocks: byName(simulator.devices.values(), (device) =>
      device.changes > 0 || hasSignals(device) ? device.clock.time : 0,
    ),
    defined: byName(simulator.devices.values(), ({ defined }) => defined),
  };
}

interface Seen {
  readonly device: Device;
  readonly view: RegisterView;
  readonly signal: {
    readonly kind: string | undefined;
    readonly written: unknown;
    readonly seed: number | undefined;
  };
  readonly isMoving: boolean;
}

function serves(simulator: Simulator, see: (seen: Seen) => object) {
  const { devices, lines, faults } = simulator;
  return {
    devices: byName(devices.values(), (device) => {
      const registers = USED.flatMap((range) => {
        const listed = listValues(room(simulator), { device: device.name, ...range });
        if (listed instanceof Promise || !listed.ok)
          throw new Error(`device ${device.name} has too many values`);
        return [...listed.value];
      }).flatMap((view) => {
        if (!view) return [];
        const { image, base } = device.tables[view.table].window;
        const point = device.points.at(image, base + view.address);
        const { placedSignal, signal: running } = point ?? {};
        const isMoving = running !== undefined && running.accumulator === undefined;
        const { kind, written } = placedSignal?.definition ?? {};
        const signal = { kind, written, seed: placedSignal?.seed };
        return [see({ device, view, signal, isMoving })];
      });
      return { registers, manners: device.manners, clock: device.clock.settings };
    }),
    lines: byName(lines.values(), ({ definition }) => lineSource(definition)),
    // Those for lines and values that are gone come back with nobody.
    rules: faults.rules
      .list()
      .filter((rule) => whyUnusable(rule, simulator.faultLines, simulator.findValue) === undefined)
      .map(ruleSource),
  };
}

function byName<Each extends { readonly name: string }>(all: Iterable<Each>, see: (each: Each) => unknown) {
  return Object.fromEntries(Array.from(all, (each): [string, unknown] => [each.name, see(each)]).sort());
}

const written = (simulator: Simulator) => [...configuration(room(simulator))].join('');

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
