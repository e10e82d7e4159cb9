import { describe, expect, it } from 'vitest';
import type { ActionSource } from '../../../src/device/registers/actions.js';
import { loadNativeFile } from '../../../src/document/load.js';
import { buildDevice } from '../../../src/simulator/devices.js';
import { ask } from '../../device/build.js';
import { asciiHex } from '../../modbus/protocol/hex.js';
import { deviceOf, fixture, loaded, nativeMistakes, scratchFiles } from '../helpers.js';

const write = scratchFiles();
const SOURCE: ActionSource = { random: () => 0, now: () => new Date(0), uptime: () => 0 };

/** A native file with one device, `meter`, of which these are the lines. */
const fileOf = (lines: readonly string[], registers = 'registers: {coils: [{address: 0}]}') =>
  `devices:\n  meter:\n${[registers, ...lines].map((line) => `    ${line}\n`).join('')}lines: {lan: {tcp: {}, units: {1: meter}}}\n`;

/** The device as the simulator would build it. */
function built(...lines: string[]) {
  const configuration = loaded(loadNativeFile(write('extras.yaml', fileOf(lines))));
  return buildDevice(deviceOf(configuration, 'meter'), SOURCE);
}

describe('what a device of the native file has besides registers', () => {
  it('is nothing of its own where the file says nothing', () => {
    const device = built();
    expect(ask(device, '07')).toBe('0700');
    expect(ask(device, '11')).toBe(`111600ff${asciiHex('modbus-sim simulator')}`);
    expect(ask(device, '14 07 06 000A 270F 0001')).toBe('140403060000');
    expect(ask(device, '18 04DE')).toBe('1800020000');
    expect(ask(device, '2B 0E 04 80')).toBe('ab02');
  });

  it('maps coils to the exception status', () => {
    const coils = 'registers: {coils: [{address: 0, value: [0, 1]}, {address: 300, value: 1}]}';
    const text = fileOf(['exceptionStatus: [1, 0, 300]'], coils);
    const device = buildDevice(deviceOf(loaded(loadNativeFile(write('status.yaml', text))), 'meter'), SOURCE);
    expect(ask(device, '07')).toBe('0705');
  });

  it('takes a server identifier of one byte or of several', () => {
    expect(ask(built('serverId: {id: 0x2a}'), '11')).toBe('11022aff');
    const long = built('serverId: {id: [1, 2, 3], running: false, additional: "PLC 7"}');
    expect(ask(long, '11')).toBe(`110901020300${asciiHex('PLC 7')}`);
    const longest = built(`serverId: {id: [${Array(64).fill(255)}], additional: ${'x'.repeat(180)}}`);
    expect(ask(longest, '11')).toHaveLength(2 * (2 + 64 + 1 + 180));
  });

  it('defines files with records, first values and write access', () => {
    const device = built('files: {4: {records: 5, write: true, values: [1, 0xffff]}, 65535: {}}');
    expect(ask(device, '14 07 06 0004 0000 0005')).toBe('140c0b060001ffff000000000000');
    expect(ask(device, '14 07 06 0004 0005 0001')).toBe('9402');
    expect(ask(device, '15 09 06 0004 0004 0001 0007')).toBe('1509060004000400010007');
    expect(ask(device, '14 07 06 0004 0004 0001')).toBe('140403060007');
    expect(ask(device, '14 07 06 FFFF 270F 0001')).toBe('140403060000');
    expect(ask(device, '15 09 06 FFFF 0000 0001 0007')).toBe('9502');
    expect(ask(device, '14 07 06 0001 0000 0001')).toBe('9402');
  });

  it('defines FIFO queues by the address of their pointer, too full ones as well', () => {
    const device = built(`queues: {0x4de: [0x1b8, 0x1284], 0: [], 65535: [${Array(32).fill(0)}]}`);
    expect(ask(device, '18 04DE')).toBe('180006000201b81284');
    expect(ask(device, '18 0000')).toBe('1800020000');
    expect(ask(device, '18 FFFF')).toBe('9803');
    expect(ask(device, '18 0001')).toBe('9802');
  });

  it('defines extended objects of the identification beside the named ones', () => {
    const device = built('identity: {vendorName: Example Co, extended: {0x80: "serial 17", 255: ""}}');
    expect(ask(device, '2B 0E 04 80')).toBe(`2b0e04830000018009${asciiHex('serial 17')}`);
    expect(ask(device, '2B 0E 04 FF')).toBe('2b0e0483000001ff00');
    expect(ask(device, '2B 0E 04 00')).toBe(`2b0e0483000001000a${asciiHex('Example Co')}`);
  });

  it('defines private objects that are bytes and no text', () => {
    const device = built('identity: {extended: {0x81: {bytes: "00 ff 80"}}}');
    expect(ask(device, '2B 0E 04 81')).toBe('2b0e0483000001810300ff80');
  });

  it('belongs to each device of the file, not to all', () => {
    const registers = 'registers: {holding: [{address: 0}]}, files: {1: {write: true}}';
    const text = `devices: {a: {${registers}}, b: {${registers}}}\nlines: {lan: {tcp: {}, units: {1: a, 2: b}}}`;
    const configuration = loaded(loadNativeFile(write('two.yaml', text)));
    const [a, b] = ['a', 'b'].map((name) => buildDevice(deviceOf(configuration, name), SOURCE));
    if (!a || !b) throw new Error('two devices');
    ask(a, '15 09 06 0001 0000 0001 0007');
    expect(ask(b, '14 07 06 0001 0000 0001')).toBe('140403060000');
  });

  it('goes with the registers of a pymodbus file', () => {
    const reference = `pymodbus: ${fixture('plant.json')}, device: pump`;
    const text = `devices: {old: {${reference}, serverId: {id: 9}, queues: {7: [1]}}}\nlines: {lan: {tcp: {}, units: {1: old}}}`;
    const configuration = loaded(loadNativeFile(write('with-pymodbus.yaml', text)));
    const device = buildDevice(deviceOf(configuration, 'old'), SOURCE);
    expect(ask(device, '11')).toBe('110209ff');
    expect(ask(device, '18 0007')).toBe('18000400010001');
  });
});

describe('mistakes in it are told with their path', () => {
  const mistakes: [line: string, ...messages: string[]][] = [
    ['exceptionStatus: 5', 'exceptionStatus: expected a list of coil addresses, got 5'],
    ['exceptionStatus: {0: 1}', 'exceptionStatus: expected a list of coil addresses, got a mapping'],
    [
      'exceptionStatus: [0, 65536, "1", 1.5]',
      'exceptionStatus[1]: expected a whole number from 0 to 65535, got 65536',
      'exceptionStatus[2]: expected a whole number from 0 to 65535, got "1": write it without quotes',
      'exceptionStatus[3]: expected a whole number from 0 to 65535, got 1.5',
    ],
    [
      'exceptionStatus: [0, 1, 2, 3, 4, 5, 6, 7, 8]',
      'exceptionStatus: expected at most 8 coil addresses, got a list',
    ],
    ['serverId: 5', 'serverId: expected a mapping, got 5'],
    ['serverId: {}', 'serverId.id: missing, expected a byte, 0 to 255, or a list of 1 to 64 bytes'],
    ['serverId: {id: 1, running: "yes"}', 'serverId.running: expected true or false, got "yes"'],
    [
      'serverId: {id: 1, additional: "ü"}',
      'serverId.additional: expected printable ASCII text of at most 244 bytes, got "ü"',
    ],
    [
      'serverId: {id: 1, runing: true}',
      'serverId.runing: unknown key "runing", did you mean "running"? (known: id, running, additional)',
    ],
    ['files: []', 'files: expected files by number, got an empty list'],
    ['files: {}', 'files: expected files by number, got an empty mapping'],
    ['files: {0: {}}', 'files.0: expected a number from 1 to 65535, got "0"'],
    ['files: {65536: {}}', 'files.65536: expected a number from 1 to 65535, got "65536"'],
    ['files: {"01": {}}', 'files.01: expected a number from 1 to 65535, got "01"'],
    ['files: {log: {}}', 'files.log: expected a number from 1 to 65535, got "log"'],
    ['files: {"-1": {}}', 'files.-1: expected a number from 1 to 65535, got "-1"'],
    ['files: {1: 5}', 'files.1: expected a mapping, got 5'],
    ['files: {1: {records: 0}}', 'files.1.records: expected a whole number from 1 to 10000, got 0'],
    ['files: {1: {records: 10001}}', 'files.1.records: expected a whole number from 1 to 10000, got 10001'],
    ['files: {1: {values: 7}}', 'files.1.values: expected a list of words, got 7'],
    [
      'files: {1: {values: [0, 65536]}}',
      'files.1.values[1]: expected a whole number from 0 to 65535, got 65536',
    ],
    [
      'files: {1: {records: 2, values: [1, 2, 3]}}',
      'files.1.values: expected at most 2 words (records), got 3',
    ],
    [
      'files: {1: {readonly: true}}',
      'files.1.readonly: unknown key "readonly", did you mean "write"? (known: records, write, values)',
    ],
    ['queues: 5', 'queues: expected FIFO queues by address, got 5'],
    ['queues: {65536: []}', 'queues.65536: expected a number from 0 to 65535, got "65536"'],
    ['queues: {1: 5}', 'queues.1: expected a list of words, got 5'],
    ['queues: {1: [70000]}', 'queues.1[0]: expected a whole number from 0 to 65535, got 70000'],
    ['identity: {extended: 5}', 'identity.extended: expected objects by identifier, got 5'],
    ['identity: {extended: {127: x}}', 'identity.extended.127: expected a number from 128 to 255, got "127"'],
    ['identity: {extended: {256: x}}', 'identity.extended.256: expected a number from 128 to 255, got "256"'],
    ['identity: {extended: {128: 5}}', 'identity.extended.128: expected text (in quotes), got 5'],
    [
      'identity: {vendorName: 5, extended: {128: 5}}',
      'identity.vendorName: expected text (in quotes), got 5',
      'identity.extended.128: expected text (in quotes), got 5',
    ],
    [
      `identity: {extended: {128: ${'x'.repeat(245)}}}`,
      `identity.extended.128: expected printable ASCII text of at most 244 bytes, got "${'x'.repeat(60)}…"`,
    ],
  ];
  it.each(mistakes)('%s', (line, ...messages) => {
    expect(nativeMistakes(fileOf([line]))).toEqual(messages.map((message) => `devices.meter.${message}`));
  });

  it.each([
    ['256', 'id', '256'],
    ['"1"', 'id', '"1": write it without quotes'],
    ['[]', 'id', 'an empty list'],
    ['[1, -1]', 'id[1]', '-1'],
    [`[${Array(65).fill(1)}]`, 'id', 'a list'],
  ])('serverId: {id: %s}', (id, place, found) => {
    const [mistake = '', ...others] = nativeMistakes(fileOf([`serverId: {id: ${id}}`]));
    expect(others).toEqual([]);
    expect(mistake.startsWith(`devices.meter.serverId.${place}: expected `)).toBe(true);
    expect(mistake.endsWith(`, got ${found}`)).toBe(true);
  });

  it('all at once, in a device of a pymodbus file as well', () => {
    const text = fileOf(['files: {0: {}}', 'queues: 5', 'serverId: 5'], 'pymodbus: x.json');
    expect(nativeMistakes(text)).toEqual([
      'devices.meter.serverId: expected a mapping, got 5',
      'devices.meter.files.0: expected a number from 1 to 65535, got "0"',
      'devices.meter.queues: expected FIFO queues by address, got 5',
      'devices.meter.pymodbus: not here',
    ]);
  });
});

describe('manners of a device of the native file', () => {
  it('are those that its lines can have', () => {
    const serial = (manners: string) =>
      `devices:\n  meter:\n    registers: {coils: [{address: 0}]}\n    manners: ${manners}\nlines: {bus: {serial: {path: virtual}, units: {1: {copyOf: meter}}}}\n`;
    expect(nativeMistakes(serial('{sleeps: {after: 30s}}'))).toEqual([]);
    expect(
      nativeMistakes(serial('{connectPause: 1s, locksUp: {on: [address, {reconnect: 1s}], for: power}}')),
    ).toEqual([
      'devices.meter.manners.connectPause: needs a line with connections, and bus is serial',
      'devices.meter.manners.locksUp.on[1].reconnect: needs a line with connections, and bus is serial',
    ]);
    expect(nativeMistakes(fileOf(['manners: {holes: fill, slow: 1}']))).toHaveLength(2);
  });
});
