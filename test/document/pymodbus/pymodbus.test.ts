import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { At } from '../../../src/common/schema/at.js';
import { fileFindings } from '../../../src/common/schema/findings.js';
import { checkFile, loadPymodbus } from '../../../src/document/load.js';
import { checkPymodbus, pymodbusConfiguration } from '../../../src/document/pymodbus/file.js';
import { cursor, deviceOf, fixture, imageOf, loaded, pymodbusMistakes, valueAt } from '../helpers.js';

const file = fixture('plant.json');
const onBus = loaded(loadPymodbus({ file, server: 'bus', device: 'pump' }));
const pump = deviceOf(onBus, 'pump');
const cells = imageOf(pump.cells ?? pump.tables.holding.layout);

describe('a server of a pymodbus file', () => {
  it('is a serial line that answers every unit identifier when it has no device_id', () => {
    expect(onBus.lines).toEqual([
      {
        kind: 'serial',
        name: 'bus',
        source: expect.objectContaining({ units: { '*': 'pump' } }),
        framing: 'rtu',
        mode: 'server',
        path: '/dev/ttyS7',
        baudRate: 38400,
        dataBits: 8,
        parity: 'even',
        stopBits: 2,
        timing: { turnaround: 't3.5' },
        whenBusy: 'replace',
        echo: 'auto',
        units: new Map([['*', 'pump']]),
      },
    ]);
  });

  it('is a TCP line that answers its device_id alone and is silent about others', () => {
    const { lines, devices, api } = loaded(loadPymodbus({ file, device: 'tank' }));
    expect(lines).toEqual([
      {
        kind: 'tcp',
        name: 'server',
        source: expect.objectContaining({ units: { 9: 'tank' } }),
        host: '127.0.0.1',
        port: 15020,
        framing: 'socket',
        maxClients: 256,
        idleTimeout: 300_000,
        missingUnit: 'silence',
        units: new Map([[9, 'tank']]),
      },
    ]);
    expect(devices[0]?.identity).toEqual({
      vendorName: 'Water Works',
      productCode: 'WW-2',
      majorMinorRevision: '2.4',
    });
    expect(api).toEqual({ host: '127.0.0.1', port: 8081 });
  });

  it('has the serial settings of pymodbus where it says nothing', () => {
    const data = plant();
    data.server_list = { only: { comm: 'serial', port: '/dev/x', framer: 'rtu' } };
    expect(pymodbusConfiguration(cursor(data), { device: 'pump' })?.lines).toMatchObject([
      { kind: 'serial', path: '/dev/x', baudRate: 19200, dataBits: 8, parity: 'none', stopBits: 1 },
    ]);
  });

  it.each([
    [true, 'yes'],
    [false, 'auto'],
  ])('has an adapter that hears what it sends where handle_local_echo is %s: echo %s', (flag, echo) => {
    const data = plant();
    data.server_list = {
      only: { comm: 'serial', port: '/dev/x', framer: 'rtu', handle_local_echo: flag },
    };
    expect(pymodbusConfiguration(cursor(data), { device: 'pump' })?.lines).toMatchObject([{ echo }]);
  });

  it('tells a missing unit with an exception unless it is told to ignore it', () => {
    const missingUnit = (change: Record<string, unknown>) => {
      const data = plant();
      delete data.server_list.server.ignore_missing_slaves;
      Object.assign(data.server_list.server, change);
      return pymodbusConfiguration(cursor(data), { device: 'pump' })?.lines[0];
    };
    expect(missingUnit({})).toMatchObject({ missingUnit: 'exception' });
    expect(missingUnit({ ignore_missing_slaves: false })).toMatchObject({ missingUnit: 'exception' });
    expect(missingUnit({ ignore_missing_devices: true })).toMatchObject({ missingUnit: 'silence' });
  });

  it.each<[object, object]>([
    [{ comm: 'udp' }, { kind: 'udp', framing: 'socket' }],
    [{ framer: 'rtu' }, { kind: 'tcp', framing: 'rtu' }],
    [
      { comm: 'udp', framer: 'ascii' },
      { kind: 'udp', framing: 'ascii' },
    ],
    [
      { comm: 'tls', framer: 'tls', certfile: '/x/s.crt', keyfile: '/x/s.key' },
      { kind: 'tls', framing: 'socket', files: { cert: '/x/s.crt', key: '/x/s.key' } },
    ],
  ])('serves %j', (change, expected) => {
    const data = plant();
    Object.assign(data.server_list.server, change);
    expect(pymodbusConfiguration(cursor(data), { device: 'pump' })?.lines[0]).toMatchObject(expected);
  });

  it('serves ASCII on a serial line, with seven data bits if it says so', () => {
    const data = plant();
    Object.assign(data.server_list.bus, { framer: 'ascii', bytesize: 7 });
    expect(pymodbusConfiguration(cursor(data), { server: 'bus', device: 'pump' })?.lines[0]).toMatchObject({
      kind: 'serial',
      framing: 'ascii',
      dataBits: 7,
    });
  });
});

describe('a device of a pymodbus file with shared blocks', () => {
  it('has one list of cells, as long as the largest table, behind all tables', () => {
    const { layout } = pump.tables.coils;
    expect(layout.size).toBe(100);
    for (const table of [pump.tables.coils, pump.tables.discrete, pump.tables.input, pump.tables.holding]) {
      expect(table).toEqual({
        layout,
        base: 0,
        size: 100,
        bitsPerCell: 16,
        wholeValues: true,
        countsAsPymodbus: true,
      });
      expect(table.layout).toBe(pump.cells);
    }
  });

  it('has the defaults where an entry says nothing', () => {
    expect([1, 3, 10, 16].map((address) => valueAt(pump, 'holding', address))).toEqual([1, 2, 3, 4]);
    expect(valueAt(pump, 'holding', 20)).toBe('five  ');
    expect(cells.actionAt(3)).toEqual({ name: 'increment' });
    expect(cells.actionAt(1)).toBeUndefined();
  });

  it('has a value in each cell or pair of a range, and one string in all of it', () => {
    expect([4, 5, 12, 14, 18].map((address) => valueAt(pump, 'holding', address))).toEqual([
      77, 77, 305419896, 305419896, -1.5,
    ]);
    expect(valueAt(pump, 'holding', 23)).toBe('ab  ');
    expect(cells.valueSpan(25)).toBeUndefined();
  });

  it('turns a default action off with null, and takes bounds of an action', () => {
    expect(cells.actionAt(4)).toBeUndefined();
    expect([6, 7, 8, 9].map((address) => cells.actionAt(address))).toEqual([
      { name: 'random', minval: 10, maxval: 20 },
      { name: 'uptime' },
      { name: 'timestamp' },
      { name: 'reset' },
    ]);
  });

  it('lets clients write what the section write names, cell by cell', () => {
    const writable = Array.from({ length: 25 }, (_, i) => i).filter((address) => cells.isWritable(address));
    expect(writable).toEqual([1, 4, 5, 10, 11, 12, 13]);
  });

  it('repeats types, values, access and actions over and over', () => {
    for (const offset of [30, 54]) {
      expect(valueAt(pump, 'holding', 12 + offset)).toBe(305419896);
      expect(valueAt(pump, 'holding', 20 + offset)).toBe('five  ');
      expect(cells.actionAt(6 + offset)).toEqual({ name: 'random', minval: 10, maxval: 20 });
      expect(cells.isWritable(5 + offset)).toBe(true);
      expect(cells.isWritable(6 + offset)).toBe(false);
    }
    expect(cells.valueSpan(79)).toBeUndefined();
  });
});

describe('a device of a pymodbus file without shared blocks', () => {
  it('has coils, discrete inputs, input registers, holding registers one after the other', () => {
    const tank = deviceOf(loaded(loadPymodbus({ file, server: 'bus', device: 'tank' })), 'tank');
    expect(tank.cells?.size).toBe(10);
    const places = Object.entries(tank.tables).map(([name, { base, size }]) => [name, base, size]);
    expect(places).toEqual([
      ['coils', 0, 1],
      ['discrete', 1, 2],
      ['input', 3, 3],
      ['holding', 6, 4],
    ]);
    expect(valueAt(tank, 'holding', 3)).toBe(500);
  });
});

describe('choosing from a pymodbus file', () => {
  it('takes "server" and "device" when nothing is chosen, or the only one there is', () => {
    const data = plant();
    expect(pymodbusMistakes(data)).toEqual([
      'device_list: there is no device named device; choose one with --modbus_device: pump, tank',
    ]);
    data.device_list = { pump: data.device_list.pump };
    expect(pymodbusMistakes(data)).toEqual([]);
    data.device_list = { pump: {}, device: data.device_list.pump };
    expect(pymodbusMistakes(data)).toEqual([]);
  });

  it('names what is there when the choice is not', () => {
    expect(pymodbusMistakes(plant(), { server: 'buss', device: 'constructor' })).toEqual([
      'server_list: unknown server "buss", did you mean "bus"? (known: server, bus)',
      'device_list: unknown device "constructor" (known: pump, tank)',
    ]);
  });

  it('overlooks mistakes in what was not chosen, and the check of the file finds them', () => {
    const data = plant();
    data.device_list.tank.uint16 = 5;
    data.server_list.bus.framer = 'tls';
    expect(pymodbusMistakes(data, { device: 'pump' })).toEqual([]);
    expect(pymodbusMistakes(data, { server: 'bus', device: 'tank' })).toHaveLength(3);
  });

  it('finds nothing wrong with the shipped file', () => {
    expect(checkFile(file)).toEqual({ ok: true, warnings: [] });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the tests break the data of a file in every way.
function plant(): any {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Mistakes after one part of the device was replaced. */
function broken(section: string, value: unknown): string[] {
  const data = plant();
  data.device_list.pump[section] = value;
  return pymodbusMistakes(data, { device: 'pump' });
}

/** Mistakes in a device of its own, of 20 cells. */
function small(sections: Record<string, unknown>): string[] {
  const setup = { 'co size': 20, 'di size': 0, 'hr size': 0, 'ir size': 0, 'shared blocks': true };
  const data = { server_list: plant().server_list, device_list: { d: { setup, ...sections } } };
  return pymodbusMistakes(data).map((mistake) => mistake.replace('device_list.d.', ''));
}

const setup = (change: Record<string, unknown>) =>
  small({
    setup: { 'co size': 9, 'di size': 0, 'hr size': 0, 'ir size': 0, 'shared blocks': true, ...change },
  });

/** A device of its own, of 20 cells, and the warnings about it. */
function device(sections: Record<string, unknown>) {
  const setup = { 'co size': 20, 'di size': 0, 'hr size': 20, 'ir size': 0, 'shared blocks': true };
  const findings = fileFindings();
  const at = new At(
    { server_list: plant().server_list, device_list: { d: { setup, ...sections } } },
    findings,
  );
  const configuration = pymodbusConfiguration(at, {});
  if (!configuration) throw new Error(JSON.stringify(findings.listed));
  return {
    d: deviceOf(configuration, 'd'),
    warnings: findings.warnings.map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`),
  };
}

describe('a device of a pymodbus file', () => {
  it('has float64, as files for pymodbus after 3.12 do, and the integers', () => {
    const { d, warnings } = device({
      float64: [{ addr: [0, 3], value: -505.78 }],
      int16: [{ addr: 4, value: -2 }],
      int32: [{ addr: [5, 6], value: -3 }],
      int64: [{ addr: [8, 11], value: -4 }],
      uint64: [{ addr: [12, 15], value: 5 }],
    });
    expect([0, 4, 5, 8, 12].map((address) => valueAt(d, 'holding', address))).toEqual([
      -505.78,
      -2,
      -3,
      -4n,
      5n,
    ]);
    expect(warnings).toEqual([]);
  });

  it('has one register more where the last value of a range needs it, as in pymodbus, with a warning', () => {
    const { d, warnings } = device({ float32: [{ addr: [1, 3], value: 1.5 }], uint32: [7], write: [4] });
    expect([1, 3].map((address) => valueAt(d, 'holding', address))).toEqual([1.5, 1.5]);
    expect(d.tables.holding.layout.size).toBe(20);
    expect(warnings).toEqual([
      'uint32.0: expected two registers for each uint32, got 1 (7 to 7); like in pymodbus, the entry extends to 8',
      'float32.0.addr: expected two registers for each float32, got 3 (1 to 3); like in pymodbus, the entry extends to 4',
    ]);
  });

  it('has nothing where a range ends before it begins, as in pymodbus, with a warning', () => {
    const { warnings } = device({ uint16: [{ addr: [5, 4] }, 7], write: [[9, 8]], invalid: [[3, 1]] });
    expect(warnings).toEqual([
      'invalid.0: 3 is above 1, so this matches no register, like in pymodbus',
      'uint16.0.addr: 5 is above 4, so this matches no register, like in pymodbus',
      'write.0: 9 is above 8, so this matches no register, like in pymodbus',
    ]);
    expect(small({ uint16: [{ addr: [5, 4] }], write: [5] })).toEqual([
      'write[0]: expected defined registers, address 5 is not defined',
    ]);
  });

  it('that can not be read names the others, which are served without it', () => {
    const data = plant();
    const first = data.device_list.tank.uint16.length;
    data.device_list.tank.uint16.push(1, 1);
    expect(pymodbusMistakes(data, { server: 'bus', device: 'tank' })).toEqual([
      `device_list.tank.uint16[${first + 1}]: address 1 is already defined by device_list.tank.uint16[${first}]`,
      'device_list: to start without device tank, choose another one with --modbus_device: pump',
    ]);
    expect(pymodbusMistakes(data, { server: 'bus', device: 'pump' })).toEqual([]);
  });

  it('with the types of no released pymodbus gets one sentence, however many devices have them', () => {
    const old = {
      setup: { defaults: { value: { bitfield16: 0, int16: 0 } } },
      bitfield16: [1],
      bitfield64: [[4, 7]],
    };
    const data = {
      server_list: plant().server_list,
      device_list: { a: old, b: old, c: plant().device_list.tank },
    };
    const sentence = expect.stringMatching(
      /^device_list\.a: bitfield16, .* 3\.1\.0: rename bitfield16 to bits, bitfield32 to uint32 and bitfield64 to uint64/,
    );
    const checked = fileFindings();
    checkPymodbus(new At(data, checked));
    expect(checked.listed.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([sentence]);
    expect(pymodbusMistakes(data, { device: 'a' })).toEqual([
      sentence,
      expect.stringMatching(/--modbus_device: c$/),
    ]);
    expect(pymodbusMistakes(data, { device: 'c' })).toEqual([]);
  });
});

describe('a mistake in a device of a pymodbus file', () => {
  it.each([
    [small({ setup: undefined }), ['setup: missing, expected a mapping']],
    [setup({ 'co size': -1 }), ['setup["co size"]: expected a whole number from 0 to 65536, got -1']],
    [setup({ 'hr size': undefined }), ['setup["hr size"]: missing, expected a whole number from 0 to 65536']],
    [setup({ 'shared blocks': 'no' }), ['setup["shared blocks"]: expected true or false, got "no"']],
    [
      setup({ defaults: { value: { uint16: 65536 } } }),
      ['setup.defaults.value.uint16: expected a whole number from 0 to 65535 (uint16), got 65536'],
    ],
    [
      setup({ defaults: { action: { bits: 'my_action' } } }),
      [
        'setup.defaults.action.bits: expected null, increment, random, reset, timestamp, uptime, got "my_action" (custom actions of Python modules are not supported)',
      ],
    ],
    [small({ uint16: 5 }), ['uint16: expected a list, got 5']],
    [small({ uint16: [20] }), ['uint16[0]: expected an address from 0 to 19, got 20']],
    [small({ uint16: [[0, 20]] }), ['uint16[0]: expected an address from 0 to 19, got 20']],
    [
      small({ uint16: [{ addr: [1, 2, 3] }] }),
      ['uint16[0].addr: expected an address or a list [first, last], got a list of 3'],
    ],
    [
      small({ uint16: [{ addr: '5' }] }),
      ['uint16[0].addr: expected an address or a list [first, last], got "5"'],
    ],
    [small({ uint16: [{}] }), ['uint16[0].addr: missing, expected an address or a list [first, last]']],
    [
      small({ uint16: [{ addr: 1, val: 5 }] }),
      [
        'uint16[0].val: unknown key "val", did you mean "value"? (known: addr, value, action, parameters, kwargs)',
      ],
    ],
    [
      small({ uint16: [{ addr: 1, value: 1.5 }] }),
      ['uint16[0].value: expected a whole number from 0 to 65535 (uint16), got 1.5'],
    ],
    [
      small({ uint16: [{ addr: 1, action: 'ramp' }] }),
      [
        'uint16[0].action: expected null, increment, random, reset, timestamp, uptime, got "ramp" (custom actions of Python modules are not supported)',
      ],
    ],
    [
      small({ uint16: [{ addr: 1, action: 'random', parameters: { min: 1 } }] }),
      ['uint16[0].parameters.min: unknown key "min", did you mean "minval"? (known: minval, maxval)'],
    ],
    [
      small({ uint16: [{ addr: 1, action: 'random', parameters: { minval: 5, maxval: 4 } }] }),
      ['uint16[0].parameters.minval: expected at most maxval, which is 4, got 5'],
    ],
    [
      small({
        uint16: [{ addr: 1, action: 'random', parameters: { minval: -1.7e308, maxval: 1.7e308 } }],
      }),
      [
        'uint16[0].parameters.minval: expected a whole number from 0 to 65535 (uint16), got -1.7e+308',
        'uint16[0].parameters.maxval: expected a whole number from 0 to 65535 (uint16), got 1.7e+308',
      ],
    ],
    [
      small({ uint32: [{ addr: [2, 3], action: 'increment', parameters: { minval: -1, maxval: 2 ** 32 } }] }),
      [
        'uint32[0].parameters.minval: expected a whole number from 0 to 4294967295 (uint32), got -1',
        'uint32[0].parameters.maxval: expected a whole number from 0 to 4294967295 (uint32), got 4294967296',
      ],
    ],
    [
      small({ float32: [{ addr: [2, 3], action: 'random', parameters: { minval: 0, maxval: 1e39 } }] }),
      [
        'float32[0].parameters.maxval: expected a number from -3.4028235e38 to 3.4028235e38 (float32), got 1e+39',
      ],
    ],
    [
      small({ float64: [{ addr: [14, 18], value: 1 }] }),
      [
        'float64[0].addr: expected four registers for each float64, got 5 (14 to 18), and pymodbus would need address 21',
      ],
    ],
    [
      small({ uint32: [5], uint16: [6] }),
      ['uint32[0]: address 6 is already defined by device_list.d.uint16[0]'],
    ],
    [
      small({ string: [{ addr: [0, 1], value: 'abcdé' }] }),
      ['string[0].value: expected text of at most 4 bytes (two per register), got 6, got "abcdé"'],
    ],
    [
      small({ bits: [5], uint16: [{ addr: [3, 6] }] }),
      ['uint16[0]: address 5 is already defined by device_list.d.bits[0]'],
    ],
    [
      small({ uint16: [3], write: [[3, 4]] }),
      ['write[0]: expected defined registers, address 4 is not defined'],
    ],
    [small({ uint16: [3], write: [20] }), ['write[0]: expected an address from 0 to 19, got 20']],
    [small({ uint16: [99], write: [3] }), ['uint16[0]: expected an address from 0 to 19, got 99']],
    [small({ invalid: [[18, 20]] }), ['invalid[0]: expected an address from 0 to 19, got 20']],
    [
      small({ repeat: [{ addr: [0, 5] }] }),
      ['repeat[0].to: missing, expected an address or a list [first, last]'],
    ],
    [
      small({ repeat: [{ addr: [0, 5], to: [10, 20] }] }),
      ['repeat[0].to: expected an address from 0 to 19, got 20'],
    ],
    [
      small({ uint61: [] }),
      [
        'uint61: unknown key "uint61", did you mean "uint16"? (known: setup, invalid, write, bits, int16, uint16, int32, uint32, int64, uint64, float32, float64, string, repeat)',
      ],
    ],
    [small({ uint16: [3], invalid: [3], write: [3] }), []],
  ])('%j', (mistakes, expected) => {
    expect(mistakes).toEqual(expected);
  });

  it.each([
    ['uint16', 1, { minval: 1, maxval: 65536 }],
    ['bits', 1, { maxval: 65536 }],
    ['uint16', 1, { minval: 0.5, maxval: 99.9 }],
    ['uint32', [2, 3], { minval: 0, maxval: 4294967295 }],
    ['float32', [2, 3], { minval: -3.4e38, maxval: 3.4e38 }],
    ['string', 1, { minval: -1e300 }],
  ])('is not, for %s at %j, %j: pymodbus runs with them', (type, addr, parameters) => {
    const value = type === 'string' ? '' : 0;
    for (const action of ['random', 'increment'])
      expect(small({ [type]: [{ addr, value, action, parameters }] })).toEqual([]);
  });

  it.each(['uptime', 'timestamp', 'reset'])('is not what %s, which has no bounds, is given', (action) => {
    const parameters = { minval: 1e9, maxval: -1 };
    expect(small({ uint16: [{ addr: [1, 7], action, parameters }] })).toEqual([]);
  });

  it('is told where a default string does not fit', () => {
    expect(broken('string', [5])).toContain(
      'device_list.pump.string[0]: expected text of at most 2 bytes (two per register), got 4, got "five" (from setup.defaults.value)',
    );
  });

  it.each([
    ['starts inside a value', { addr: [3, 5], to: [10, 12] }, 'addr', 3],
    ['ends inside a value', { addr: [0, 2], to: [10, 12] }, 'addr', 2],
    ['overwrites the end of a value', { addr: [0, 0], to: [3, 3] }, 'to', 3],
    ['overwrites the beginning of a value', { addr: [0, 0], to: [2, 2] }, 'to', 3],
  ])('is a repeat that %s', (_, repeat, key, address) => {
    expect(small({ uint16: [0], uint32: [[2, 3]], repeat: [repeat] })).toEqual([
      `repeat[0].${key}: cuts the value of several registers that address ${address} belongs to`,
    ]);
  });

  it('is a repeat whose last round ends inside a value', () => {
    expect(small({ uint32: [[2, 3]], repeat: [{ addr: [2, 3], to: [10, 14] }] })).toEqual([
      'repeat[0].to: ends within the copy of the value that address 2 belongs to',
    ]);
  });

  it('hides no other mistake of the device', () => {
    const mistakes = small({
      setup: 1,
      invalid: [-1],
      bits: ['a'],
      uint16: [{ addr: 1, value: -1 }],
      repeat: [5],
      extra: 1,
    });
    expect(mistakes.map((mistake) => mistake.split(':')[0])).toEqual([
      'extra',
      'setup',
      'invalid[0]',
      'bits[0]',
      'uint16[0].value',
      'repeat[0]',
    ]);
  });
});

describe('a mistake in a server of a pymodbus file', () => {
  const server = (value: unknown) => {
    const data = plant();
    data.server_list = { s: value };
    return pymodbusMistakes(data, { device: 'tank' });
  };
  const serial = { comm: 'serial', port: '/dev/x', framer: 'rtu' };
  const tcp = { comm: 'tcp', host: 'localhost', port: 5020, framer: 'socket' };

  it.each([
    [server(5), ['server_list.s: expected a mapping, got 5']],
    [server({}), ['server_list.s.comm: missing, expected tcp, serial, udp, tls']],
    [server({ ...tcp, comm: 'can' }), ['server_list.s.comm: expected tcp, serial, udp, tls, got "can"']],
    [
      server({ ...tcp, comm: 'tls', framer: 'tls', keyfile: 'b' }),
      ['server_list.s.certfile: missing, expected the path of a PEM file'],
    ],
    [
      server({ ...tcp, comm: 'tls', certfile: 'a', keyfile: 'b', password: 'secret' }),
      ['server_list.s.password: keys with a password are not supported, expected a key without one'],
    ],
    [
      server({ ...tcp, framer: 'tls' }),
      ['server_list.s.framer: expected socket, rtu or ascii on this comm, got "tls"'],
    ],
    [
      server({ ...tcp, framer: 'rtu', device_id: 0 }),
      ['server_list.s.device_id: expected a unit identifier from 1 to 247, got 0'],
    ],
    [
      server({ ...serial, framer: 'socket' }),
      ['server_list.s.framer: expected rtu or ascii on this comm, got "socket"'],
    ],
    [
      server({ ...serial, framer: 'can' }),
      ['server_list.s.framer: expected socket, rtu, ascii or tls, got "can"'],
    ],
    [server({ ...serial, parity: 'M' }), ['server_list.s.parity: expected N, E or O, got "M"']],
    [
      server({ ...serial, bytesize: 7 }),
      ['server_list.s.bytesize: expected 8 (7 is for framer ascii), got 7'],
    ],
    [server({ ...serial, stopbits: 1.5 }), ['server_list.s.stopbits: expected 1 or 2, got 1.5']],
    [
      server({ ...serial, device_id: 0 }),
      ['server_list.s.device_id: expected a unit identifier from 1 to 247, got 0'],
    ],
    [
      server({ ...tcp, device_id: 256 }),
      ['server_list.s.device_id: expected a whole number from 0 to 255, got 256'],
    ],
    [
      server({ ...tcp, device_id: 'x' }),
      ['server_list.s.device_id: expected a whole number from 0 to 255, got "x"'],
    ],
    [
      server({ ...tcp, port: '5020' }),
      ['server_list.s.port: expected a whole number from 0 to 65535, got "5020": write it without quotes'],
    ],
    [
      server({ ...tcp, host: undefined }),
      ['server_list.s.host: missing, expected a host name or an address'],
    ],
    [
      server({ ...tcp, identity: { VendorName: 1 } }),
      ['server_list.s.identity.VendorName: expected text (in quotes), got 1'],
    ],
    [
      server({ ...tcp, baudrate: 9600 }),
      [
        'server_list.s.baudrate: unknown key "baudrate" (known: comm, framer, device_id, ignore_missing_devices, ignore_missing_slaves, broadcast_enable, identity, host, port)',
      ],
    ],
    [server({ ...tcp, device_id: 0, host: '' }), []],
  ])('%j', (mistakes, expected) => {
    expect(mistakes).toEqual(expected);
  });
});

describe('a pymodbus file as a whole', () => {
  it.each([
    [null, [': expected a mapping with server_list and device_list, got nothing']],
    [{ devices: {} }, [': this is not a pymodbus.simulator file: use it with --config']],
    [
      { server_list: {} },
      [
        'server_list: expected servers by name, got an empty mapping',
        'device_list: missing, expected devices by name',
      ],
    ],
  ])('%j', (data, expected) => {
    expect(pymodbusMistakes(data)).toEqual(expected);
  });

  it('needs a token to open REST beyond this machine', () => {
    expect(pymodbusMistakes(plant(), { device: 'pump', httpHost: '0.0.0.0' })).toEqual([
      '--http_host: 0.0.0.0 can be reached from other machines, so a token is required: set api.token or MODBUS_SIM_TOKEN',
    ]);
    expect(pymodbusMistakes(plant(), { device: 'pump', httpHost: '0.0.0.0', token: 't' })).toEqual([]);
  });
});
