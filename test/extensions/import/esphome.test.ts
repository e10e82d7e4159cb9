import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { importText } from '../../../src/extensions/import/import.js';
import { writeNative } from '../../../src/extensions/import/write.js';
import { tries } from '../../support/tries.js';
import { imported, refusedImport } from './helpers.js';

const FILE = `
wifi: {password: !secret wifi}
modbus_controller:
  - {id: epever, address: 0x3, modbus_id: mod}
  - {id: other, address: 4}
sensor:
  - platform: uptime
    name: Uptime
  - {platform: modbus_controller, modbus_controller_id: epever, name: PV voltage, address: 0x3100, register_type: read, value_type: U_WORD, unit_of_measurement: V, filters: [{multiply: 0.01}]}
  - {platform: modbus_controller, name: Energy, address: 0x3312, register_type: read, value_type: U_DWORD_R}
  - {platform: modbus_controller, modbus_controller_id: other, id: power, address: 10, register_type: holding, value_type: FP32, lambda: "return x;"}
  - {platform: modbus_controller, name: Odd, address: 12, register_type: holding, value_type: RAW}
binary_sensor:
  - {platform: modbus_controller, name: Charging, address: 0x3200, register_type: read, bitmask: 0x8}
  - {platform: modbus_controller, name: Night, address: 0x200C, register_type: discrete_input}
text_sensor:
  - {platform: modbus_controller, name: Clock, address: 0x9013, register_type: holding, register_count: 3, response_size: 6}
number:
  - {platform: modbus_controller, name: Limit, address: 0x9002, value_type: U_WORD, multiply: 100}
switch:
  - {platform: modbus_controller, name: Load, address: 2, register_type: coil}
`;

describe('modbus_controller: of ESPHome', () => {
  it('becomes a device for each controller', () => {
    const { data, notes } = imported(FILE, 'node.yaml');
    expect(data.lines.lan?.units).toEqual({ 3: 'epever', 4: 'other' });
    expect(data.devices.epever?.registers).toEqual({
      coils: [{ address: 2, name: 'Load', value: 0, write: true }],
      discrete: [{ address: 0x200c, name: 'Night', value: 0 }],
      input: [
        {
          address: 0x3100,
          name: 'PV_voltage',
          type: 'uint16',
          value: 0,
          unit: 'V',
          scale: 0.01,
          description: 'PV voltage',
        },
        {
          address: 0x3200,
          name: 'register_12800',
          type: 'uint16',
          value: 0,
          description: 'bitmask 0x8: Charging',
        },
        { address: 0x3312, name: 'Energy', type: 'uint32', wordOrder: 'little', value: 0 },
      ],
      holding: [
        { address: 0x9002, name: 'Limit', type: 'uint16', value: 0, write: true, scale: 0.01 },
        { address: 0x9013, name: 'Clock', type: 'string', length: 3, value: '' },
      ],
    });
    expect(data.devices.other?.registers.holding).toMatchObject([
      { address: 10, name: 'power', type: 'float32' },
    ]);
    expect(notes).toEqual([
      'line 11: "power": its lambda is not evaluated',
      'line 12: "Odd": unknown value_type "RAW"',
    ]);
  });

  it.each([
    ['modbus_controller:\n  - id: a\nsensor: 5\n', 'no registers found'],
    ['modbus_controller: [\n', 'not YAML'],
  ])('refuses %j in a sentence', (text, sentence) => {
    expect(refusedImport(text, 'node.yaml')).toContain(sentence);
  });

  it('never throws, and what it writes has no mistakes, whatever the entities are', () => {
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.constantFrom(
        'U_WORD',
        'FP32_R',
        'holding',
        'coil',
        '__proto__',
        {},
        [],
        [{ multiply: 0 }],
        null,
        -1,
        0.5,
        1e300,
        3,
      ),
      fc.integer({ min: -2, max: 70_000 }),
    );
    const keys = [
      'name',
      'address',
      'register_type',
      'value_type',
      'offset',
      'bitmask',
      'register_count',
      'filters',
      'multiply',
    ];
    const entity = fc
      .dictionary(fc.constantFrom(...keys), value)
      .map((each) => ({ platform: 'modbus_controller', address: 1, register_type: 'holding', ...each }));
    const platform = fc.constantFrom('sensor', 'text_sensor', 'binary_sensor', 'number', 'switch');
    fc.assert(
      fc.property(platform, fc.array(entity, { maxLength: 3 }), (key, entities) => {
        const text = JSON.stringify({ modbus_controller: { address: 1 }, [key]: entities });
        const result = importText(text, 'x.yaml', 'esphome');
        if (!result.ok) return;
        const loaded = loadNative(writeNative(result.value, 'x.yaml').text, '.');
        expect(loaded.ok ? [] : loaded.problems).toEqual([]);
      }),
      { numRuns: tries(500) },
    );
  });
});

it('the low byte of a word comes first with _S, and merge keys bring what entities share', () => {
  const { registers } = imported(
    `
modbus_controller: [{id: pump, address: 88}]
.heat: &heat {platform: modbus_controller, register_type: holding, value_type: S_WORD_S, filters: [{multiply: 0.1}]}
sensor:
  - {<<: *heat, name: Tank, address: 101}
  - {<<: *heat, name: Phase, address: 102, value_type: U_WORD_S}
`,
    'node.yaml',
  );
  expect(registers.holding).toMatchObject([
    { address: 101, type: 'int16', byteOrder: 'little', scale: 0.1 },
    { address: 102, type: 'uint16', byteOrder: 'little', scale: 0.1 },
  ]);
});

it('a package without its controller is unit 1, which the file says', () => {
  const { preview, data } = imported(
    'sensor: [{platform: modbus_controller, modbus_controller_id: fan, name: P, register_type: read, address: 4023}]\n',
    'pack.yaml',
  );
  expect(preview).toEqual(['no file defines the controller "fan", so the unit is 1']);
  expect(data.lines.lan?.units).toEqual({ 1: 'fan' });
});
