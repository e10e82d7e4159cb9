import { expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';

const meter = { registers: { holding: [{ address: 0, name: 'a\u001bb' }] } };

it('says of every name with control characters that they are not allowed there', () => {
  const loaded = loadNative(
    {
      devices: { 'a\u0007b': { registers: { holding: [{ address: 0 }] } }, meter },
      lines: { 'l\u0085n': { tcp: { port: 5020 }, units: { 1: 'meter' } } },
      faults: [{ name: 'slow\n', do: { delay: 1 } }],
    },
    '.',
  );
  const wrong = [
    'devices["a\\u0007b"]',
    'devices.meter.registers.holding[0].name',
    'lines["l\\u0085n"]',
    'faults[0].name',
  ];
  expect(loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`)).toEqual(
    wrong.map((path) => `${path}: control characters are not allowed in a name`),
  );
});

it.each(['', '.', '..', 'x'.repeat(65)])('%j is no name of a line', (name) => {
  const loaded = loadNative({ devices: {}, lines: { [name]: { tcp: { port: 5020 }, units: {} } } }, '.');
  expect(loaded.ok ? [] : loaded.problems.map(({ message }) => message)).toContain(
    'expected a line name of 1 to 64 characters, not "." or ".."',
  );
});

it.each(['\ud800', 'x\udc00y'])(
  'half a character, as in %j, is in no name of a device, a line, a rule or a value',
  (half) => {
    const loaded = loadNative(
      {
        devices: { [half]: { registers: { holding: [{ address: 0, name: half }] } } },
        lines: { [half]: { tcp: { port: 5020 }, units: { 1: half } } },
        faults: [{ name: half, do: { delay: 1 } }],
      },
      '.',
    );
    const paths = loaded.ok ? [] : loaded.problems.map(({ path }) => path.replace(/\[".*"\]/, '[]'));
    expect(paths).toEqual(
      expect.arrayContaining([
        'devices[]',
        'lines[]',
        'devices[].registers.holding[0].name',
        'faults[0].name',
      ]),
    );
  },
);
