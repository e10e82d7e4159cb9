import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Simulator } from '../../src/simulator/simulator.js';
import { valueNames } from '../../src/simulator/value-names.js';
import { nativeSetup } from '../support/configuration.js';

const meter = {
  registers: {
    coils: [{ address: 3, value: 1, name: 'valve' }],
    input: [{ address: 7, value: 1, name: 'speed' }],
    holding: [
      { address: 10, type: 'float32', value: 230.1, name: 'voltage' },
      { address: 12, value: 1 },
      { address: 13, value: 5, name: 'current' },
    ],
  },
};

const simulator = new Simulator(
  nativeSetup({
    devices: { meter, plain: { registers: { holding: [{ address: 0 }] } } },
    lines: {
      bench: { serial: { path: 'virtual' }, units: { 1: 'meter', 2: 'plain' } },
      lan: { tcp: { port: 0 }, units: { '*': 'meter' } },
    },
  }),
  pino({ level: 'silent' }),
);

test.each([
  ['bench', 1, 3, 10, 4, ['meter.voltage', 'meter.current']],
  ['bench', 1, 3, 11, 1, ['meter.voltage']],
  ['bench', 1, 3, 12, 1, []],
  ['bench', 1, 4, 7, 1, ['meter.speed']],
  ['bench', 1, 5, 3, 1, ['meter.valve']],
  ['bench', 1, 24, 10, 1, []],
  ['bench', 2, 3, 0, 10, []],
  ['bench', 9, 3, 10, 4, []],
  ['lan', 9, 16, 13, 1, ['meter.current']],
  ['lan', 9, 3, 65_535, 125, []],
  ['gone', 1, 3, 10, 4, []],
])('line %s, unit %i, function %i, %i and %i: %j', (line, unitId, functionCode, address, quantity, names) => {
  expect(valueNames(simulator, { line, unitId, functionCode, address, quantity })).toEqual(names);
});
