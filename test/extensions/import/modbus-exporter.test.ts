import { describe, expect, it } from 'vitest';
import { imported, refusedImport } from './helpers.js';

/* The configuration of modbus_exporter; the facts of its own example, typed again. */

const FILE = `
modules:
  - name: fake
    protocol: 'tcp/ip'
    metrics:
      - {name: power_total, help: power by phase, labels: {phase: "1"}, address: 300022, dataType: int16, metricType: counter, factor: 3.14}
      - name: some_gauge
        address: 30023
        dataType: int16
        metricType: gauge
      - {name: coil, address: 124, dataType: bool, bitOffset: 0, metricType: gauge}
      - {name: flag, address: 300030, dataType: bool, bitOffset: 3, metricType: gauge}
      - {name: half, address: 300040, dataType: float16, metricType: gauge}
      - {name: lost, address: 900040, dataType: int16, metricType: gauge}
  - name: meter
    protocol: serial
    metrics:
      - {name: volts, address: 300000, dataType: int32, metricType: gauge, factor: 0.1, endianness: yolo}
      - {name: energy, address: 400002, dataType: float32, metricType: gauge, endianness: little}
`;

describe('modules: of modbus_exporter', () => {
  it('become a device each, read by the function that the address begins with', () => {
    const { data, notes } = imported(FILE, 'modbus.yml');
    expect(Object.keys(data.devices)).toEqual(['fake', 'meter']);
    const { coils, holding } = data.devices.fake?.registers ?? {};
    expect(coils).toEqual([{ address: 24, name: 'coil', value: 0 }]);
    expect(holding).toMatchObject([
      { address: 22, name: 'power_total_1', type: 'int16', scale: 3.14, description: 'power by phase' },
      { address: 23, name: 'some_gauge', type: 'int16' },
      { address: 30 },
    ]);
    expect(data.devices.meter?.registers).toMatchObject({
      holding: [{ address: 0, name: 'volts', type: 'int32', scale: 0.1, wordOrder: 'little' }],
      input: [{ address: 2, name: 'energy', type: 'float32', wordOrder: 'little', byteOrder: 'little' }],
    });
    expect(notes.join('\n')).toContain('"half": unknown dataType "float16"');
    expect(notes.join('\n')).toContain(
      '"lost": address 900040: expected a function from 1 to 4 followed by an address',
    );
  });

  it('that are none are refused', () => {
    expect(refusedImport('modules: 5', 'x.yml', 'modbus-exporter')).toBe(
      'expected a modbus_exporter configuration with modules:',
    );
    expect(refusedImport('modules: [a, {metrics: [1]}]', 'x.yml', 'modbus-exporter')).toContain(
      'no registers found',
    );
  });
});
