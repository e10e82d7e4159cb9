import { describe, expect, it } from 'vitest';
import {
  describeSettings,
  hasParityMarks,
  keptLinesTermios2,
  markedTermios2,
  parseTermios2,
  rawTermios2,
  settingsDifference,
} from '../../../../src/modbus/transport/port/termios.js';

/**
 * struct termios2 as TCGETS2 delivered it on a new pseudo-terminal (x64, Linux 6.18): 38400 8N1, cooked.
 * Fields: iflag, oflag, cflag, lflag, line, 19 control characters, ispeed, ospeed.
 */
const cooked =
  '00050000 05000000 bf000000 3b8a0000 00 031c7f15040001 0011131a00120f17160000 00 00960000 00960000';
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
/** The same structure with other control flags and speed, both as little-endian hex. */
const withFlags = (flags: string, speed: string): Uint8Array =>
  bytesOf(`00000000 00000000 ${flags} 00000000 00 00000000000001 000000000000000000000000 ${speed} ${speed}`);

describe('line settings in a termios2 structure', () => {
  const table: [string, string, string][] = [
    // CS8 CREAD CLOCAL, with PARENB 0x100, PARODD 0x200, CSTOPB 0x40, CMSPAR 0x40000000
    ['b0080000', '80250000', '9600 8N1'],
    ['b0090000', '004b0000', '19200 8E1'],
    ['b00b0000', '004b0000', '19200 8O1'],
    ['f0080000', '80250000', '9600 8N2'],
    ['a0090000', '60090000', '2400 7E1'],
    ['b0090040', '80250000', '9600 8S1'],
    ['b00b0040', '80250000', '9600 8M1'],
    ['b0080000', '00093d00', '4000000 8N1'],
    ['b0080000', 'b8c20100', '115384 8N1'],
    ['80080000', '32000000', '50 5N1'],
  ];
  it.each(table)('control flags %s and speed %s are %s', (flags, speed, text) => {
    expect(describeSettings(parseTermios2(withFlags(flags, speed)))).toBe(text);
  });

  it('reads the settings of a new pseudo-terminal', () => {
    expect(bytesOf(cooked)).toHaveLength(44);
    expect(parseTermios2(bytesOf(cooked))).toEqual({
      baudRate: 38400,
      dataBits: 8,
      parity: 'none',
      stopBits: 1,
    });
  });

  it('reads a structure in the middle of a larger buffer', () => {
    const larger = new Uint8Array(60).fill(0xff);
    larger.set(withFlags('b0090000', '004b0000'), 8);
    expect(describeSettings(parseTermios2(larger.subarray(8, 52)))).toBe('19200 8E1');
  });
});

describe('raw mode', () => {
  it('switches off all translation and echo, and keeps speed and control characters', () => {
    const raw = rawTermios2(bytesOf(cooked));
    expect(Buffer.from(raw).toString('hex')).toBe(
      '0000000000000000bf080000' +
        '00000000' +
        '00031c7f15040001' +
        '0011131a00120f17160000' +
        '00' +
        '0096000000960000',
    );
  });

  it('takes parity off and makes characters 8 bits wide', () => {
    expect(describeSettings(parseTermios2(rawTermios2(withFlags('a0090000', '60090000'))))).toBe('2400 8N1');
  });

  it('waits for one byte and no timer, whatever was set before', () => {
    const odd = bytesOf(cooked);
    odd[17 + 5] = 9;
    odd[17 + 6] = 0;
    const raw = rawTermios2(odd);
    expect([raw[17 + 5], raw[17 + 6]]).toEqual([0, 1]);
    expect(odd[17 + 5], 'the given structure is left alone').toBe(9);
  });
});

it('modem lines are kept at the last close by taking off HUPCL, and nothing else changes', () => {
  const before = withFlags('bf0c0000', 'bf0c0000');
  const kept = keptLinesTermios2(before);
  expect([...kept.subarray(8, 12)]).toEqual([0xbf, 0x08, 0, 0]);
  before.set(kept.subarray(8, 12), 8);
  expect(kept).toEqual(before);
});

describe('marks for damaged characters', () => {
  it('are set without the flags that would drop them or make them ambiguous, and nothing else changes', () => {
    // IGNPAR 4, PARMRK 8, INPCK 0x10, ISTRIP 0x20, IXON 0x400
    const before = bytesOf(cooked);
    before.set([0x24, 0x04], 0);
    const marked = markedTermios2(before);
    expect([...marked.subarray(0, 4)]).toEqual([0x18, 0x04, 0, 0]);
    expect(marked.subarray(4)).toEqual(before.subarray(4));
  });

  it.each([
    [0x18, true],
    [0x00, false],
    [0x08, false],
    [0x10, false],
    [0x1c, false],
    [0x38, false],
  ])('with input flags %i: %s', (flags, expected) => {
    const bytes = bytesOf(cooked);
    bytes.set([flags, 0], 0);
    expect(hasParityMarks(bytes)).toBe(expected);
  });
});

describe('settings wanted and settings found', () => {
  const wanted = { baudRate: 115200, dataBits: 8, parity: 'even', stopBits: 1 } as const;

  it('agree when the driver reports the rate that its divisor makes', () => {
    expect(settingsDifference(wanted, { ...wanted, baudRate: 115384 })).toBeUndefined();
  });

  it('differ when a mini UART dropped the parity', () => {
    expect(settingsDifference(wanted, { ...wanted, parity: 'none' })).toEqual({
      wanted: '115200 8E1',
      found: '115200 8N1',
    });
  });

  it.each([{ baudRate: 110000 }, { baudRate: 9600 }, { dataBits: 7 }, { stopBits: 2 }] as const)(
    'differ in %o',
    (change) => {
      expect(settingsDifference(wanted, { ...wanted, ...change })).toBeDefined();
    },
  );
});
