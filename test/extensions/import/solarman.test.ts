import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importText } from '../../../src/extensions/import/import.js';
import { imported } from './helpers.js';

/* In the form of deye_hybrid.yaml (two registers, the low word first) and of sofar_hyd.yaml of ha-solarman (the high word first). */
const FILE = `
requests:
  - {start: 0x0003, end: 0x0070, mb_functioncode: 0x03}
  - {start: 0x0200, end: 0x0210, mb_functioncode: 0x04}
parameters:
  - group: solar
    items:
      - name: "PV1 Power"
        uom: "W"
        scale: 10
        rule: 1
        registers: [0x0003]
        validation: {min: 100, max: 300}
      - {name: "Total Production", uom: kWh, scale: 0.1, rule: 3, registers: [0x003F, 0x0040]}
      - {name: Battery Power, rule: 4, registers: [0x0051, 0x0050], platform: number}
      - {name: Serial, rule: 5, registers: [0x0010, 0x0011, 0x0012]}
      - {name: Clock, rule: 8, registers: [0x0016, 0x0017]}
      - {name: Apart, rule: 3, registers: [0x0020, 0x0025]}
      - {name: Temperature, scale: 0.1, offset: 1000, rule: 1, registers: [0x0030]}
      - {name: Status, rule: 1, registers: [0x0202], lookup: [{key: 0, value: Standby}, {key: 1, value: Normal}]}
      - {name: Grid, code: {read: 0x04, write: 0x10}, rule: 1, mask: 0x4, registers: [0x0060]}
      - {name: Losses, rule: 1, sensors: [{registers: [0x0065]}, {registers: [0x0066], operator: subtract}]}
      - {name: Bad, rule: 1, registers: [x]}
      - {name: Reset, platform: button}
`;

describe('an inverter definition of Solarman', () => {
  const { data, registers, notes } = imported(FILE, 'deye.yaml');

  it('becomes a device with its registers', () => {
    expect(data.lines.lan?.units).toEqual({ 1: 'deye' });
    expect(registers.holding).toEqual([
      {
        address: 3,
        name: 'PV1_Power',
        type: 'uint16',
        value: 20,
        unit: 'W',
        scale: 10,
        description: 'PV1 Power',
      },
      { address: 0x10, name: 'Serial', type: 'string', length: 3, value: '' },
      { address: 0x16, name: 'Clock', type: 'uint16', value: 0 },
      { address: 0x17, type: 'uint16', value: 0 },
      { address: 0x20, name: 'Apart', type: 'uint16', value: 0 },
      { address: 0x25, type: 'uint16', value: 0 },
      { address: 0x30, name: 'Temperature', type: 'uint16', value: 0, scale: 0.1 },
      {
        address: 0x3f,
        name: 'Total_Production',
        type: 'uint32',
        wordOrder: 'little',
        value: 0,
        unit: 'kWh',
        scale: 0.1,
        description: 'Total Production',
      },
      {
        address: 0x50,
        name: 'Battery_Power',
        type: 'int32',
        value: 0,
        write: true,
        description: 'Battery Power',
      },
      { address: 0x65, name: 'Losses', type: 'uint16', value: 0 },
      { address: 0x66, name: 'Losses_2', type: 'uint16', value: 0, description: 'Losses' },
    ]);
    expect(registers.input).toEqual([
      { address: 0x60, name: 'register_96', type: 'uint16', value: 0, description: 'mask 0x4: Grid' },
      { address: 0x202, name: 'Status', type: 'uint16', value: 0, description: '0: Standby, 1: Normal' },
    ]);
  });

  it('has what was not understood listed, with its lines', () => {
    expect(notes).toEqual([
      'line 17: "Clock": rule 8 is not supported, so its registers are served as plain registers',
      'line 18: "Apart": its registers are not consecutive, so its registers are served as plain registers',
      'line 19: "Temperature": its offset 1000 is ignored: the value is (stored - 1000) × 0.1',
      'line 22: "Losses": computed from several sensors, which are served separately',
      'line 23: "Bad": its registers are not a list of numbers',
    ]);
  });

  it('survives whatever stands in it', () => {
    const odd = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.constant(null),
      fc.array(fc.integer({ max: 99_999 }), { maxLength: 5 }),
    );
    const item = fc.record({
      name: odd,
      rule: odd,
      registers: odd,
      scale: odd,
      code: odd,
      lookup: odd,
      validation: odd,
    });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), odd, (items, requests) => {
        const text = JSON.stringify({ requests, parameters: [{ items }, requests] });
        importText(text, 'x.yaml', 'solarman');
      }),
    );
  });
});
