import { describe, expect, it } from 'vitest';
import { DeviceNames, readUnits } from '../../../../src/files/config/native/units.js';
import { cursor, mistakesOf } from '../helpers.js';

function read(value: unknown, isTcp = false) {
  const at = cursor({ units: value });
  const devices = new DeviceNames(['meter', 'other']);
  const units = readUnits(at.key('units'), isTcp, devices);
  return {
    units: Object.fromEntries(units),
    copies: Object.fromEntries(devices.copies),
    messages: mistakesOf(at),
  };
}

describe('units of a line', () => {
  it('are given one by one, by range, or all the others', () => {
    expect(read({ 1: 'meter', '3-5': 'other', '*': 'meter' }).units).toEqual({
      1: 'meter',
      3: 'other',
      4: 'other',
      5: 'other',
      '*': 'meter',
    });
  });

  it('given alone go before a range that holds them', () => {
    expect(read({ 2: 'other', '1-3': 'meter' }).units).toEqual({ 1: 'meter', 2: 'other', 3: 'meter' });
  });

  it('of a whole line can have a copy of one device each', () => {
    const { units, copies } = read({ '1-247': { copyOf: 'meter' } });
    expect(Object.keys(units)).toHaveLength(247);
    expect(units[247]).toBe('meter-247');
    expect(copies['meter-247']).toBe('meter');
  });

  it.each([
    [{ '0-3': 'meter' }, 'units.0-3: expected a unit identifier from 1 to 247, a range or *, got "0-3"'],
    [{ '5-2': 'meter' }, 'units.5-2: expected a unit identifier from 1 to 247, a range or *, got "5-2"'],
    [
      { '1-248': 'meter' },
      'units.1-248: expected a unit identifier from 1 to 247, a range or *, got "1-248"',
    ],
    [
      { 1: { copyOf: 'metre' } },
      'units.1.copyOf: unknown device "metre", did you mean "meter"? (known: meter, other)',
    ],
    [{ 1: { copy: 'meter' } }, 'units.1.copyOf: missing, expected the name of a device'],
    [{ '1-5': 'meter', '3-7': 'other' }, 'units.3-7: unit identifier 3 is in another entry already'],
    [{ 3: 'meter', '3-3': 'other' }, 'units.3-3: unit identifier 3 is in another entry already'],
    [
      { '*': { copyOf: 'meter' } },
      'units.*: expected the name of a device; copies are for units that are listed, such as 1-247: {copyOf: meter}',
    ],
    [{ 1: 7 }, 'units.1: expected the name of a device, got 7'],
  ])('%j is a mistake', (value, message) => {
    expect(read(value).messages).toContain(message);
  });
});
