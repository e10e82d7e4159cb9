import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { At } from '../../../src/common/schema/at.js';
import { Findings } from '../../../src/common/schema/findings.js';
import type { Device } from '../../../src/device/device.js';
import type { Point } from '../../../src/device/point.js';
import type { Configuration } from '../../../src/document/configuration.js';
import { lineSettings } from '../../../src/document/native/line-source.js';
import { ownersContext } from '../../../src/simulator/commands/context.js';
import { reload } from '../../../src/simulator/state/reconcile.js';
import { freePort } from '../../remote/api/masters.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator } from '../../support/simulator.js';

const PLANT = {
  devices: {
    meter: { registers: { holding: [{ address: 0, value: [1, 2, 3], write: true }] } },
    pump: { registers: { coils: [{ address: 0, value: [1] }] } },
  },
  lines: {
    bench: { serial: { path: 'virtual', baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } },
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
  },
  faults: [{ name: 'slow', seed: 1, when: { unit: 1 }, do: [{ delay: 5 }] }],
};

const loaded = (content: object) => nativeSetup(content);

async function start() {
  const { simulator } = await startSimulator(nativeSetup(PLANT));
  const line = (name: string) => {
    const found = simulator.lines.get(name);
    if (!found) throw new Error(`no line ${name}`);
    return found;
  };
  let current = nativeSetup(PLANT);
  const again = async (result: Configuration) => {
    const { configuration, atRestart, ...told } = await reload(
      ownersContext(simulator, pino({ level: 'silent' })),
      current,
      result,
    );
    current = configuration;
    return { ...told, ...(atRestart.length > 0 && { atRestart }) };
  };
  return { simulator, line, again };
}

const changed = (lines: object, more: object = {}) => ({
  ...PLANT,
  ...more,
  lines: { ...PLANT.lines, ...lines },
});

describe('a configuration that is read again', () => {
  it('changes nothing when nothing has changed', async () => {
    const { again } = await start();
    expect(await again(loaded(PLANT))).toEqual({ done: [], refused: [] });
  });

  it('changes the settings and units of a line, and takes away what is not there any more', async () => {
    const { line, again } = await start();
    const bench = (serial: object, more: object) => ({
      bench: { serial: { path: 'virtual', baudRate: 9600, parity: 'none', ...serial }, ...more },
    });
    const paced = bench({ pacing: { chunk: 8 } }, { units: { 2: 'pump' }, timing: { gap: 50 } });
    expect(await again(loaded(changed(paced)))).toEqual({ done: ['line bench'], refused: [] });
    expect(line('bench').definition).toMatchObject({ pacing: { chunk: 8 }, timing: { gap: 50 } });
    expect(await again(loaded(PLANT))).toEqual({ done: ['line bench'], refused: [] });
    expect(line('bench').definition).toEqual(nativeSetup(PLANT).lines[0]);
  });

  it('makes another kind of line of one', async () => {
    const { line, again } = await start();
    const udp = { lan: { udp: { port: 0 }, units: { 1: 'meter' } } };
    expect(await again(loaded(changed(udp)))).toEqual({ done: ['line lan'], refused: [] });
    expect(lineSettings(line('lan').definition)).toHaveProperty('udp');
    expect(line('lan').state.kind).toBe('open');
  });

  it('leaves alone what was changed over REST and stands in the file as before', async () => {
    const { simulator, line, again } = await start();
    await simulator.changes.changeLine(line('bench'), { serial: { baudRate: 19200 } });
    const lan = { lan: { tcp: { port: 0, maxClients: 3 }, units: { 1: 'meter' } } };
    expect(await again(loaded(changed(lan)))).toEqual({ done: ['line lan'], refused: [] });
    expect(line('bench').definition).toMatchObject({ baudRate: 19200 });
  });

  it('sets new and different fault rules, removes those that are gone, and keeps the counts of the others', async () => {
    const { simulator, line, again } = await start();
    const { rules } = simulator.faults;
    const facts = { line: line('lan').bus.line, unitId: 1, device: 'meter', functionCode: 3, ranges: [] };
    const mute = { name: 'mute', when: { unit: 9 }, do: [{ silence: true }] };
    expect(await again(loaded({ ...PLANT, faults: [...PLANT.faults, mute] }))).toEqual({
      done: ['fault rule mute'],
      refused: [],
    });
    expect(rules.list().map(({ rule }) => rule.name)).toEqual(['slow', 'mute']);
    rules.match(facts);
    expect(rules.get('slow')?.matches).toBe(1);
    await again(loaded(PLANT));
    expect(rules.has('mute')).toBe(false);
    expect(rules.get('slow')?.matches).toBe(1);
    simulator.faults.reset(simulator.findValue);
    expect(rules.list().map(({ rule }) => rule.name)).toEqual(['slow']);
  });

  it('says what it would change, and changes nothing, when that is all that is asked', async () => {
    const { simulator, line, again } = await start();
    const more = { more: { tcp: { port: 0 }, units: { 1: 'pump' } } };
    const context = ownersContext(simulator, pino({ level: 'silent' }));
    const wanted = loaded({ ...changed(more), faults: [] });
    const { done } = await reload(context, nativeSetup(PLANT), wanted, { preview: true });
    expect(done).toEqual(['line more', 'fault rule slow']);
    expect([...simulator.lines.keys()]).toEqual(['bench', 'lan']);
    expect(simulator.faults.rules.has('slow')).toBe(true);
    expect(line('bench').state.kind).toBe('open');
    expect((await again(wanted)).done).toEqual(done);
  });

  it('leaves a line as it was whose port refuses, and tries again at the next reading', async () => {
    const { line, again } = await start();
    const missing = { bench: { serial: { path: '/dev/ttyNowhere' }, units: { 1: 'meter' } } };
    for (let turn = 0; turn < 2; turn++) {
      const { done, refused } = await again(loaded(changed(missing)));
      expect({ done, refused }).toEqual({
        done: [],
        refused: [expect.stringMatching(/^line bench: \/dev\/ttyNowhere: does not exist/)],
      });
    }
    expect(line('bench').state.kind).toBe('open');
  });

  it('lets lines swap their ports, and serves each at its new one', async () => {
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const at = (lan: number, plant: number, more: object = {}) => ({
      devices: PLANT.devices,
      lines: {
        lan: { tcp: { port: lan }, units: { 1: 'meter' } },
        plant: { tcp: { port: plant, ...more }, units: { 1: 'pump' } },
      },
    });
    const file = nativeSetup(at(ports[0], ports[1]));
    const { simulator } = await startSimulator(nativeSetup(at(ports[0], ports[1])));
    const room = ownersContext(simulator, pino({ level: 'silent' }));
    const swapped = await reload(room, file, loaded(at(ports[1], ports[0])));
    expect(swapped).toMatchObject({ done: ['line lan', 'line plant'], refused: [] });
    const state = (name: string) => simulator.lines.get(name)?.state;
    expect(state('lan')).toMatchObject({ kind: 'open', port: ports[1] });
    expect(state('plant')).toMatchObject({ kind: 'open', port: ports[0] });
    const busy = await reload(
      room,
      swapped.configuration,
      loaded(at(ports[0], ports[2], { host: '192.0.2.1' })),
    );
    const reason = `Cannot listen on 192.0.2.1:${ports[2]}: this machine has no such address (EADDRNOTAVAIL).`;
    expect(busy).toMatchObject({
      done: [],
      refused: [`line lan: line plant: ${reason}`, `line plant: ${reason}`],
    });
    expect(state('lan')).toMatchObject({ kind: 'open', port: ports[1] });
    expect(state('plant')).toMatchObject({ kind: 'open', port: ports[0] });
  });

  it('lets serial lines swap their links', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-swap-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const [a, b] = [join(directory, 'a'), join(directory, 'b')];
    const line = (link: string) => ({ serial: { path: 'virtual', link }, units: { 1: 'meter' } });
    const file = { devices: PLANT.devices, lines: { first: line(a), second: line(b) } };
    const { simulator } = await startSimulator(nativeSetup(file));
    const room = ownersContext(simulator, pino({ level: 'silent' }));
    const swapped = { ...file, lines: { first: line(b), second: line(a) } };
    expect(await reload(room, nativeSetup(file), loaded(swapped))).toMatchObject({
      done: ['line first', 'line second'],
      refused: [],
    });
    const state = simulator.lines.get('first')?.state;
    expect(state).toMatchObject({ kind: 'open', endpoint: realpathSync(b) });
    expect(realpathSync(a)).not.toBe(realpathSync(b));
  });

  it('says each time what only a restart changes: the REST interface', async () => {
    const { again } = await start();
    const other = { ...PLANT, api: { port: 1 } };
    for (let turn = 0; turn < 2; turn++)
      expect(await again(loaded(other))).toEqual({ done: [], refused: [], atRestart: ['api'] });
  });

  it('gives a device that is different what it has become meanwhile, where the file begins with the same', async () => {
    const { simulator, line, again } = await start();
    const holding = () => simulator.devices.get('meter')?.tables.holding;
    holding()?.window.image.setWords(0, [11, 12]);
    const before = simulator.devices.get('meter');
    const open = line('lan').openSince;
    const meter = {
      registers: {
        holding: [
          { address: 0, value: [1, 22, 3], write: true },
          { address: 10, type: 'float32', value: 1.5 },
        ],
      },
    };
    const other = { ...PLANT, devices: { ...PLANT.devices, meter } };
    expect(await again(loaded(other))).toEqual({ done: ['device meter'], refused: [] });
    expect(simulator.devices.get('meter')).not.toBe(before);
    // The first was written and has the same beginning; the second begins otherwise now.
    expect(holding()?.readWords(0, 3)).toEqual([11, 22, 3]);
    expect(holding()?.readWords(10, 2)).toEqual([0x3fc0, 0]);
    expect([...line('lan').bus.stations.devices]).toEqual([simulator.devices.get('meter')]);
    expect(line('lan').openSince).toBe(open);
    expect(await again(loaded(other))).toEqual({ done: [], refused: [] });
  });

  it('keeps sums, signals of REST, registers that were defined, manners and the clock of a device that is different', async () => {
    const power = {
      address: 0,
      name: 'power',
      value: 60,
      signal: { ramp: { from: 60, to: 60, over: '1s' } },
    };
    const energy = {
      address: 2,
      name: 'energy',
      type: 'uint32',
      signal: { counter: { integral: 'power', per: '1s' } },
    };
    const plant = (more: object[]) => ({
      devices: {
        meter: { registers: { input: [power, energy], holding: [{ address: 0, value: 1 }, ...more] } },
      },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    });
    const { simulator } = await startSimulator(nativeSetup(plant([])));
    const meter = () => simulator.devices.get('meter') as Device;
    const [first, sum] = meter().points.all as [Point, Point];
    meter().setClock({ paused: true }, 10_000);
    const reached = meter().points.valueAtMoment(sum, meter().clock.time, meter().clock);
    expect(reached).toBeGreaterThanOrEqual(600);
    const at = new At({ ramp: { from: 7, to: 7, over: 1000 } }, new Findings());
    expect(simulator.changes.signals.change(meter(), first, at)).toBe(true);
    simulator.changes.defineRegisters(meter(), 'holding', [{ address: 20, quantity: 2 }], true);
    meter().tables.holding.window.image.setWord(21, 99);
    meter().manners = { writes: 'single' };
    const before = meter();
    const context = ownersContext(simulator, pino({ level: 'silent' }));
    const after = nativeSetup(plant([{ address: 1, value: 5 }]));
    expect(await reload(context, nativeSetup(plant([])), after)).toMatchObject({
      done: ['device meter'],
      refused: [],
    });
    expect(meter()).not.toBe(before);
    const [now, then] = meter().points.all as [Point, Point];
    expect(meter().clock.settings).toEqual({ speed: 1, paused: true });
    expect(meter().points.valueAtMoment(then, meter().clock.time, meter().clock)).toBe(reached);
    expect(now.placedSignal?.definition.written).toEqual({ from: 7, to: 7, over: 1000 });
    expect(meter().tables.holding.readWords(0, 2)).toEqual([1, 5]);
    expect(meter().tables.holding.readWords(20, 2)).toEqual([0, 99]);
    expect(meter().manners).toEqual({ writes: 'single' });
  });

  it('begins the time after which a value falls back, by the clock that goes on', async () => {
    const plant = (...more: object[]) => ({
      devices: {
        meter: {
          registers: {
            holding: [{ address: 0, value: 5, write: true, fallsBack: { after: '1m' } }, ...more],
          },
          clock: { paused: true },
        },
      },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    });
    const { simulator } = await startSimulator(nativeSetup(plant()));
    const meter = () => simulator.devices.get('meter') as Device;
    meter().setClock({}, 3_600_000);
    meter().tables.holding.window.image.setWord(0, 32);
    const context = ownersContext(simulator, pino({ level: 'silent' }));
    const after = nativeSetup(plant({ address: 1, value: 6 }));
    expect(await reload(context, nativeSetup(plant()), after)).toMatchObject({ done: ['device meter'] });
    expect(meter().tables.holding.readWords(0, 2)).toEqual([32, 6]);
    meter().setClock({}, 59_999);
    expect(meter().tables.holding.readWords(0, 1)).toEqual([32]);
    meter().setClock({}, 1);
    expect(meter().tables.holding.readWords(0, 1)).toEqual([5]);
  });

  it('adds and removes devices and lines', async () => {
    const { simulator, line, again } = await start();
    const { pump, ...devices } = PLANT.devices;
    const other = {
      devices: { ...devices, valve: pump },
      lines: { bench: PLANT.lines.bench, more: { tcp: { port: 0 }, units: { 1: 'valve' } } },
      faults: PLANT.faults,
    };
    expect(await again(loaded(other))).toEqual({
      done: ['line lan', 'device valve', 'line more', 'device pump'],
      refused: [],
    });
    expect([...simulator.lines.keys()]).toEqual(['bench', 'more']);
    expect([...simulator.devices.keys()]).toEqual(['meter', 'valve']);
    expect(line('more').state.kind).toBe('open');
    expect(await again(loaded(other))).toEqual({ done: [], refused: [] });
  });

  it('removes devices that need each other, whichever the file had first', async () => {
    const { simulator, again } = await start();
    const level = { address: 0, name: 'level', value: 1 };
    const twice = { address: 0, name: 'twice', signal: { expression: 'tank.level * 2' } };
    const more = {
      tank: { registers: { holding: [level] } },
      follower: { registers: { holding: [twice] } },
    };
    await again(loaded({ ...PLANT, devices: { ...PLANT.devices, ...more } }));
    expect([...simulator.devices.keys()]).toEqual(['meter', 'pump', 'tank', 'follower']);
    expect(await again(loaded(PLANT))).toEqual({ done: ['device tank', 'device follower'], refused: [] });
    expect([...simulator.devices.keys()]).toEqual(['meter', 'pump']);
  });

  it('keeps a device that is gone from the file while a line of REST uses it, and tries again', async () => {
    const { simulator, again } = await start();
    await simulator.changes.createLine('mine', { tcp: { port: 0 }, units: { 1: 'pump' } });
    const { pump, ...devices } = PLANT.devices;
    const refused = [expect.stringMatching(/^device pump: lines\.mine\.units\.1: unknown device "pump"/)];
    expect(await again(loaded({ ...PLANT, devices }))).toEqual({ done: [], refused });
    await simulator.changes.removeLine('mine');
    expect(await again(loaded({ ...PLANT, devices }))).toEqual({ done: ['device pump'], refused: [] });
  });

  it('does not keep a new line that can not be opened', async () => {
    const { simulator, line, again } = await start();
    const { state } = line('lan');
    const port = state.kind === 'open' ? state.port : undefined;
    const more = { more: { tcp: { port }, units: { 1: 'meter' } } };
    const { done, refused } = await again(loaded(changed(more)));
    expect({ done, refused }).toEqual({ done: [], refused: [expect.stringContaining('EADDRINUSE')] });
    expect([...simulator.lines.keys()]).toEqual(['bench', 'lan']);
  });

  it('takes copies of devices that units ask for', async () => {
    const { simulator, again } = await start();
    const copies = {
      lan: { tcp: { port: 0 }, units: { 1: { copyOf: 'meter' }, 2: 'meter', 3: { copyOf: 'meter' } } },
    };
    expect(await again(loaded(changed(copies)))).toEqual({ done: ['line lan'], refused: [] });
    expect([...simulator.devices.keys()]).toEqual(['meter', 'pump', 'meter-1', 'meter-3']);
  });
});
