import { describe, expect, it } from 'vitest';
import { loadNativeFile } from '../../../src/document/load.js';
import { deviceOf, fixture, imageOf, loaded, nativeMistakes, scratchFiles, valueAt } from '../helpers.js';

const bench = loaded(loadNativeFile(fixture('bench.yaml')));
const meter = deviceOf(bench, 'meter');
const write = scratchFiles();

describe('the native file', () => {
  it('gives a serial line the settings of the Modbus specification where it says nothing', () => {
    expect(bench.lines[0]).toEqual({
      kind: 'serial',
      name: 'bench',
      source: expect.any(Object),
      framing: 'rtu',
      mode: 'server',
      path: '/dev/ttyUSB0',
      baudRate: 19200,
      dataBits: 8,
      parity: 'even',
      stopBits: 1,
      timing: { turnaround: 't3.5' },
      whenBusy: 'replace',
      echo: 'auto',
      units: new Map([
        [1, 'meter'],
        [17, 'old'],
      ]),
    });
  });

  it('takes every setting of a virtual line', () => {
    expect(bench.lines[1]).toEqual({
      kind: 'serial',
      name: 'paced',
      source: expect.any(Object),
      framing: 'rtu',
      mode: 'server',
      path: 'virtual',
      baudRate: 9600,
      dataBits: 8,
      parity: 'none',
      stopBits: 2,
      link: '/tmp/paced',
      pacing: { chunk: 'usb', latency: 16 },
      timing: { t35: 4.01, turnaround: 'eager', gap: 12.5 },
      whenBusy: 'queue',
      echo: 'auto',
      units: new Map([['*', 'meter']]),
    });
  });

  it('listens on loopback, port 5020, and allows unit identifiers 0 and 255 over TCP', () => {
    expect(bench.lines[2]).toEqual({
      kind: 'tcp',
      name: 'lan',
      source: expect.any(Object),
      host: '127.0.0.1',
      port: 5020,
      framing: 'socket',
      maxClients: 256,
      idleTimeout: 300_000,
      missingUnit: 'silence',
      units: new Map([
        [0, 'meter'],
        [255, 'older'],
      ]),
    });
    expect(bench.api).toEqual({ host: '127.0.0.1', port: 9000, token: 'secret-of-the-test-bench' });
  });

  it('takes all seven identity objects', () => {
    expect(meter.identity).toEqual({
      vendorName: 'Example Co',
      productCode: 'EX-1',
      majorMinorRevision: '1.2',
      vendorUrl: 'https://example.invalid/',
      productName: 'Meter',
      modelName: 'M1',
      userApplicationName: 'bench',
    });
  });

  it('defines coils and discrete inputs with one bit to an address', () => {
    expect([0, 1, 2, 3].map((address) => valueAt(meter, 'coils', address))).toEqual([1, 0, 1, 0]);
    expect(meter.tables.coils).toMatchObject({ base: 0, size: 13, bitsPerCell: 1, wholeValues: false });
    expect(imageOf(meter.tables.coils.layout).isWritable(3)).toBe(true);
    expect(valueAt(meter, 'discrete', 5)).toBe(1);
    expect(valueAt(meter, 'discrete', 4)).toBeUndefined();
  });

  it('turns a random coil on and off, not on only', () => {
    expect([10, 11, 12].map((address) => imageOf(meter.tables.coils.layout).actionAt(address))).toEqual(
      Array(3).fill({ name: 'random', minval: 0 }),
    );
  });

  it('defines values of every type and order', () => {
    expect([0, 1, 2].map((address) => valueAt(meter, 'holding', address))).toEqual([1, 2, 3]);
    expect(valueAt(meter, 'holding', 10)).toBe(Math.fround(230.1));
    expect(valueAt(meter, 'holding', 12)).toBe(-2);
    expect(imageOf(meter.tables.holding.layout).wordAt(12)).toBe(0xfffe);
    expect(valueAt(meter, 'holding', 14)).toBe(18446744073709551615n);
    expect(valueAt(meter, 'holding', 20)).toBe('AB-1    ');
    expect([22, 31, 33].map((at) => imageOf(meter.tables.holding.layout).wordAt(at))).toEqual([
      0x2020, 0x6300, 0,
    ]);
    expect(valueAt(meter, 'holding', 30)).toBe('abc');
    expect(valueAt(meter, 'holding', 32)).toBe('de');
    expect(valueAt(meter, 'holding', 40)).toBe(0xabcd);
    expect([50, 59].map((address) => valueAt(meter, 'holding', address))).toEqual([-7, -7]);
    expect(valueAt(meter, 'holding', 60)).toBeNaN();
    expect(valueAt(meter, 'holding', 64)).toBe(0n);
    expect(meter.tables.holding).toMatchObject({ size: 68, bitsPerCell: 16 });
  });

  it('gives an action its bounds', () => {
    expect(imageOf(meter.tables.input.layout).actionAt(0)).toEqual({
      name: 'increment',
      minval: 0,
      maxval: 100,
    });
  });

  it('takes a device out of a pymodbus file, and builds its registers once for two names', () => {
    const old = deviceOf(bench, 'old');
    expect(old.cells?.size).toBe(100);
    expect(valueAt(old, 'holding', 4)).toBe(77);
    expect(old.identity).toEqual({ vendorName: 'Old Co' });
    expect(deviceOf(bench, 'older').cells).toBe(old.cells);
  });

  it('keeps equal devices in the memory of one, and the tables of a device apart', () => {
    const registers = '{registers: {coils: [{address: 0}], discrete: [{address: 0}]}}';
    const file = write(
      'equal.yaml',
      `devices: {a: ${registers}, b: ${registers}}\nlines: {l: {tcp: {}, units: {1: a, 2: b}}}`,
    );
    const configuration = loaded(loadNativeFile(file));
    const [a, b] = [deviceOf(configuration, 'a').tables, deviceOf(configuration, 'b').tables];
    expect(a.coils.layout).toBe(b.coils.layout);
    expect(a.coils.layout).not.toBe(a.discrete.layout);
    expect(a.holding).toMatchObject({ size: 0 });
  });

  it('defines all 262,144 addresses of a device by four entries, each like the first', () => {
    const all = '[{address: 0, quantity: 65536, value: 1, write: true}]';
    const file = write(
      'full.yaml',
      `devices: {d: {registers: {coils: ${all}, discrete: ${all}, holding: ${all}, input: ${all}}}}
lines: {l: {tcp: {}, units: {1: d}}}`,
    );
    const device = deviceOf(loaded(loadNativeFile(file)), 'd');
    for (const table of ['coils', 'discrete', 'holding', 'input'] as const) {
      expect(device.tables[table].size).toBe(65536);
      expect(device.tables[table].layout.words.every((word) => word === 1)).toBe(true);
      expect(valueAt(device, table, 65535)).toBe(1);
    }
  });

  it('takes a list of 65,536 values', () => {
    const values = Array.from({ length: 65536 }, (_, i) => i);
    const file = write(
      'list.json',
      JSON.stringify({
        devices: { d: { registers: { holding: [{ address: 0, value: values }] } } },
        lines: { l: { tcp: {}, units: { '1': 'd' } } },
      }),
    );
    const device = deviceOf(loaded(loadNativeFile(file)), 'd');
    expect(Array.from(device.tables.holding.layout.words)).toEqual(values);
  });

  it('takes names that objects have by nature for devices and lines', () => {
    const device = '{registers: {}}';
    const file = write(
      'names.yaml',
      `devices: {__proto__: ${device}, constructor: ${device}, toString: ${device}}
lines: {hasOwnProperty: {tcp: {}, units: {1: __proto__, 2: constructor, 3: toString}}}`,
    );
    const configuration = loaded(loadNativeFile(file));
    expect(configuration.devices.map(({ name }) => name)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(configuration.lines.map(({ name }) => name)).toEqual(['hasOwnProperty']);
  });
});

const rest = '\ndevices: {m: {registers: {}}}';
const serial = (settings: string, more = '') =>
  nativeMistakes(`lines: {b: {serial: {path: /dev/x, ${settings}}, units: {1: m}${more}}}${rest}`);
const virtual = (settings: string) =>
  nativeMistakes(`lines: {b: {serial: {path: virtual, ${settings}}, units: {1: m}}}${rest}`);
const tcp = (settings: string, more = '') =>
  nativeMistakes(`lines: {b: {tcp: {${settings}}, units: {1: m}${more}}}${rest}`);
const units = (kind: 'serial: {path: virtual}' | 'tcp: {}', text: string) =>
  nativeMistakes(`lines: {b: {${kind}, units: ${text}}}${rest}`);
const line = (text: string) => nativeMistakes(`lines: {b: ${text}}${rest}`);
const entry = (table: string, text: string) =>
  nativeMistakes(`devices: {m: {registers: {${table}: [${text}]}}}\nlines: {b: {tcp: {}, units: {1: m}}}`);
const device = (text: string) =>
  nativeMistakes(`devices: {m: ${text}}\nlines: {b: {tcp: {}, units: {1: m}}}`);
const api = (text: string) => nativeMistakes(`api: ${text}\nlines: {b: {tcp: {}, units: {1: m}}}${rest}`);

describe('a mistake in a line', () => {
  it.each([
    [serial('parity: mark'), 'lines.b.serial.parity: expected none, even or odd, got "mark"'],
    [
      serial('baudRate: 19200.5'),
      'lines.b.serial.baudRate: expected a whole number from 50 to 4000000, got 19200.5',
    ],
    [
      serial('baudRate: "9600"'),
      'lines.b.serial.baudRate: expected a whole number from 50 to 4000000, got "9600": write it without quotes',
    ],
    [serial('dataBits: 7'), 'lines.b.serial.dataBits: expected 8 (7 is for framing ascii), got 7'],
    [serial('stopBits: 1.5'), 'lines.b.serial.stopBits: expected 1 or 2, got 1.5'],
    [serial('link: /tmp/a'), 'lines.b.serial.link: only a line with path virtual can have this'],
    [serial('pacing: {chunk: 8}'), 'lines.b.serial.pacing: only a line with path virtual can have this'],
    [virtual('pacing: {chunk: 4}'), 'lines.b.serial.pacing.chunk: expected 1, 8, 16 or usb, got 4'],
    [virtual('pacing: {chunk: 8, latency: 1}'), 'lines.b.serial.pacing.latency: only chunk usb has latency'],
    [
      serial('', ', timing: {turnaround: soon}'),
      'lines.b.timing.turnaround: expected t3.5, eager or a number of milliseconds from 0 to 60000, got "soon"',
    ],
    [
      serial('', ', timing: {turnaround: -1}'),
      'lines.b.timing.turnaround: expected t3.5, eager or a number of milliseconds from 0 to 60000, got -1',
    ],
    [
      serial('', ', timing: {gap: -1}'),
      'lines.b.timing.gap: expected a number of milliseconds from 0 to 60000, or a time such as 250ms, 20s, 5m, 1h, got -1',
    ],
    // Below t3.5 a frame would be thrown away between two of its bytes.
    [serial('', ', timing: {gap: 0}'), 'lines.b.timing.gap: expected at least t3.5, 2 ms, got 0'],
    [
      serial('baudRate: 9600', ', timing: {gap: 4}'),
      'lines.b.timing.gap: expected at least t3.5, 4.01 ms, got 4',
    ],
    [serial('', ', timing: {t35: 7.5, gap: 7}'), 'lines.b.timing.gap: expected at least t3.5, 7.5 ms, got 7'],
    [
      serial('', ', missingUnit: silence'),
      'lines.b.missingUnit: unknown key "missingUnit" (known: serial, framing, mode, timing, whenBusy, echo, start, unsolicited, units)',
    ],
    [tcp('port: 65536'), 'lines.b.tcp.port: expected a whole number from 0 to 65535, got 65536'],
    [tcp('host: ""'), 'lines.b.tcp.host: expected a host name or an address, got ""'],
    [tcp('', ', missingUnit: ignore'), 'lines.b.missingUnit: expected exception or silence, got "ignore"'],
    [
      line('{serial: {}, units: {1: m}}'),
      'lines.b.serial.path: missing, expected the path of a serial port, or virtual',
    ],
    [line('{units: {1: m}}'), 'lines.b: expected one of serial, tcp, udp, tls, got none of them'],
    [
      line('{serial: {path: virtual}, tcp: {}, units: {1: m}}'),
      'lines.b: expected one of serial, tcp, udp, tls, got serial and tcp',
    ],
    [line('5'), 'lines.b: expected one of serial, tcp, udp, tls, got 5'],
    [
      line('{tcp: {}}'),
      'lines.b.units: missing, expected unit identifiers with the names of their devices, such as {1: meter}',
    ],
    [
      units('serial: {path: virtual}', '{0: m}'),
      'lines.b.units.0: 0 is the broadcast address, which no device answers: expected a unit identifier from 1 to 247, a range or *, got "0"',
    ],
    [
      units('serial: {path: virtual}', '{248: m}'),
      'lines.b.units.248: expected a unit identifier from 1 to 247, a range or *, got "248"',
    ],
    [
      units('tcp: {}', '{256: m}'),
      'lines.b.units.256: expected a unit identifier from 0 to 255, a range or *, got "256"',
    ],
    [
      units('tcp: {}', '{"01": m}'),
      'lines.b.units.01: expected a unit identifier from 0 to 255, a range or *, got "01"',
    ],
    [units('tcp: {}', '{1: 5}'), 'lines.b.units.1: expected the name of a device, got 5'],
    [units('tcp: {}', '{1: n}'), 'lines.b.units.1: unknown device "n", did you mean "m"? (known: m)'],
    [units('tcp: {}', '{1: toString}'), 'lines.b.units.1: unknown device "toString" (known: m)'],
  ])('%j', (mistakes, expected) => {
    expect(mistakes).toEqual([expected]);
  });

  it('names the key that was probably meant', () => {
    expect(serial('baud_rate: 9600')).toEqual([
      'lines.b.serial.baud_rate: unknown key "baud_rate", did you mean "baudRate"? (known: path, baudRate, dataBits, parity, stopBits, rs485, parityMarks, link, pacing)',
    ]);
  });
});

describe('what two would open at once', () => {
  const both = (a: string, b: string, more = '') =>
    nativeMistakes(`lines: {a: {${a}, units: {1: m}}, b: {${b}, units: {1: m}}}${rest}${more}`);

  it.each([
    [
      both('serial: {path: /dev/x}', 'serial: {path: /dev/x}'),
      ['lines.b.serial.path: /dev/x is already used by lines.a.serial.path'],
    ],
    [both('tcp: {}', 'tcp: {}'), ['lines.b.tcp.port: 127.0.0.1:5020 is already used by lines.a.tcp.port']],
    [
      both('tcp: {}', 'tcp: {port: 0}', '\napi: {port: 5020}'),
      ['api.port: 127.0.0.1:5020 is already used by lines.a.tcp.port'],
    ],
    [
      both('serial: {path: virtual, link: /tmp/l}', 'serial: {path: virtual, link: /tmp/l}'),
      ['lines.b.serial.link: /tmp/l is already used by lines.a.serial.link'],
    ],
    [both('tcp: {port: 0}', 'tcp: {port: 0}'), []],
    [both('serial: {path: virtual}', 'serial: {path: virtual}'), []],
  ])('%j', (mistakes, expected) => {
    expect(mistakes).toEqual(expected);
  });
});

const ENTRY = 'devices.m.registers.holding[0]';

describe('a mistake in registers', () => {
  it.each([
    [entry('holding', '{value: 1}'), `${ENTRY}.address: missing, expected a whole number from 0 to 65535`],
    [
      entry('holding', '{address: 65536}'),
      `${ENTRY}.address: expected a whole number from 0 to 65535, got 65536`,
    ],
    [
      entry('holding', '{address: 65535, type: uint32}'),
      `${ENTRY}: ends at address 65536, expected at most 65535`,
    ],
    [
      entry('holding', '{address: 0, value: 70000}'),
      `${ENTRY}.value: expected a whole number from 0 to 65535 (uint16), got 70000`,
    ],
    [
      entry('holding', '{address: 0, value: [1, -1, 2]}'),
      `${ENTRY}.value[1]: expected a whole number from 0 to 65535 (uint16), got -1`,
    ],
    [
      entry('holding', '{address: 0, value: []}'),
      `${ENTRY}.value: expected at least one value, got an empty list`,
    ],
    [
      entry('holding', '{address: 0, value: [1, 2], quantity: 3}'),
      `${ENTRY}.quantity: expected 2, the number of values, got 3`,
    ],
    [
      entry('holding', '{address: 0, type: uint8}'),
      `${ENTRY}.type: expected bits, uint16, uint32, float32, string, int16, int32, uint64, int64 or float64, got "uint8"`,
    ],
    [entry('holding', '{address: 0, padding: space}'), `${ENTRY}.padding: only a string has padding`],
    [
      entry('holding', '{address: 0, type: string, value: a, padding: zero}'),
      `${ENTRY}.padding: expected nul or space, got "zero"`,
    ],
    [
      entry('holding', '{address: 0, length: 3}'),
      `${ENTRY}.length: only a string has a length; quantity is the number of values`,
    ],
    [
      entry('holding', '{address: 0, type: string, value: abcde, length: 2}'),
      `${ENTRY}.value: expected text of at most 4 bytes (two per register), got 5, got "abcde"`,
    ],
    [entry('holding', '{address: 0, write: yes}'), `${ENTRY}.write: expected true or false, got "yes"`],
    [
      entry('holding', '{address: 0, wordOrder: middle}'),
      `${ENTRY}.wordOrder: expected big or little, got "middle"`,
    ],
    [
      entry('holding', '{address: 0, min: 1}'),
      `${ENTRY}.min: only the actions increment and random have bounds`,
    ],
    [
      entry('holding', '{address: 0, action: random, min: 5, max: 4}'),
      `${ENTRY}.min: expected at most max, which is 4, got 5`,
    ],
    [
      entry('holding', '{address: 0, action: random, max: 65536}'),
      `${ENTRY}.max: expected a whole number from 0 to 65535 (uint16), got 65536`,
    ],
    [entry('holding', '{address: 0, reads: [[2, 5]]}'), `${ENTRY}.reads: only the action replay has reads`],
    [
      entry('holding', '{address: 0, action: replay, reads: [[2, 5], [2, 6]]}'),
      `${ENTRY}.reads[1]: expected the number of a read above 2 and a value, as in [3, 7], got a list`,
    ],
    [
      entry('holding', '{address: 0, action: replay, reads: [[2, 65536]]}'),
      `${ENTRY}.reads[0][1]: expected a whole number from 0 to 65535 (uint16), got 65536`,
    ],
    [
      entry('holding', '{address: 0, action: replay}'),
      `${ENTRY}.reads: missing, expected a list of reads and their values, as in [[4, 7], [9, 8]]`,
    ],
    [
      entry('holding', '{address: 0, action: count}'),
      `${ENTRY}.action: expected increment, random, reset, timestamp, uptime or replay, got "count"`,
    ],
    [
      entry('holding', '{address: 0, type: string, value: a, action: increment}'),
      `${ENTRY}.action: increment needs a number; the only action for a string is reset`,
    ],
    [
      entry('holding', '{address: 0, type: float32, action: timestamp}'),
      `${ENTRY}.action: timestamp fills seven registers, expected type bits, uint16, int16, got float32`,
    ],
    [
      entry('holding', '{address: 0, action: timestamp, quantity: 6}'),
      `${ENTRY}.quantity: expected a multiple of 7, the number of registers of a timestamp, got 6`,
    ],
    [
      entry('holding', '{address: 65530, action: timestamp}'),
      `${ENTRY}: ends at address 65536, expected at most 65535`,
    ],
    [
      entry('coils', '{address: 0, value: 2}'),
      'devices.m.registers.coils[0].value: expected a whole number from 0 to 1 (bit), got 2',
    ],
    [
      entry('coils', '{address: 0, type: uint16}'),
      'devices.m.registers.coils[0].type: unknown key "type" (known: address, value, quantity, write, action, min, max, reads, name, description, labels, retain, available, unavailable, notAvailable, stale, signal, seed, follows, limits, allowed, password, pulse, latch, fallsBack, busyFor, onWrite)',
    ],
    [
      entry('coils', '{address: 0, action: uptime}'),
      'devices.m.registers.coils[0].action: uptime counts seconds, which do not fit into one bit',
    ],
    [entry('holding', '7'), `${ENTRY}: expected a mapping, got 7`],
    [
      device('{registers: {holding: {address: 0}}}'),
      'devices.m.registers.holding: expected a list of entries, got a mapping',
    ],
    [
      device('{registers: {inputs: []}}'),
      'devices.m.registers.inputs: unknown key "inputs", did you mean "input"? (known: coils, discrete, holding, input)',
    ],
    [device('{}'), 'devices.m: missing, expected registers, or pymodbus with the path of a pymodbus file'],
    [
      device('{registers: {}, identity: {vendorName: 5}}'),
      'devices.m.identity.vendorName: expected text (in quotes), got 5',
    ],
    [
      device('{registers: {}, identity: {modelName: "größer"}}'),
      'devices.m.identity.modelName: expected printable ASCII text of at most 244 bytes, got "größer"',
    ],
    [
      device('{registers: {holding: [{address: 0, action: timestamp}, {address: 6}]}}'),
      'devices.m.registers.holding[1]: address 6 is already defined by devices.m.registers.holding[0]',
    ],
    [
      device('{pymodbus: a.json, device: 3}'),
      'devices.m.device: expected the name of a device in that file, got 3',
    ],
    [device('{pymodbus: a.json}'), 'devices.m.pymodbus: not here'],
  ])('%j', (mistakes, expected) => {
    expect(mistakes).toEqual([expected]);
  });

  it('names both entries that define an address', () => {
    expect(entry('holding', '{address: 4, type: uint32}, {address: 0, quantity: 6}, {address: 6}')).toEqual([
      'devices.m.registers.holding[1]: address 4 is already defined by devices.m.registers.holding[0]',
    ]);
  });

  it('lets entries touch', () => {
    expect(entry('holding', '{address: 0, quantity: 6}, {address: 6}')).toEqual([]);
  });
});

it('lists all mistakes of a device at once, and knows sunspec', () => {
  expect(device('{seed: -1, clock: {speed: fast}}')).toEqual([
    'devices.m.clock.speed: expected a speed from 0 to 100000, got "fast"',
    'devices.m.seed: expected a seed from 0 to 4294967295, got -1',
    'devices.m: missing, expected registers, or pymodbus with the path of a pymodbus file',
  ]);
  expect(device('{sunspecs: [1, 103]}')).toEqual([
    expect.stringContaining('unknown key "sunspecs", did you mean "sunspec"?'),
  ]);
});

it('takes 256 fault rules and no more', () => {
  const file = (count: number) =>
    JSON.stringify({
      devices: { m: { registers: { holding: [{ address: 0 }] } } },
      lines: { b: { tcp: {}, units: { 1: 'm' } } },
      faults: Array.from({ length: count }, (_, i) => ({ name: `rule-${i}`, do: [{ delay: 1 }] })),
    });
  expect(nativeMistakes(file(256))).toEqual([]);
  expect(nativeMistakes(file(257))).toEqual(['faults: expected at most 256 fault rules, got a list']);
});

it('takes a fault without a list around it', () => {
  const text = `
devices: {m: {registers: {holding: [{address: 0}]}}}
lines: {b: {tcp: {}, units: {1: m}}}
faults: [{name: late, do: {delay: 250}}]
`;
  const [rule] = loaded(loadNativeFile(write('one-fault.yaml', text))).faults;
  expect(rule?.faults.map(({ kind, written }) => [kind, written])).toEqual([['delay', 250]]);
});

it('does not call a line unknown that has a mistake itself', () => {
  const file = (line: string) =>
    JSON.stringify({
      devices: { m: { registers: { holding: [{ address: 0 }] } } },
      lines: {
        b: { tcp: { port: 70_000 }, units: { 1: 'm' } },
        c: { serial: { path: 'virtual' }, units: { 1: 'm' } },
      },
      faults: [{ name: 'x', when: { line }, do: [{ close: 'end' }] }],
    });
  const ofLine = 'lines.b.tcp.port: expected a whole number from 0 to 65535, got 70000';
  expect(nativeMistakes(file('b'))).toEqual([ofLine]);
  expect(nativeMistakes(file('c'))).toEqual([
    ofLine,
    expect.stringMatching(/^faults\[0\]\.do\[0\]\.close: /),
  ]);
  expect(nativeMistakes(file('d'))).toEqual([
    ofLine,
    expect.stringMatching(/^faults\[0\]\.when\.line: unknown/),
  ]);
});

describe('a mistake in the rest of the file', () => {
  it.each([
    [nativeMistakes(''), [': expected a mapping with devices and lines, got nothing']],
    [nativeMistakes('[1]'), [': expected a mapping with devices and lines, got a list']],
    [
      nativeMistakes('api: {}'),
      ['devices: missing, expected devices by name', 'lines: missing, expected lines by name'],
    ],
    [
      nativeMistakes('devices: {}\nlines: []'),
      [
        'devices: expected devices by name, got an empty mapping',
        'lines: expected lines by name, got an empty list',
      ],
    ],
    [
      nativeMistakes(`line: {}\nlines: {b: {tcp: {}, units: {1: m}}}${rest}`),
      [
        'line: unknown key "line", did you mean "lines"? (known: devices, lines, faults, api, mqtt, traffic, start, state)',
      ],
    ],
    [nativeMistakes('server_list: {}'), [': this is a pymodbus.simulator file: use it with --json_file']],
    [
      api('{host: 0.0.0.0}'),
      [
        'api.host: 0.0.0.0 can be reached from other machines, so a token is required: set api.token or MODBUS_SIM_TOKEN',
      ],
    ],
    [api('{host: 0.0.0.0, token: t}'), []],
    [api('{host: "::1"}'), []],
    [api('{host: localhost}'), []],
    [api('{token: ""}'), ['api.token: expected text of at least one character']],
  ])('%j', (mistakes, expected) => {
    expect(mistakes).toEqual(expected);
  });
});
