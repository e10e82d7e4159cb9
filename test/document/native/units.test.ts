import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { DeviceNames, readUnits } from '../../../src/document/native/units.js';
import { cursor, deviceOf, loaded, mistakesOf, nativeMistakes, problemsOf, valueAt } from '../helpers.js';

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
    [
      { '0-3': 'meter' },
      'units.0-3: 0 is the broadcast address, which no device answers: expected a unit identifier from 1 to 247, a range or *, got "0-3"',
    ],
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
    [{ '1-5': 'meter', '3-7': 'other' }, 'units.3-7: unit identifier 3 is already in another entry'],
    [{ 3: 'meter', '3-3': 'other' }, 'units.3-3: unit identifier 3 is already in another entry'],
    [
      { '*': { copyOf: 'meter' } },
      'units.*: expected the name of a device; copies are for units that are listed, such as 1-247: {copyOf: meter}',
    ],
    [{ 1: 7 }, 'units.1: expected the name of a device, got 7'],
  ])('%j is a mistake', (value, message) => {
    expect(read(value).messages).toContain(message);
  });
});

describe('copies with values of their own', () => {
  const file = (unit: string, more = '') => `
devices:
  em30:
    registers: {holding: [{address: 0, type: string, length: 8, name: serial}, {address: 8, value: 7, name: node}, {address: 9, value: 5}]}
  ${more}
lines: {bus: {serial: {path: virtual}, units: ${unit}}}`;

  it('have the unit identifier in their texts, and all else as their device has it', () => {
    const text = file(
      '{1-2: {copyOf: em30, values: {serial: "EM30-{unit}", node: "10{unit}"}}, 3: {copyOf: em30}}',
    );
    expect(nativeMistakes(text)).toEqual([]);
    const configuration = loaded(loadNative(text, '.'));
    const valuesOf = (name: string) =>
      [0, 8, 9].map((at) => valueAt(deviceOf(configuration, name), 'holding', at));
    expect(valuesOf('em30-1')).toEqual(['EM30-1', 101, 5]);
    expect(valuesOf('em30-2')).toEqual(['EM30-2', 102, 5]);
    expect(valuesOf('em30-3')).toEqual(['', 7, 5]);
  });

  it('tell a name that the device does not have, and a value that its type can not hold', () => {
    const wrong = (values: string) =>
      problemsOf(loadNative(file(`{1: {copyOf: em30, values: ${values}}}`), '.')).map(
        ({ path, message }) => `${path}: ${message}`,
      );
    expect(wrong('{nodes: 5}')).toEqual([
      'lines.bus.units.1.values.nodes: unknown name "nodes", did you mean "node"? (known: serial, node)',
    ]);
    expect(wrong('{node: 70000}')).toEqual([
      'lines.bus.units.1.values.node: expected a whole number from 0 to 65535 (uint16), got 70000',
    ]);
  });

  it('tell a mistake once for all units of a range, all mistakes of a file together, and a value outside of its limits', () => {
    const node = '{address: 8, name: node, value: 7, write: true, limits: {max: 100, min: -1}}';
    const names = Array.from({ length: 30 }, (_, i) => `value${i}`);
    const more = names.map((name, i) => `{address: ${20 + i}, name: ${name}}`);
    const said = (units: string, manners = '{}') => {
      const text = `devices:\n  em30: {manners: ${manners}, registers: {holding: [${[node, ...more]}]}}\nlines: {bus: {serial: {path: virtual}, units: ${units}}}`;
      const result = loadNative(text, '.');
      const messages = result.ok ? result.warnings : [...result.problems, ...result.warnings];
      return messages.map(({ path, message }) => `${path}: ${message}`);
    };
    const below =
      'devices.em30.registers.holding[0].limits.min: -1 is outside the range of uint16, 0 to 65535';
    for (const units of ['{1-9: em30}', '{1-9: {copyOf: em30}}', '{1: {copyOf: em30, values: {node: 5}}}'])
      expect(said(units)).toEqual([below]);
    const outside = 'lines.bus.units.1-9.values.node: 500 is outside the limits, -1 to 100';
    expect(said('{1-9: {copyOf: em30, values: {node: 500}}}')).toEqual([below, outside]);
    expect(said('{1: em30, 2-9: em30, 10-19: {copyOf: em30}}', '{connectPause: 1s}')).toEqual([
      'devices.em30.manners.connectPause: needs a line with connections, and bus is serial',
      below,
    ]);
    const wrong = said(`{1-9: {copyOf: em30, values: {${names.map((name) => `${name}: -5`)}}}, 9-300: em}`);
    expect(wrong.filter((message) => message.includes('values.value'))).toHaveLength(30);
    expect(wrong.filter((message) => message.includes('units.9-300'))).toHaveLength(2);
    expect(wrong).toHaveLength(33);
  });

  it('are not there where a device has the name of the copy', () => {
    const relay = 'em30-2: {registers: {coils: [{address: 3}]}}';
    for (const values of ['', ', values: {node: 9}']) {
      const text = file(`{1-2: {copyOf: em30${values}}}`, relay);
      expect(nativeMistakes(text)).toEqual([]);
      const configuration = loaded(loadNative(text, '.'));
      expect(configuration.devices.map(({ name }) => name)).toEqual(['em30', 'em30-2', 'em30-1']);
      expect(deviceOf(configuration, 'em30-2').tables.coils.size).toBe(4);
    }
  });
});
