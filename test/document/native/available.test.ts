import { describe, expect, it } from 'vitest';
import { checkFile } from '../../../src/document/load.js';
import { nativeMistakes, scratchFiles } from '../helpers.js';

const write = scratchFiles();

const fileOf = (entry: string, table = 'holding') => `
devices: {meter: {registers: {${table}: [{address: 0, ${entry}}]}}}
lines: {lan: {tcp: {}, units: {1: meter}}}
`;
const AT = 'devices.meter.registers.holding[0]';

describe('values that are not available in a native file', () => {
  it.each([
    'unavailable: [{from: 22h, for: 8h, every: 24h}]',
    'unavailable: [{from: 1s, for: 1m}, {from: 1h}], quantity: 3',
    'available: false',
    'available: true, type: string, value: ab',
    'name: a, notAvailable: 0x8000',
    'name: a, type: string, length: 2, notAvailable: "----", available: false',
    'name: a, type: float32, notAvailable: 9999.5, available: false',
  ])('are taken: %s', (entry) => {
    expect(nativeMistakes(fileOf(entry))).toEqual([]);
  });

  it.each([
    [
      'unavailable: [{from: 22h, for: 8h, every: 4h}]',
      `${AT}.unavailable[0].every: expected more than \`for\`, which is 28800000 ms, got 14400000`,
    ],
    [
      'unavailable: [{form: 22h}]',
      `${AT}.unavailable[0].form: unknown key "form", did you mean "from"? (known: from, for, every)`,
    ],
    ['unavailable: []', `${AT}.unavailable: expected at least one window, got an empty list`],
    [
      'unavailable: night',
      `${AT}.unavailable: expected a list of windows, as in [{from: 10s, for: 5s}], got "night"`,
    ],
    [
      `unavailable: [${Array(65).fill('{from: 1}').join(', ')}]`,
      `${AT}.unavailable: expected at most 64 windows, got 65`,
    ],
    ['available: night', `${AT}.available: expected true, false or whenWritten, got "night"`],
    [
      'type: string, value: ab, available: false',
      `${AT}.available: string has no value that means "not available", expected notAvailable in the entry`,
    ],
    [
      'type: bits, unavailable: [{}]',
      `${AT}.unavailable: bits has no value that means "not available", expected notAvailable in the entry`,
    ],
    [
      'name: a, notAvailable: 65536',
      `${AT}.notAvailable: expected a whole number from 0 to 65535 (uint16), got 65536`,
    ],
    [
      'name: a, notAvailable: 0.5, scale: 0.1',
      `${AT}.notAvailable: expected a whole number from 0 to 65535 (uint16), the stored number before the scale of 0.1, got 0.5`,
    ],
    [
      'name: a, type: string, length: 1, notAvailable: "----"',
      `${AT}.notAvailable: expected text of at most 2 bytes (two per register), got 4, got "----"`,
    ],
  ])('are refused: %s', (entry, message) => {
    expect(nativeMistakes(fileOf(entry))).toEqual([message]);
  });

  it('need a sentinel where they are bits', () => {
    expect(nativeMistakes(fileOf('available: false, notAvailable: 1', 'coils'))).toEqual([]);
    expect(nativeMistakes(fileOf('available: false', 'coils'))).toEqual([
      'devices.meter.registers.coils[0].available: bit has no value that means "not available", expected notAvailable in the entry',
    ]);
  });

  it('get a hint where nothing can make them so', () => {
    const { warnings } = checkFile(write('hint.yaml', fileOf('notAvailable: 5')));
    expect(warnings).toMatchObject([
      {
        path: `${AT}.notAvailable`,
        message:
          'has no effect: the value is never unavailable. Add `unavailable`, or a `name` so that REST can make it unavailable',
      },
    ]);
  });
});
