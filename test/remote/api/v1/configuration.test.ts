import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatProblems } from '../../../../src/common/schema/problem.js';
import type { Device } from '../../../../src/device/device.js';
import type { Configuration } from '../../../../src/document/configuration.js';
import { checkFile, loadConfiguration, loadNativeFile } from '../../../../src/document/load.js';
import { lineSettings } from '../../../../src/document/native/line-source.js';
import type { Simulator } from '../../../../src/simulator/simulator.js';
import { nativeSetup, pymodbusSetup } from '../../../support/configuration.js';
import { tries } from '../../../support/tries.js';
import { Rest } from '../rest.js';

const directory = mkdtempSync(join(tmpdir(), 'configuration-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function written(rest: Rest): Promise<string> {
  const response = await rest.app.inject({
    method: 'GET',
    url: '/api/v1/configuration',
    headers: { host: 'localhost' },
  });
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toBe('application/yaml; charset=utf-8');
  return response.body;
}

/** The simulator that the text makes. */
function simulatorOf(text: string): Rest {
  const file = join(directory, 'again.yaml');
  writeFileSync(file, text);
  const checked = checkFile(file);
  expect(checked.ok ? '' : formatProblems(file, checked.problems)).toBe('');
  const loaded = loadNativeFile(file);
  if (!loaded.ok) throw new Error('check and load differ');
  return new Rest(loaded.configuration);
}

/** All that a client can see of the registers of a device, and what moves them. */
function stateOf(device: Device) {
  const tables = Object.entries(device.tables).map(([name, table]) => {
    const { image, base, size, bitsPerCell } = table.window;
    image.refresh(base, size);
    const isBits = name === 'coils' || name === 'discrete';
    const length = isBits ? Math.min(size * bitsPerCell, 65536) : size;
    const cells = Array.from({ length }, (_, address) => {
      const cell = base + (isBits ? Math.floor(address / bitsPerCell) : address);
      const type = image.typeAt(cell);
      if (type === 'invalid') return 'invalid';
      const content = isBits ? Number(table.currentBit(address)) : image.wordAt(cell);
      const { name: action, ...bounds } = image.actionAt(cell) ?? {};
      const what = isBits ? 'bit' : [type, action, JSON.stringify(bounds)].join(' ');
      return `${what} ${content} ${image.isWritable(cell)}`;
    });
    const end = cells.findLastIndex((cell) => cell !== 'invalid') + 1;
    return [name, cells.slice(0, end)];
  });
  const points = device.points.all.map(({ definition: { signal, ...definition }, placedSignal }) => [
    definition,
    placedSignal?.definition.kind,
    placedSignal?.definition.written,
    placedSignal?.seed,
  ]);
  return { tables: Object.fromEntries(tables), points, clock: device.clock.settings };
}

function stateOfAll({ devices, lines, faults }: Simulator) {
  return {
    devices: Object.fromEntries(Array.from(devices, ([name, device]) => [name, stateOf(device)])),
    lines: Object.fromEntries(
      Array.from(lines, ([name, { definition }]) => [name, lineSettings(definition)]),
    ),
    rules: faults.rules.list().map(({ rule: { faults: all, ...rule }, seed }) => ({
      ...rule,
      seed,
      do: all.map(({ kind, written }) => [kind, written]),
    })),
  };
}

/** The text, after comparing what it makes with what is running. */
async function roundTrip(rest: Rest): Promise<string> {
  const text = await written(rest);
  const again = simulatorOf(text);
  expect(stateOfAll(again.simulator)).toEqual(stateOfAll(rest.simulator));
  return text;
}

const SETUP = {
  devices: {
    'meter 1': {
      identity: { vendorName: 'A: "b"', extended: { 128: 'x' } },
      clock: { paused: true },
      seed: 7,
      exceptionStatus: [0, 1],
      serverId: { id: [1, 2], additional: 'abc' },
      files: { 3: { records: 5, write: true, values: [1, 2] } },
      queues: { 7: [1, 2, 3] },
      registers: {
        coils: [
          { address: 0, name: 'relay', labels: { 0: 'off', 1: 'on' }, write: true },
          { address: 10, quantity: 100, write: true },
        ],
        holding: [
          { address: 0, name: 'voltage', unit: 'V', scale: 0.1, value: 2301, description: 'phase "1": #' },
          { address: 1, name: 'limit', type: 'float32', value: 5, write: true },
          { address: 3, type: 'uint64', name: 'serial', value: '18446744073709551615' },
          { address: 7, value: [1, 2, 3, 4], write: true },
          { address: 20, type: 'string', value: ['ab', 'true'], length: 4, write: true, wordOrder: 'little' },
          { address: 30, type: 'string', value: ['ab', 'c d'], length: 3, write: true, padding: 'space' },
          {
            address: 40,
            type: 'float32',
            value: [1.5, 2.5, '.nan', '-inf', '-0'],
            byteOrder: 'little',
            write: true,
          },
          { address: 60, action: 'timestamp' },
          { address: 70, type: 'int32', value: -5, quantity: 10, action: 'increment', min: -9, max: 5 },
          { address: 100, quantity: 1000, value: 3, write: true },
        ],
        input: [
          { address: 0, name: 'level', type: 'int16', signal: { ramp: { from: 0, to: 100, over: '10s' } } },
          { address: 1, name: 'total', type: 'uint32', signal: { counter: { perSecond: 10 } }, retain: true },
          { address: 3, name: 'wave', signal: { sine: { period: '10s', amplitude: 5, offset: 9 } }, seed: 5 },
          { address: 4, quantity: 3, signal: { expression: 'level * 2' } },
        ],
      },
    },
    other: { registers: { holding: [{ address: 0, value: 7, write: true }] } },
  },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter 1', '2-3': 'other', 9: { copyOf: 'other' } } },
    bench: {
      serial: { path: 'virtual', pacing: { chunk: 8 } },
      timing: { gap: '50ms' },
      units: { 1: 'other' },
    },
  },
  faults: [{ name: 'slow', when: { line: 'lan', from: '1m' }, do: [{ delay: { ms: 5, jitter: 1 } }] }],
  api: { port: 8088, token: 'very-secret' },
};

async function change(rest: Rest, method: 'PUT' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: object) {
  const { status, body: answer } = await rest.send(method, `/api/v1${url}`, body);
  if (status >= 300) throw new Error(JSON.stringify(answer));
}

describe('GET /api/v1/configuration', () => {
  it('makes what was loaded, with its entries as they were written', async () => {
    const text = await roundTrip(new Rest(nativeSetup(SETUP)));
    expect(text).toContain('- {address: 4, quantity: 3, signal: {expression: "level * 2"}}\n');
    expect(text).toContain('- {address: 100, quantity: 1000, value: 3, write: true}\n');
  });

  it('makes what REST and clients have changed', async () => {
    const rest = new Rest(nativeSetup(SETUP));
    const device = '/devices/meter%201';
    await change(rest, 'PATCH', `${device}/registers`, {
      changes: [
        { name: 'voltage', value: 231.5 },
        { name: 'limit', value: -0.1 },
        { name: 'serial', value: '9007199254740993' },
        { name: 'relay', value: 'on' },
        { table: 'holding', address: 8, value: 99 },
        { table: 'holding', address: 20, value: 'é' },
        { table: 'holding', address: 33, value: 'x' },
        { table: 'holding', address: 42, value: '-0' },
        { table: 'holding', address: 72, value: 4 },
        { table: 'holding', address: 500, value: 4 },
        { table: 'coils', address: 50, value: 1 },
        { name: 'total', value: 12345 },
      ],
    });
    await change(rest, 'PUT', `${device}/signals/voltage`, {
      square: { period: '2s', amplitude: 3, offset: 230 },
    });
    await change(rest, 'PUT', `${device}/signals/wave`, { ramp: { from: 1, to: 2, over: '1s' } });
    await change(rest, 'POST', `${device}/clock`, { speed: 60 });
    await change(rest, 'DELETE', `${device}/signals/level`);
    await rest.registers({ submit: 'Set', register: 0, value: '8', device: 'other-9' });
    await rest.registers({ submit: 'Set', register: 3, writeable: true, device: 'meter 1' });
    await change(rest, 'POST', '/devices', {
      name: 'pump',
      registers: { holding: [{ address: 0, name: 'flow', value: 5 }] },
    });
    await change(rest, 'POST', '/lines', {
      name: 'more',
      udp: { port: 0 },
      units: { 7: 'pump', 8: { copyOf: 'pump' } },
    });
    await change(rest, 'PUT', '/lines/lan', { missingUnit: 'silence', tcp: { maxClients: 3 } });
    await change(rest, 'POST', '/faults', {
      name: 'named',
      when: { name: 'pump.flow' },
      schedule: [{ for: '1s', every: '5s' }],
      do: { crc: 'invert' },
      seed: 3,
    });
    await change(rest, 'DELETE', '/faults/slow');
    const text = await written(rest);
    const again = simulatorOf(text);
    const [now, then] = [stateOfAll(rest.simulator), stateOfAll(again.simulator)];
    expect(then.lines).toEqual(now.lines);
    expect(then.rules).toEqual(now.rules);
    for (const [name, { tables, clock }] of Object.entries(now.devices)) {
      expect([name, then.devices[name]?.clock]).toEqual([name, clock]);
      for (const table of ['coils', 'discrete', 'holding']) {
        expect([name, table, then.devices[name]?.tables[table]]).toEqual([name, table, tables[table]]);
      }
    }
    await again.app.close();
    await rest.simulator.stop();
  });

  it('lets a counter go on, and leaves a value without its signal where it is', async () => {
    const rest = new Rest(nativeSetup(SETUP));
    await change(rest, 'POST', '/devices/meter%201/clock', { step: '5s' });
    await change(rest, 'DELETE', '/devices/meter%201/signals/level');
    const again = simulatorOf(await written(rest));
    const value = (name: string) =>
      again.send<{ value: number }>('GET', `/api/v1/devices/meter%201/values/${name}`);
    expect((await value('level')).body.value).toBe(50);
    expect((await value('total')).body.value).toBe(50);
  });

  it('has the manners that a device has now', async () => {
    const registers = { holding: [{ address: 0, value: 1 }] };
    const rest = new Rest(
      nativeSetup({
        devices: {
          a: { registers, manners: { holes: 'shift' } },
          b: { registers, manners: { holes: 'shift' } },
        },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'a', 2: 'b' } } },
      }),
    );
    const manners = {
      sleeps: { after: 30_000, wakes: 1 },
      locksUp: { on: ['address', { reconnect: 1000 }], for: 'power' },
    };
    await rest.send('PUT', '/api/v1/devices/a/manners', manners);
    await rest.send('PUT', '/api/v1/devices/b/manners', {});
    const { devices } = simulatorOf(await written(rest)).simulator;
    expect(devices.get('a')?.manners).toEqual(manners);
    expect(devices.get('b')?.manners).toBeUndefined();
  });

  it('has values that are not available, with what lies underneath', async () => {
    const unavailable = [{ from: '1h', for: '1m' }];
    const rest = new Rest(
      nativeSetup({
        devices: {
          meter: {
            registers: {
              holding: [
                { address: 0, name: 'a', value: 1, write: true, unavailable },
                { address: 1, name: 'b', value: 2, available: false, notAvailable: 7 },
                { address: 2, name: 'c', type: 'int16', signal: { counter: { perSecond: 0.01 } } },
                { address: 3, quantity: 2, available: false },
              ],
            },
          },
        },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      }),
    );
    await change(rest, 'PUT', '/devices/meter/values/a', { available: false, value: 5 });
    await change(rest, 'PUT', '/devices/meter/values/b', { available: true });
    await change(rest, 'PUT', '/devices/meter/values/c', { available: false });
    const again = simulatorOf(await written(rest));
    await change(again, 'POST', '/devices/meter/clock', { pause: true });
    const meter = again.simulator.devices.get('meter') as Device;
    const words = () => meter.tables.holding.currentWords(0, 5);
    expect(words()).toEqual([0xffff, 2, 0x8000, 0xffff, 0xffff]);
    await change(again, 'PUT', '/devices/meter/values/a', { available: true });
    await change(again, 'PUT', '/devices/meter/values/b', { available: false });
    await change(again, 'PUT', '/devices/meter/values/c', { available: true });
    expect(words()).toEqual([5, 7, 0, 0xffff, 0xffff]);
    await change(again, 'POST', '/devices/meter/clock', { step: '1h' });
    expect(words()).toEqual([0xffff, 7, 36, 0xffff, 0xffff]);
  });

  it('does not tell the token', async () => {
    const text = await written(new Rest(nativeSetup(SETUP)));
    expect(text).not.toContain('very-secret');
    expect(text).toContain('  # The token is left out');
    expect(text).toContain('  port: 8088\n');
  });

  it('tells the other settings of the file, and no token for reading', async () => {
    const text = await written(
      new Rest(
        nativeSetup({
          ...SETUP,
          api: {
            ...SETUP.api,
            readTokens: ['only-for-reading-1234'],
            tls: { cert: '/etc/rest.pem', key: '/etc/rest.key' },
          },
          traffic: { events: 5000, file: '/var/log/traffic', rotate: { size: '8MB', files: 3 } },
          state: 'keep',
        }),
      ),
    );
    expect(text).not.toContain('only-for-reading');
    expect(text).toContain('  # The read-only tokens are left out');
    expect(text).toContain('  tls: {cert: /etc/rest.pem, key: /etc/rest.key}\n');
    expect(text).toContain(
      'traffic: {events: 5000, bytes: 67108864, file: /var/log/traffic, format: ndjson, ',
    );
    expect(text).toContain('state: keep\n');
    simulatorOf(text);
  });

  it('keeps keys of entries that it does not know', async () => {
    const rest = new Rest(nativeSetup(structuredClone(SETUP)));
    const source = rest.simulator.running.devices[1]?.definition.source as typeof SETUP.devices.other;
    const more = { limits: { min: 0, max: 9 }, onWrite: [{ set: { a: 'b + 1' } }] };
    Object.assign(source.registers.holding[0] ?? {}, more);
    await change(rest, 'PATCH', '/devices/other/registers', {
      changes: [{ table: 'holding', address: 0, value: 3 }],
    });
    expect(await written(rest)).toContain(
      '- {address: 0, value: 3, write: true, limits: {min: 0, max: 9}, onWrite: [{set: {a: "b + 1"}}]}',
    );
  });

  it('marks registers of a string that hold no text', async () => {
    const rest = new Rest(nativeSetup(SETUP));
    const { holding } = (rest.simulator.devices.get('meter 1') as Device).tables;
    holding.writeWord(24, 0xffff);
    const text = await written(rest);
    expect(text).toMatch(
      /# registers from 20 on contain different bytes .*\n +- \{address: 20, type: string/,
    );
    simulatorOf(text);
  });

  it('leaves out a rule for a line that is gone, and says so', async () => {
    const rest = new Rest(nativeSetup(SETUP));
    await change(rest, 'DELETE', '/faults/slow');
    await change(rest, 'DELETE', '/lines/lan');
    await change(rest, 'POST', '/faults/reset');
    const text = await written(rest);
    expect(text).toMatch(/^faults: \[\]\n# unknown line lan, expected one of bench: \{name: slow, /m);
    expect([...simulatorOf(text).simulator.lines.keys()]).toEqual(['bench']);
  });

  it('leaves out manners that need a connection where only serial lines are left, and says so', async () => {
    const registers = { holding: [{ address: 0, value: 1 }] };
    const rest = new Rest(
      nativeSetup({
        devices: {
          a: { registers },
          b: { registers, manners: { connectPause: '1s', holes: 'silence' } },
        },
        lines: {
          lan: { tcp: { port: 0 }, units: { 1: 'a', 2: 'b' } },
          bench: { serial: { path: 'virtual' }, units: { 1: 'a' } },
        },
      }),
    );
    await change(rest, 'PUT', '/devices/a/manners', {
      connectPause: '1s',
      locksUp: { on: ['address', { reconnect: 1000 }], for: 'power' },
      firstReply: { slow: 5, on: 'connect' },
      writes: 'single',
    });
    await change(rest, 'PUT', '/lines/bench', { units: { 1: 'a', 2: { copyOf: 'b' } } });
    await change(rest, 'DELETE', '/lines/lan');
    const text = await written(rest);
    expect(text).toMatch(/# manners\.connectPause needs a line with connections, and bench is serial: \{/);
    const { devices } = simulatorOf(text).simulator;
    expect(devices.get('a')?.manners).toEqual({
      writes: 'single',
      locksUp: { on: ['address'], for: 'power' },
    });
    expect(devices.get('b-2')?.manners).toEqual({ holes: 'silence' });
  });

  it('has every number as a number, -0 and integers beyond 2^53 too', async () => {
    const rest = new Rest(nativeSetup(SETUP));
    const signal = { triangle: { period: '1s', amplitude: 2 ** 53 + 2, offset: -1e20, phase: 1e300 } };
    await change(rest, 'PUT', '/devices/meter%201/signals/voltage', signal);
    // JSON writes -0 as 0.
    const clock = rest.app.inject({
      method: 'POST',
      url: '/api/v1/devices/other/clock',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      payload: '{"speed":-0,"pause":true}',
    });
    expect((await clock).statusCode).toBe(200);
    const { devices } = simulatorOf(await written(rest)).simulator;
    const voltage = devices.get('meter 1')?.points.named.get('voltage');
    expect(voltage?.placedSignal?.definition.written).toEqual(signal.triangle);
    expect(devices.get('other')?.clock.settings).toEqual({ speed: -0, paused: true });
  });

  it('writes all registers of four large tables, in entries of many', async () => {
    const quantity = tries(65536);
    const whole = [{ address: 0, quantity, value: 1, write: true }];
    const registers = { coils: whole, discrete: whole, holding: whole, input: whole };
    const rest = new Rest(
      nativeSetup({
        devices: { big: { registers } },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'big' } } },
      }),
    );
    const { tables } = rest.simulator.devices.get('big') as Device;
    for (let address = 0; address < quantity * 0.9; address++) {
      tables.holding.writeWord(address, (address * 40503) & 0xffff);
      tables.coils.writeBit(address, address % 1000 < 500);
    }
    const text = await roundTrip(rest);
    expect(text.match(/^ {8}- /gm)?.length).toBeLessThan(700);
  });

  it('says what a native file can not say about a pymodbus file', async () => {
    const rest = new Rest(pymodbusSetup('test/extensions/restapi/meter.json', 'tcp', 'meter'));
    const text = await written(rest);
    expect(text).toContain('# From a pymodbus file.');
    const again = simulatorOf(text);
    expect(stateOfAll(again.simulator).lines).toEqual(stateOfAll(rest.simulator).lines);
  });

  it('refers to the device of a pymodbus file for as long as nothing was changed in it', async () => {
    const plant = join(directory, 'plant.json');
    writeFileSync(
      plant,
      '{"server_list": {}, "device_list": {"device": {"setup": {"co size": 9, "di size": 9, "hr size": 9, "ir size": 9, "shared blocks": true, "type exception": false, "defaults": {"value": {"bits": 0, "uint16": 0, "uint32": 0, "float32": 0.0, "string": " "}, "action": {"bits": null, "uint16": null, "uint32": null, "float32": null, "string": null}}}, "invalid": [], "write": [3], "bits": [], "uint16": [{"addr": [1, 8], "value": 5}], "uint32": [], "float32": [], "string": [], "repeat": []}}}',
    );
    const text = `devices: {old: {pymodbus: ${plant}}}\nlines: {lan: {tcp: {port: 0}, units: {1: old}}}\n`;
    const rest = simulatorOf(text);
    expect(await roundTrip(rest)).toContain(`    pymodbus: ${plant}\n`);
    (rest.simulator.devices.get('old') as Device).tables.holding.writeWord(3, 99);
    const changed = await written(rest);
    expect(changed).toContain('# Its tables were one list of registers');
    const { tables } = stateOfAll(simulatorOf(changed).simulator).devices.old ?? {};
    expect(tables).toEqual(stateOfAll(rest.simulator).devices.old?.tables);
  });

  it('of the demo and of the example makes them again', async () => {
    const demo = loadConfiguration({ kind: 'demo' });
    const example = loadNativeFile('examples/power-meter.yaml');
    for (const loaded of [demo, example]) {
      const { configuration } = loaded as { configuration: Configuration };
      const text = await written(new Rest(configuration));
      expect([...simulatorOf(text).simulator.devices.keys()]).toEqual(['meter', 'switch']);
    }
  });
});
