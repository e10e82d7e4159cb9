import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { At } from '../../src/common/schema/at.js';
import { Findings } from '../../src/common/schema/findings.js';
import type { Device } from '../../src/device/device.js';
import { RegisterImage } from '../../src/device/registers/image.js';
import { checkConfiguration } from '../../src/simulator/commands/configuration.js';
import { newContext } from '../../src/simulator/commands/context.js';
import { addDevice } from '../../src/simulator/commands/devices.js';
import { costOf } from '../../src/simulator/memory-budget.js';
import { deviceReader } from '../../src/simulator/new-device.js';
import { nativeSetup } from '../support/configuration.js';
import { startSimulator } from '../support/simulator.js';

const METER = { registers: { holding: [{ address: 0, value: 1, name: 'voltage' }] } };
const PLANT = {
  devices: { meter: METER },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

afterEach(() => {
  vi.restoreAllMocks();
});

async function plant() {
  const { simulator } = await startSimulator(nativeSetup(PLANT));
  return { simulator, room: newContext(simulator, pino({ level: 'silent' })), changes: simulator.changes };
}

/** Every slice of work is over after one piece of it. */
function onePieceAtATime(): void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ++now);
}

/** How many turns of the event loop are taken while something is done. */
async function turnsOf(done: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await done;
  isOver = true;
  return turns;
}

const entries = (count: number, entry: object = {}) =>
  Array.from({ length: count }, (_, address) => ({ address, name: `n${address}`, ...entry }));

describe('a request that asks for much in few bytes', () => {
  const x = { address: 65_535, name: 'x', write: true };

  it.each([
    ['follow another', { follows: { name: 'x' } }],
    ['make noise', { signal: { noise: { around: 1, amplitude: 1 } } }],
    ['react to writes', { write: true, onWrite: [{ set: { x: 1 } }] }],
    ['have an action', { action: 'random' }],
    ['have a unit', { unit: 'V' }],
  ])('for 65,535 values that %s is refused before anything is made', async (_, entry) => {
    const { room, simulator } = await plant();
    const looks = vi.spyOn(At.prototype, 'key');
    const holding = [{ address: 0, quantity: 65_535, ...entry }, x];
    expect(await addDevice(room, { name: 'q', registers: { holding } })).toMatchObject({
      code: 'request.too_dear',
    });
    expect(looks.mock.calls.length).toBeLessThan(10);
    expect(simulator.devices.has('q')).toBe(false);
  });

  it('for expressions of 5,000 characters in one onWrite is refused before anything is made', async () => {
    const { room } = await plant();
    const looks = vi.spyOn(At.prototype, 'key');
    const onWrite = Array.from({ length: 10 }, () => ({ set: { x: `1${'+t'.repeat(250)}` } }));
    const holding = [{ address: 0, write: true, onWrite }, x];
    expect(await addDevice(room, { name: 'q', registers: { holding } })).toMatchObject({
      code: 'request.too_dear',
      problems: [{ message: expect.stringContaining('expressions of at most 4000 characters in onWrite') }],
    });
    expect(looks.mock.calls.length).toBeLessThan(10);
  });

  it('for ninety changes of a value that ninety others follow is refused', async () => {
    const { room } = await plant();
    const onWrite = Array.from({ length: 90 }, (_, i) => ({ set: { x: i } }));
    const holding = [
      { address: 0, quantity: 90, follows: { name: 'x', after: '1s' } },
      { address: 100, write: true, onWrite },
      x,
    ];
    expect(await addDevice(room, { name: 'q', registers: { holding } })).toMatchObject({
      code: 'device.invalid',
      problems: [{ message: 'one write leads to 8190 changes, expected at most 1000' }],
    });
  });

  it('in one device of a configuration is refused with the name of the device', async () => {
    const { room } = await plant();
    const registers = { holding: [{ address: 0, quantity: 65_535, follows: { name: 'x' } }, x] };
    const configuration = { ...PLANT, devices: { meter: METER, q: { registers } } };
    expect(await checkConfiguration(room, { configuration })).toMatchObject({
      code: 'request.too_dear',
      problems: [{ path: 'devices.q' }],
    });
  });

  it('is counted by what it asks for, and plain registers are not values', () => {
    expect(costOf({ address: 0, quantity: 65_535 }).values).toBe(0);
    expect(
      costOf([
        { address: 0, quantity: 500, scale: 0.1 },
        { address: 600, name: 'a' },
      ]).values,
    ).toBe(501);
    expect(costOf({ address: 0, value: [1, 2, 3], unit: 'V' }).values).toBe(3);
    const one = costOf({ address: 0, quantity: 1, unit: 'V' }).bytes;
    expect(costOf({ address: 0, quantity: 1000, unit: 'V' }).bytes).toBeGreaterThan(one + 900_000);
  });

  it('for 65,536 plain registers is carried out', async () => {
    const { changes } = await plant();
    const added = await changes.createDevice('q', {
      registers: { holding: [{ address: 0, quantity: 65_536 }] },
    });
    expect(added).toMatchObject({ ok: true });
  });
});

it('a file may have 65,535 values that follow one, and they do', async () => {
  const holding = [
    { address: 0, quantity: 65_535, follows: { name: 'x' } },
    { address: 65_535, name: 'x', value: 7 },
  ];
  const { simulator } = await startSimulator(
    nativeSetup({ ...PLANT, devices: { meter: { registers: { holding } } } }),
  );
  const { tables } = simulator.devices.get('meter') as Device;
  expect(tables.holding.readWords(65_533, 2)).toEqual([7, 7]);
});

it('copies of a device share the registers that were defined in it, instead of being defined one by one', async () => {
  const { changes, simulator } = await plant();
  const meter = simulator.devices.get('meter') as Device;
  for (const address of [65_535, 100, 9000])
    changes.defineRegisters(meter, 'holding', [{ address, quantity: 1 }], true);
  const defining = vi.spyOn(RegisterImage.prototype, 'define');
  const before = changes.budget.used;
  const units = { '1-100': { copyOf: 'meter' } };
  expect(await changes.createLine('more', { tcp: { port: 0 }, units })).toMatchObject({ ok: true });
  expect(defining).not.toHaveBeenCalled();
  const copy = simulator.devices.get('meter-100') as Device;
  expect(copy.tables.holding.window.image.layout).toBe(meter.tables.holding.window.image.layout);
  expect(copy.defined).toEqual(meter.defined);
  // Each may be written, and has memory of its own then.
  expect(changes.budget.used - before).toBeGreaterThan(100 * 3 * 65_536);
});

it('a request that defines a thousand registers here and there makes the table anew once', async () => {
  const { changes, simulator } = await plant();
  const meter = simulator.devices.get('meter') as Device;
  const defining = vi.spyOn(RegisterImage.prototype, 'define');
  const ranges = Array.from({ length: 1000 }, (_, i) => ({ address: 100 + 2 * i, quantity: 1 }));
  expect(changes.defineRegisters(meter, 'holding', ranges, true)).toBeUndefined();
  expect(defining).toHaveBeenCalledTimes(1);
  expect(meter.defined).toHaveLength(1000);
});

describe('the lines are served', () => {
  it.each([
    ['a name', {}],
    ['an expression', { signal: { expression: 't + 1' } }],
    ['a limit', { write: true, limits: { max: 5 } }],
  ])('between any two entries of a device that is added, each with %s', async (_, entry) => {
    const { changes } = await plant();
    onePieceAtATime();
    const turns = await turnsOf(changes.createDevice('q', { registers: { holding: entries(500, entry) } }));
    expect(turns).toBeGreaterThan(1000);
  });

  it('between any two points of SunSpec models', async () => {
    const { changes } = await plant();
    onePieceAtATime();
    const added = changes.createDevice('q', { sunspec: [701, 1, 103, 701, 103] });
    expect(await turnsOf(added)).toBeGreaterThan(1400);
    expect(await added).toMatchObject({ ok: true });
  });

  it('between any two names of an expression that are unknown', async () => {
    const { changes } = await plant();
    onePieceAtATime();
    const expression = Array.from({ length: 300 }, (_, i) => `x${i}`).join('+');
    const added = changes.createDevice('q', {
      registers: { holding: [...entries(500), { address: 999, signal: { expression } }] },
    });
    expect(await turnsOf(added)).toBeGreaterThan(1300);
  });

  it('between any two copies of a device that a line gets', async () => {
    const { changes, simulator } = await plant();
    onePieceAtATime();
    const units = { '1-200': { copyOf: 'meter' } };
    expect(await turnsOf(changes.createLine('more', { tcp: { port: 0 }, units }))).toBeGreaterThan(200);
    expect(simulator.devices.has('meter-200')).toBe(true);
  });

  it('between any two lines of a configuration that is checked', async () => {
    const { room } = await plant();
    onePieceAtATime();
    const units = { '1-247': { copyOf: 'meter' } };
    const lines = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`l${i}`, { tcp: { port: 20_000 + i }, units }]),
    );
    let outcome: unknown;
    const checked = checkConfiguration(room, { configuration: { ...PLANT, lines } });
    expect(await turnsOf(checked.then((came) => (outcome = came)))).toBeGreaterThan(120);
    expect(outcome).toMatchObject({ ok: true });
  });

  it('between any two values that are looked at for a circle of signals', async () => {
    const { changes, simulator } = await plant();
    const holding = entries(500, { signal: { expression: 'meter.voltage + 1' } });
    await changes.createDevice('q', { registers: { holding } });
    const device = simulator.devices.get('q') as Device;
    const point = device.points.named.get('n0');
    let pieces = 0;
    const changing = changes.signals.changing(
      device,
      point as NonNullable<typeof point>,
      new At({ expression: 'n1 + 1' }, new Findings()),
    );
    while (!changing.next().done) pieces++;
    expect(pieces).toBeGreaterThan(500);
  });

  it('while a device of a file is read, piece by piece, though one entry stands for all its values', () => {
    const reader = deviceReader(() => ({ ok: false, error: 'no recordings here' }));
    const written = { registers: { holding: [{ address: 0, quantity: 65_535, unit: 'V' }] } };
    const reading = reader.reading('q', new At(written, new Findings()));
    let pieces = 0;
    for (let next = reading.next(); !next.done; next = reading.next()) pieces++;
    expect(pieces).toBeGreaterThan(1000);
  });
});

describe('while a device is made, others see none of it, and', () => {
  const SLOW = { registers: { holding: entries(100) } };

  it('nobody else gets its name', async () => {
    const { changes, simulator } = await plant();
    onePieceAtATime();
    const first = changes.createDevice('q', SLOW);
    expect(simulator.devices.has('q')).toBe(false);
    const second = changes.createDevice('q', SLOW);
    const came = await Promise.all([first, second]);
    expect(came.filter(({ ok }) => ok)).toHaveLength(1);
    expect(came).toContainEqual(expect.objectContaining({ code: 'device.name_taken' }));
  });

  it('a device that it needs may go: it is refused, and nothing is left of it', async () => {
    const { changes, simulator } = await plant();
    await changes.createDevice('other', METER);
    onePieceAtATime();
    const holding = entries(100, { signal: { expression: 'other.voltage * 2' } });
    const made = changes.createDevice('q', { registers: { holding } });
    expect(await changes.removeDevice('other')).toEqual({ ok: true });
    expect(await made).toMatchObject({ ok: false, error: { listed: { length: 20 } } });
    expect(simulator.devices.has('q')).toBe(false);
  });

  it('a device that a line is to have copies of stays', async () => {
    const { changes, simulator } = await plant();
    await changes.createDevice('other', METER);
    const lan = simulator.lines.get('lan') as NonNullable<ReturnType<typeof simulator.lines.get>>;
    onePieceAtATime();
    const changed = changes.changeLine(lan, { units: { '1-99': { copyOf: 'other' } } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await changes.removeDevice('other')).toMatchObject({ ok: false, code: 'device.in_use' });
    expect(await changed).toMatchObject({ ok: true });
    expect(simulator.devices.size).toBe(2 + 99);
  });
});
