import { expect, it } from 'vitest';
import { ptyAdapter } from '../../../../src/modbus/transport/port/adapter.js';
import { serialTimes } from '../../../../src/modbus/transport/serial/behaviour.js';
import type { SerialSettings } from '../../../../src/modbus/transport/settings.js';

const LINE: SerialSettings = {
  kind: 'serial',
  name: 'bench',
  framing: 'rtu',
  mode: 'server',
  path: 'virtual',
  baudRate: 9600,
  dataBits: 8,
  parity: 'even',
  stopBits: 1,
  timing: { turnaround: 't3.5' },
  whenBusy: 'replace',
  echo: 'auto',
};

it.each<[string, Partial<SerialSettings>, characterTime: number, gap: number]>([
  ['8N1', { parity: 'none' }, 1.0417, 41.75],
  ['7E1', { dataBits: 7 }, 1.0417, 41.75],
  ['8E1', {}, 1.1458, 43.625],
  ['8E2', { stopBits: 2 }, 1.25, 45.5],
])('a character of %s takes its own time on the wire, t1.5 and t3.5 stay', (_, format, time, gap) => {
  const settings = { ...LINE, ...format };
  const times = serialTimes(settings, ptyAdapter);
  expect(times.characterTime).toBeCloseTo(time, 3);
  expect(times.gap).toBeCloseTo(gap, 3);
  expect(times.t15).toBeCloseTo(16.5 / 9.6, 6);
  expect(times.t35).toBeCloseTo(38.5 / 9.6, 6);
  expect(times.turnaround).toBe(times.t35);
});
