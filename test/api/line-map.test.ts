import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LineMap } from '../../src/api/line-map.js';
import { LocalDoor } from '../../src/door/local-door.js';
import { Simulator } from '../../src/simulator/simulator.js';
import { newTestRoom } from '../../src/testing/commands.js';
import { nativeSetup } from '../support/configuration.js';
import { frameEvent } from '../traffic/events.js';

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

const log = pino({ level: 'silent' });
const simulator = new Simulator(
  nativeSetup({
    devices: { meter, plain: { registers: { holding: [{ address: 0 }] } } },
    lines: {
      bench: { serial: { path: 'virtual' }, units: { 1: 'meter', 2: 'plain' } },
      lan: { tcp: { port: 0 }, units: { '*': 'meter' } },
    },
  }),
  log,
);

const map = new LineMap(new LocalDoor(newTestRoom(simulator, log)), simulator.traffic);

test.each([
  ['bench', 1, '03 000a 0004', ['meter.voltage', 'meter.current']],
  ['bench', 1, '03 000b 0001', ['meter.voltage']],
  ['bench', 1, '03 000c 0001', []],
  ['bench', 1, '04 0007 0001', ['meter.speed']],
  ['bench', 1, '05 0003 ff00', ['meter.valve']],
  ['bench', 1, '18 000a', []],
  ['bench', 2, '03 0000 000a', []],
  ['bench', 9, '03 000a 0004', []],
  ['lan', 9, '10 000d 0001 02 0005', ['meter.current']],
  ['lan', 9, '03 ffff 007d', []],
  ['gone', 1, '03 000a 0004', []],
])('a request on line %s to unit %i, %s, is about %j', async (line, unitId, pdu, names) => {
  const [view] = await map.views([frameEvent(pdu, { line, unitId })]);
  expect(view?.names ?? []).toEqual(names);
});
