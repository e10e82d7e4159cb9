import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../src/document/load.js';
import { deviceOf, imageOf, loaded, valueAt } from './helpers.js';

const demo = loaded(loadConfiguration({ kind: 'demo' }));
const meter = deviceOf(demo, 'meter');

describe('the built-in demo', () => {
  it('has a virtual serial line, TCP on port 5020 and REST on port 8080, all on this machine', () => {
    expect(demo.lines).toMatchObject([
      {
        kind: 'serial',
        name: 'demo',
        path: 'virtual',
        baudRate: 9600,
        dataBits: 8,
        parity: 'none',
        stopBits: 1,
      },
      { kind: 'tcp', name: 'lan', host: '127.0.0.1', port: 5020 },
    ]);
    expect([...(demo.lines[0]?.units ?? [])]).toEqual([
      [1, 'meter'],
      [2, 'switch'],
    ]);
    expect(demo.api).toEqual({ host: '127.0.0.1', port: 8080 });
  });

  it('has ten plain holding registers to read and write first', () => {
    const image = imageOf(meter.tables.holding.layout);
    for (let address = 0; address < 10; address++) {
      expect(image.typeAt(address)).toBe('uint16');
      expect(image.isWritable(address)).toBe(true);
    }
  });

  it('has voltages, an energy counter and a serial number', () => {
    expect(valueAt(meter, 'input', 0)).toBeCloseTo(230.1, 3);
    expect(imageOf(meter.tables.input.layout).actionAt(20)).toEqual({ name: 'increment' });
    expect(valueAt(meter, 'holding', 100)).toBe('SIM-000001');
  });
});
