import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { importText } from '../../../src/extensions/import/import.js';
import { writeNative } from '../../../src/extensions/import/write.js';
import { tries } from '../../support/tries.js';
import { imported, refusedImport } from './helpers.js';

const homeAssistant = (text: string) => imported(text, 'configuration.yaml');

/** One hub with these entities. */
const hub = (entities: string) => `modbus:
  - name: hub
    type: tcp
    host: 10.0.0.7
    port: 502
${entities}`;

describe('modbus: of Home Assistant', () => {
  it('has sensors with types, scale, unit and swapped words and bytes', () => {
    const { registers, data, notes, text } = homeAssistant(
      hub(`    sensors:
      - {name: Voltage, slave: 3, address: 0x10, scale: 0.1, unit_of_measurement: V, min_value: 200, max_value: 260, precision: 1}
      - {name: Power, slave: 3, address: 20, data_type: float32, swap: word, input_type: input}
      - {name: Energy, slave: 3, address: 22, data_type: uint64, swap: word_byte, input_type: input}
      - {name: State, slave: 3, address: 30, data_type: uint16, swap: byte}
      - {name: Serial, slave: 3, address: 40, data_type: string, count: 8}
`),
    );
    expect(registers).toEqual({
      input: [
        { address: 20, name: 'Power', type: 'float32', wordOrder: 'little', value: 0 },
        { address: 22, name: 'Energy', type: 'uint64', wordOrder: 'little', byteOrder: 'little', value: 0 },
      ],
      holding: [
        { address: 16, name: 'Voltage', type: 'int16', value: 2300, unit: 'V', scale: 0.1 },
        { address: 30, name: 'State', type: 'uint16', byteOrder: 'little', value: 0 },
        { address: 40, name: 'Serial', type: 'string', length: 8, value: '' },
      ],
    });
    expect(data.lines.lan?.units).toEqual({ 3: 'hub' });
    expect(text).toContain('# Line lan replaces tcp://10.0.0.7:502.');
    expect(notes).toEqual([]);
  });

  it('has structures, copies, and the types of old releases', () => {
    const { registers } = homeAssistant(
      hub(`    sensors:
      - {name: Phases, slave: 1, address: 0, data_type: custom, count: 6, structure: ">3f"}
      - {name: Mixed, slave: 1, address: 10, data_type: custom, count: 5, structure: ">2Hi2s"}
      - {name: Cell, slave: 1, address: 20, data_type: uint16, slave_count: 2}
      - {name: Old, slave: 1, address: 30, data_type: uint, count: 2}
`),
    );
    expect(registers.holding?.map(({ address, name, type }) => [address, name, type])).toEqual([
      [0, 'Phases_1', 'float32'],
      [2, 'Phases_2', 'float32'],
      [4, 'Phases_3', 'float32'],
      [10, 'Mixed_1', 'uint16'],
      [11, 'Mixed_2', 'uint16'],
      [12, 'Mixed_3', 'int32'],
      [14, 'Mixed_4', 'string'],
      [20, 'Cell_1', 'uint16'],
      [21, 'Cell_2', 'uint16'],
      [22, 'Cell_3', 'uint16'],
      [30, 'Old', 'uint32'],
    ]);
  });

  it('has entities that are written, and what is read of them', () => {
    const { registers } = homeAssistant(
      hub(`    binary_sensors:
      - {name: Door, slave: 1, address: 5}
      - {name: Wet, slave: 1, address: 6, input_type: discrete_input, slave_count: 1}
    switches:
      - {name: Relay, slave: 1, address: 5, write_type: coil, verify: {address: 9, input_type: discrete_input}}
      - {name: Mode, slave: 1, address: 50, verify: }
    covers: [{name: Blind, slave: 1, address: 60, status_register: 61, status_register_type: input}]
    climates:
      - {name: Room, slave: 1, address: 70, input_type: input, data_type: int16, scale: 0.1, target_temp_register: 71, min_temp: 10, max_temp: 30, hvac_mode_register: {address: 72, values: {auto: 0}}, hvac_onoff_register: 73}
`),
    );
    expect(registers).toMatchObject({
      coils: [{ address: 5, name: 'Door' }],
      discrete: [
        { address: 6, name: 'Wet_1' },
        { address: 7, name: 'Wet_2' },
        { address: 9, name: 'Relay_state' },
      ],
      input: [
        { address: 61, name: 'Blind_state' },
        { address: 70, name: 'Room', value: 200 },
      ],
      holding: [
        { address: 50, name: 'Mode', write: true },
        { address: 60, name: 'Blind', write: true },
        { address: 71, name: 'Room_target', type: 'int16', value: 200, write: true },
        { address: 72, name: 'Room_hvac_mode', write: true },
        { address: 73, name: 'Room_hvac_onoff', write: true },
      ],
    });
    // Clients write the coil that the binary sensor only reads.
    expect(registers.coils?.[0]).toMatchObject({ write: true });
  });

  it('is also a list of hubs, as a file that modbus: !include names has it, and a package', () => {
    const sensor = '{name: a, slave: 1, address: 0}';
    expect(homeAssistant(`- type: tcp\n  host: a\n  sensors: [${sensor}]\n`).registers.holding).toHaveLength(
      1,
    );
    expect(
      homeAssistant(`heating:\n  modbus:\n    - type: tcp\n      sensors: [${sensor}]\n`).registers.holding,
    ).toHaveLength(1);
  });

  it('follows no !secret and no !include, and says where they are', () => {
    const { registers, notes } = homeAssistant(`
sensor: !include sensors.yaml
modbus:
  - name: hub
    type: tcp
    host: !secret host
    sensors:
      - name: a
        slave: !secret unit
        address: 0
      - name: b
        slave: 1
        address: 1
    switches: !include switches.yaml
`);
    expect(registers.holding).toMatchObject([{ address: 1, name: 'b' }]);
    expect(notes).toEqual([
      'line 6 and 1 more: the tag "!secret" is not supported',
      'line 14: the tag "!include" is not supported',
      'line 9: slave nothing: expected a number, so this entity is left out',
    ]);
    expect(refusedImport('modbus: !include modbus.yaml\n', 'c.yaml')).toContain(
      '"!include" is not supported',
    );
  });

  it('uses the last value of a repeated key, as Home Assistant does, and says so', () => {
    const { registers, notes } = homeAssistant(
      hub(`    sensors:
      - name: a
        slave: 1
        address: 1
        scale: 2
        address: 5
`),
    );
    expect(registers.holding).toMatchObject([{ address: 5, name: 'a', scale: 2 }]);
    expect(notes).toEqual(['line 11: this key appears twice; the last value is used']);
  });

  it('says what it does not keep or understand', () => {
    const { notes, registers } = homeAssistant(
      hub(`    sensors:
      - {name: a, address: 0, offset: 5}
      - {name: b, slave: 1, address: 1, data_type: float16}
      - {name: c, slave: 1, address: 2, data_type: bcd}
      - {name: d, slave: 1, address: 3, data_type: custom, count: 2, structure: ">xyz"}
      - {name: e, slave: 1}
      - {name: f, slave: 1, address: 9, input_type: coils_}
      - seven
`),
    );
    expect(registers.holding?.map(({ address }) => address)).toEqual([0, 1, 3, 4]);
    expect(notes).toEqual([
      'line 7: offset 5 is ignored: the value here is stored × scale',
      'line 8: float16 is not supported: the register is served as a plain register',
      'line 9: unknown data_type "bcd"',
      'line 10: structure ">xyz" of 2 registers is not understood, so each is served as uint16',
      'line 11: address nothing: expected a number, so this entity is left out',
      'line 12: "coils_": expected holding, input, coil or discrete_input',
      'line 13: "seven": expected an entity',
      'line 7: no slave: Home Assistant uses unit 0 or 1, depending on its version. Unit 1 is used here; on TCP, a single device also answers requests to unit 0',
    ]);
  });

  it('follows anchors and merge keys', () => {
    const { registers } = homeAssistant(
      hub(`    sensors:
      - &base {name: a, slave: 1, address: 0, data_type: float32, input_type: input}
      - {<<: *base, name: b, address: 2}
`),
    );
    expect(registers.input).toMatchObject([
      { address: 0, name: 'a' },
      { address: 2, name: 'b', type: 'float32' },
    ]);
  });

  it.each([
    ['modbus:\n  - [', 'not YAML: line '],
    [`modbus: ${'['.repeat(5000)}`, 'not YAML: '],
    ['modbus:\n', 'no registers found'],
    ['modbus: 5\n', 'no registers found'],
    ['a: &a [1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nmodbus: {sensors: [*b]}', 'no registers found'],
  ])('refuses %j in a sentence', (text, sentence) => {
    expect(refusedImport(text, 'c.yaml')).toContain(sentence);
  });

  it('never throws, and what it writes has no mistakes, whatever the entities are', () => {
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.constantFrom(
        'float32',
        'string',
        'custom',
        'input',
        'coil',
        '>3f',
        '__proto__',
        {},
        [],
        null,
        -1,
        0.5,
        1e300,
        { address: 3 },
        7,
      ),
      fc.integer({ min: -2, max: 70_000 }),
      fc.string({ maxLength: 8 }),
    );
    const keys = [
      'name',
      'address',
      'slave',
      'count',
      'data_type',
      'structure',
      'scale',
      'offset',
      'swap',
      'input_type',
      'write_type',
      'verify',
      'min_value',
      'max_value',
      'slave_count',
      'target_temp_register',
      'hvac_mode_register',
      'status_register',
      '<<',
    ];
    const entity = fc.dictionary(fc.constantFrom(...keys), value);
    const lists = fc.dictionary(
      fc.constantFrom('sensors', 'binary_sensors', 'switches', 'covers', 'climates', 'name', 'host'),
      fc.oneof(
        fc.array(
          fc.oneof(
            entity.map((each) => ({ address: 1, slave: 1, ...each })),
            value,
          ),
          { maxLength: 4 },
        ),
        value,
      ),
    );
    fc.assert(
      fc.property(lists, (all) => {
        const result = importText(JSON.stringify({ modbus: [all] }), 'c.yaml', 'home-assistant');
        if (!result.ok) return;
        const loaded = loadNative(writeNative(result.value, 'c.yaml').text, '.');
        expect(loaded.ok ? [] : loaded.problems).toEqual([]);
      }),
      { numRuns: tries(500) },
    );
  });
});
