import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { At } from '../../../src/common/schema/at.js';
import { fileFindings } from '../../../src/common/schema/findings.js';
import type { Device } from '../../../src/device/device.js';
import { ruleSchema } from '../../../src/device/faults/rule.js';
import type { Line } from '../../../src/simulator/line.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { filesIn, keep, stateDirectory } from './kept.js';

const METER = {
  registers: {
    coils: [{ address: 0, value: [0, 0], write: true }],
    holding: [
      { address: 0, value: [1, 2, 3], write: true },
      { address: 300, type: 'float32', value: 1.5, write: true },
    ],
    input: [
      { address: 0, name: 'power', value: 60, signal: { ramp: { from: 60, to: 60, over: '1s' } } },
      { address: 1, name: 'energy', type: 'uint32', signal: { counter: { integral: 'power', per: '1s' } } },
    ],
  },
};
const STILL = { registers: { holding: [{ address: 0, value: 7, write: true }] } };
const CONTENT = {
  devices: { meter: METER, other: METER },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'other' } } },
  faults: [{ name: 'slow', when: { unit: 1 }, do: [{ delay: 5 }] }],
};

const device = (simulator: Simulator, name = 'meter') => simulator.devices.get(name) as Device;
const words = (simulator: Simulator, address: number, quantity = 1, name = 'meter') =>
  Array.from(device(simulator, name).tables.holding.readWords(address, quantity));
const set = (simulator: Simulator, address: number, word: number, name = 'meter') =>
  device(simulator, name).tables.holding.window.image.setWord(address, word);
const energy = (simulator: Simulator) => {
  const { points } = device(simulator);
  const point = points.named.get('energy');
  return point && points.valueAtMoment(point, device(simulator).clock.time, device(simulator).clock);
};

/** Changes the files of a state as an editor, or a broken card, would. */
function edit(directory: string, pattern: RegExp, change: (text: string) => string): string {
  const name = filesIn(directory).find((each) => pattern.test(each)) as string;
  const path = join(directory, name);
  // Without its checksum, as version 0.1 has written it: what is inside is looked at all the same.
  writeFileSync(path, change(readFileSync(path, 'utf8').replace(/^\{"sum":"[0-9a-f]{64}",/, '{')));
  return name;
}

describe('after a restart', () => {
  it('a device has the manners that REST has set, also none in place of those of the file', async () => {
    const directory = stateDirectory();
    const content = {
      ...CONTENT,
      devices: { meter: METER, other: { ...METER, manners: { writes: 'single' } } },
    };
    const before = await keep(content, directory);
    const manners = {
      most: { registers: 7, otherwise: 3 },
      connectPause: { for: 1000, otherwise: 'deaf' },
    } as const;
    device(before.simulator).manners = manners;
    device(before.simulator, 'other').manners = undefined;
    await before.keeper.end();
    const after = await keep(content, directory);
    expect(device(after.simulator).manners).toEqual(manners);
    expect(device(after.simulator, 'other').manners).toBeUndefined();
  });

  it('a value that falls back does so after its time, which begins with the restart', async () => {
    const directory = stateDirectory();
    const holding = [
      { address: 0, name: 'current', value: 16, write: true, fallsBack: { after: '60s', to: 6 } },
    ];
    const content = {
      devices: { meter: { registers: { holding }, clock: { paused: true } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    };
    const before = await keep(content, directory);
    device(before.simulator).setClock({}, 3_600_000);
    set(before.simulator, 0, 32);
    await before.keeper.end();
    const { simulator, warnings } = await keep(content, directory);
    expect(words(simulator, 0)).toEqual([32]);
    device(simulator).setClock({}, 59_999);
    expect(words(simulator, 0)).toEqual([32]);
    device(simulator).setClock({}, 1);
    expect(words(simulator, 0)).toEqual([6]);
    expect(warnings).toEqual([]);
  });

  it('values are available, or not, as REST has left them', async () => {
    const directory = stateDirectory();
    const holding = [
      { address: 0, name: 'a', value: 1 },
      { address: 1, name: 'b', value: 2, available: false },
      { address: 2, name: 'c', value: 3, available: false },
    ];
    const content = {
      devices: { meter: { registers: { holding } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    };
    const before = await keep(content, directory);
    const { points } = device(before.simulator);
    for (const point of points.all.slice(0, 2)) points.setAvailable(point, !point.isAvailable);
    expect(words(before.simulator, 0, 3)).toEqual([0xffff, 2, 0xffff]);
    await before.keeper.end();
    const after = await keep(content, directory);
    expect(words(after.simulator, 0, 3)).toEqual([0xffff, 2, 0xffff]);
    expect(after.warnings).toEqual([]);
  });

  it('registers that REST has defined are there with their values, beside all others, in copies made since too', async () => {
    const directory = stateDirectory();
    const define = ({ simulator }: { simulator: Simulator }, name: string, address: number) =>
      simulator.changes.defineRegisters(
        device(simulator, name),
        'holding',
        [{ address, quantity: 2 }],
        address === 800,
      );
    const before = await keep(CONTENT, directory);
    set(before.simulator, 1, 77);
    expect(await before.simulator.changes.createDevice('extra', METER)).toMatchObject({ ok: true });
    for (const name of ['meter', 'extra']) {
      expect(define(before, name, 800)).toBeUndefined();
      expect(define(before, name, 302)).toBeUndefined();
      set(before.simulator, 800, 4711, name);
    }
    const line = before.simulator.lines.get('lan') as Line;
    const units = { 1: 'meter', 2: 'other', 3: { copyOf: 'meter' }, 4: 'extra' };
    expect(await before.simulator.changes.changeLine(line, { units })).toEqual({ ok: true });
    expect(words(before.simulator, 800, 2, 'meter-3')).toEqual([0, 0]);
    set(before.simulator, 801, 4712, 'meter-3');
    await before.keeper.end();
    const { simulator, warnings, restored } = await keep(CONTENT, directory);
    expect(warnings).toEqual([]);
    expect(restored.setAside).toBe(0);
    for (const [name, values] of [
      ['meter', [77, 4711, 0]],
      ['extra', [2, 4711, 0]],
      ['meter-3', [2, 0, 4712]],
    ] as const) {
      const { image } = device(simulator, name).tables.holding.window;
      expect([...words(simulator, 1, 1, name), ...words(simulator, 800, 2, name)]).toEqual(values);
      expect([image.isWritable(801), image.isWritable(302), image.typeAt(304)]).toEqual([
        true,
        false,
        'invalid',
      ]);
    }
  });

  it('a device that has taken the place of one of the file is there with its values, and so are its copies', async () => {
    const directory = stateDirectory();
    const content = {
      ...CONTENT,
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'other', 3: { copyOf: 'other' } } } },
      faults: [],
    };
    const before = await keep(content, directory);
    const { changes } = before.simulator;
    expect(await changes.removeDevice('other', { force: true })).toEqual({ ok: true });
    expect(await changes.createDevice('other', STILL)).toMatchObject({ ok: true });
    const line = before.simulator.lines.get('lan') as Line;
    const units = { 1: 'meter', 2: 'other', 7: { copyOf: 'other' } };
    expect(await changes.changeLine(line, { units })).toEqual({ ok: true });
    set(before.simulator, 0, 4711, 'other');
    set(before.simulator, 0, 4712, 'other-7');
    await before.keeper.end();
    const { simulator, warnings } = await keep(content, directory);
    expect(warnings).toEqual([]);
    expect([...simulator.devices.keys()].sort()).toEqual(['meter', 'other', 'other-7']);
    expect(words(simulator, 0, 1, 'other')).toEqual([4711]);
    expect(words(simulator, 0, 1, 'other-7')).toEqual([4712]);
    expect(device(simulator, 'other').tables.holding.window.size).toBe(1);
  });

  it('a copy that another unit has by its name, and a copy of a copy, are the devices that they were', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    const { changes, lines } = before.simulator;
    const line = lines.get('lan') as Line;
    for (const units of [
      { 1: 'meter', 5: { copyOf: 'meter' } },
      { 1: 'meter', 5: 'meter-5', 6: { copyOf: 'meter-5' } },
      { 1: 'meter', 8: 'meter-5', 9: 'meter-5-6' },
    ])
      expect(await changes.changeLine(line, { units })).toEqual({ ok: true });
    set(before.simulator, 0, 4711, 'meter-5');
    set(before.simulator, 0, 4712, 'meter-5-6');
    await before.keeper.end();
    const { simulator, warnings } = await keep(CONTENT, directory);
    expect(warnings).toEqual([]);
    expect(Object.fromEntries(simulator.lines.get('lan')?.definition.units ?? [])).toEqual({
      1: 'meter',
      8: 'meter-5',
      9: 'meter-5-6',
    });
    expect(words(simulator, 0, 1, 'meter-5')).toEqual([4711]);
    expect(words(simulator, 0, 1, 'meter-5-6')).toEqual([4712]);
    const again = simulator.lines.get('lan') as Line;
    expect(await simulator.changes.changeLine(again, { units: { 1: 'meter' } })).toEqual({ ok: true });
    expect([...simulator.devices.keys()]).toEqual(['meter', 'other']);
  });

  it('no line is stopped, and no rule of a run is in force', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    // What `listener-gone` does for ten seconds, in which the program may be killed.
    await before.simulator.start();
    await before.simulator.lines.get('lan')?.stop();
    const { rules } = before.simulator.faults;
    rules.set(ruleSchema.parse({ name: 'mute', do: { silence: true } }), { temporary: true });
    rules.set(ruleSchema.parse({ name: 'mine', do: { delay: 1 } }));
    await before.keeper.end();
    await before.simulator.stop();
    const { simulator } = await keep(CONTENT, directory);
    await simulator.start();
    expect(simulator.lines.get('lan')?.state.kind).toBe('open');
    expect(simulator.faults.rules.list().map(({ rule }) => rule.name)).toEqual(['slow', 'mine']);
    await simulator.stop();
  });

  it('registers and access flags are as they were, the others as the file has them', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    set(before.simulator, 1, 77);
    set(before.simulator, 300, 0x4020);
    device(before.simulator).tables.holding.window.image.setWritable(2, false);
    await before.keeper.end();
    const { simulator, warnings } = await keep(CONTENT, directory);
    expect(words(simulator, 0, 3)).toEqual([1, 77, 3]);
    expect(words(simulator, 300, 2)).toEqual([0x4020, 0]);
    expect(device(simulator).tables.holding.window.image.isWritable(2)).toBe(false);
    expect(words(simulator, 0, 3, 'other')).toEqual([1, 2, 3]);
    expect(warnings).toEqual([]);
  });

  it('replaced and removed signals stay so, and the clock keeps its speed', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    const { points } = device(before.simulator);
    const [power, sum] = points.all;
    if (!power || !sum) throw new Error('no values');
    const at = new At({ ramp: { from: 7, to: 7, over: 1000 } }, fileFindings());
    expect(before.simulator.changes.signals.change(device(before.simulator), power, at)).toBe(true);
    points.setSignal(sum, undefined);
    before.simulator.devices.get('meter')?.setClock({ speed: 10, paused: true }, 5000);
    await before.keeper.end();
    const { simulator } = await keep(CONTENT, directory);
    const [power2, sum2] = device(simulator).points.all;
    expect(power2?.placedSignal?.definition.written).toEqual({ from: 7, to: 7, over: 1000 });
    expect(sum2?.placedSignal).toBeUndefined();
    expect(device(simulator).clock.settings).toEqual({ speed: 10, paused: true });
    expect(device(simulator).clock.time).toBeGreaterThanOrEqual(5000);
  });

  it('a counter goes on from its sum, and stands while the program does not run', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    device(before.simulator).setClock({ paused: true }, 10_000);
    const sum = energy(before.simulator);
    // The clock ran from the start to its pause.
    expect(sum).toBeGreaterThanOrEqual(600);
    await before.keeper.end();
    const times = { now: 1e12 + 86_400_000, uptime: 0 };
    const { simulator } = await keep(CONTENT, directory, { times });
    expect(energy(simulator)).toBe(sum);
    device(simulator).setClock({}, 1000);
    expect(energy(simulator)).toBeCloseTo((sum ?? 0) + 60, 6);
  });

  it('lines, rules and devices are as REST has left them', async () => {
    const directory = stateDirectory();
    const { simulator, keeper } = await keep(CONTENT, directory);
    const lan = simulator.lines.get('lan');
    if (!lan) throw new Error('no line');
    const units = { 1: 'meter', 2: 'other', 5: { copyOf: 'meter' } };
    expect(await simulator.changes.changeLine(lan, { units, missingUnit: 'silence' })).toEqual({ ok: true });
    expect(
      await simulator.changes.createDevice('extra', { registers: { holding: [{ address: 0, value: 9 }] } }),
    ).toMatchObject({ ok: true });
    expect((await simulator.changes.createLine('more', { tcp: { port: 0 }, units: { 1: 'extra' } })).ok).toBe(
      true,
    );
    set(simulator, 0, 42, 'meter-5');
    set(simulator, 0, 43, 'extra');
    simulator.faults.rules.remove('slow');
    simulator.faults.rules.set(
      ruleSchema.parse({ name: 'mute', when: { line: 'more' }, do: [{ silence: true }] }),
    );
    await keeper.end();

    const after = await keep(CONTENT, directory);
    expect(after.warnings).toEqual([]);
    expect(Array.from(after.simulator.lines.keys())).toEqual(['lan', 'more']);
    expect(after.simulator.lines.get('lan')?.definition).toMatchObject({ missingUnit: 'silence' });
    expect(words(after.simulator, 0, 1, 'meter-5')).toEqual([42]);
    expect(words(after.simulator, 0, 1, 'extra')).toEqual([43]);
    expect(after.simulator.faults.rules.list().map(({ rule }) => rule.name)).toEqual(['mute']);
    expect(Array.from(after.restored.lines)).toEqual(['lan', 'more']);

    await after.simulator.changes.removeLine('more').then(() => after.simulator.faults.rules.remove('mute'));
    await after.simulator.changes.removeLine('more');
    expect(await after.simulator.changes.removeDevice('extra')).toEqual({ ok: true });
    await after.keeper.end();
    const third = await keep(CONTENT, directory);
    expect(Array.from(third.simulator.lines.keys())).toEqual(['lan']);
    expect(third.simulator.devices.has('extra')).toBe(false);
    expect(third.simulator.faults.rules.list()).toEqual([]);
    expect(third.warnings).toEqual([]);
  });

  it('a clock that was killed is never behind', async () => {
    const directory = stateDirectory();
    const times = { now: 1e12, uptime: 0 };
    const before = await keep(CONTENT, directory, { times });
    device(before.simulator).setClock({ speed: 1000 }, 0);
    await before.keeper.end();
    edit(directory, /^clock/, (text) => text.replace('"ended":true', '"ended":false'));
    const was = device(before.simulator).clock.time;
    const soon = await keep(CONTENT, directory, { times: { now: times.now + 2000, uptime: 0 } });
    expect(device(soon.simulator).clock.time).toBeGreaterThanOrEqual(2_000_000);
    expect(device(soon.simulator).clock.time).toBeLessThan(2_000_000 + was + 60_000_000);
    const backwards = await keep(CONTENT, directory, { times: { now: 0, uptime: 0 } });
    expect(device(backwards.simulator).clock.time).toBeGreaterThanOrEqual(60_000_000);
  });
});

describe('when the file was changed meanwhile', () => {
  it('a device that it defines differently is as the file says; the others keep their values', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    set(before.simulator, 0, 10);
    set(before.simulator, 0, 20, 'other');
    await before.keeper.end();
    const meter = { registers: { ...METER.registers, coils: [] } };
    const { simulator, warnings } = await keep(
      { ...CONTENT, devices: { ...CONTENT.devices, meter } },
      directory,
    );
    expect(words(simulator, 0)).toEqual([1]);
    expect(words(simulator, 0, 1, 'other')).toEqual([20]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^state set aside: the file defines it differently now; kept as device-meter-\w+\.json\.unfitting$/,
      ),
    ]);
    expect(filesIn(directory).filter((name) => name.endsWith('.unfitting'))).toHaveLength(1);
  });

  it('a line, a rule or a device that is gone from it is told of', async () => {
    const directory = stateDirectory();
    const { simulator, keeper } = await keep(CONTENT, directory);
    const lan = simulator.lines.get('lan');
    if (!lan) throw new Error('no line');
    await simulator.changes.changeLine(lan, { missingUnit: 'silence' });
    simulator.faults.rules.remove('slow');
    set(simulator, 0, 20, 'other');
    await keeper.end();
    const changed = {
      devices: { meter: METER },
      lines: { lan: { tcp: { port: 0 }, units: { 7: 'meter' } } },
    };
    const after = await keep(changed, directory);
    expect(after.simulator.lines.get('lan')?.definition).toMatchObject({ missingUnit: 'exception' });
    expect(after.warnings).toHaveLength(2);
    expect(after.warnings.join('\n')).toContain('line lan: the file defines it differently now');
    expect(after.warnings.join('\n')).toContain('there is no such device');
  });
});

describe('a file of the state that is', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  it.each<[string, (text: string) => string]>([
    ['cut off', (text) => text.slice(0, text.length / 2)],
    ['empty', () => ''],
    ['binary', () => '\0\u0001\u0002'],
    ['a list', () => '[]'],
    ['nested deeply', () => deep],
    ['nested deeply inside', (text) => text.replace('"signals":[', `"signals":[${deep}`)],
    ['of another version', (text) => text.replace('"format":1', '"format":2')],
    ['with a huge time', (text) => text.replace(/"time":[\d.]+/, '"time":1e300')],
    ['with a negative time', (text) => text.replace(/"time":[\d.]+/, '"time":-1')],
    ['with a page of text', (text) => text.replace(/\[0,"/, '["0","')],
    ['with an unknown key', (text) => text.replace('{', '{"constructor":1,')],
  ])('%s is set aside, and the device is as the file says', async (_, change) => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    set(before.simulator, 0, 10);
    set(before.simulator, 0, 20, 'other');
    await before.keeper.end();
    const name = edit(directory, /^device-meter/, change);
    const after = await keep(CONTENT, directory);
    expect(words(after.simulator, 0)).toEqual([1]);
    expect(words(after.simulator, 0, 1, 'other')).toEqual([20]);
    expect(after.warnings).toHaveLength(1);
    expect(filesIn(directory).filter((each) => each.startsWith(`${name}.damaged-`))).toHaveLength(1);
  });

  it('changed in one character, and still good JSON, is set aside', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    set(before.simulator, 0, 10);
    await before.keeper.end();
    const name = filesIn(directory).find((each) => /^device-meter/.test(each)) ?? '';
    const path = join(directory, name);
    const text = readFileSync(path, 'utf8');
    const changed = text.replace(
      /(\[0,"....)(.)/,
      (_, begin: string, character: string) => begin + (character === 'B' ? 'C' : 'B'),
    );
    expect(changed).not.toBe(text);
    expect(Object.keys(JSON.parse(changed) as object)).toEqual(Object.keys(JSON.parse(text) as object));
    writeFileSync(path, changed);
    const after = await keep(CONTENT, directory);
    expect(words(after.simulator, 0)).toEqual([1]);
    expect(after.warnings).toEqual([expect.stringMatching(/was changed after it was written.*kept as/)]);
  });

  it('for another list of registers restores the pages that fit, and tells of the others', async () => {
    const directory = stateDirectory();
    const before = await keep(CONTENT, directory);
    set(before.simulator, 0, 10);
    await before.keeper.end();
    edit(directory, /^device-meter/, (text) => text.replace('[0,"', '[9999,"'));
    const after = await keep(CONTENT, directory);
    expect(words(after.simulator, 0)).toEqual([1]);
    expect(after.warnings[0]).toContain('pages of registers have the wrong length');
  });

  it('far ahead of its counters does not have them added up for hours', async () => {
    const directory = stateDirectory();
    const noisy = { walk: { step: 1, min: 0, max: 9 } };
    const registers = {
      input: [
        { address: 0, name: 'power', signal: noisy },
        { address: 1, name: 'energy', type: 'uint32', signal: { counter: { integral: 'power' } } },
      ],
    };
    const content = { ...CONTENT, devices: { meter: { registers }, other: METER } };
    const before = await keep(content, directory);
    await before.keeper.end();
    edit(directory, /^device-meter/, (text) => text.replace(/"time":[\d.]+,"speed"/, '"time":9e15,"speed"'));
    const after = await keep(content, directory);
    const start = performance.now();
    expect(energy(after.simulator)).toBeDefined();
    // Adding up would take hours.
    expect(performance.now() - start).toBeLessThan(60_000);
  });

  it("with a line that can't be is set aside; what is right in it is restored", async () => {
    const directory = stateDirectory();
    const { simulator, keeper } = await keep(CONTENT, directory);
    const lan = simulator.lines.get('lan');
    if (!lan) throw new Error('no line');
    await simulator.changes.changeLine(lan, { missingUnit: 'silence' });
    simulator.faults.rules.remove('slow');
    await keeper.end();
    edit(directory, /^bench/, (text) => text.replace('"silence"', '"shout"'));
    const after = await keep(CONTENT, directory);
    expect(after.simulator.faults.rules.list()).toEqual([]);
    expect(after.simulator.lines.get('lan')?.definition).toMatchObject({ missingUnit: 'exception' });
    expect(after.warnings.at(-1)).toMatch(
      /line lan: missingUnit: expected exception or silence.*bench\.json\.unfitting$/,
    );
  });
});
