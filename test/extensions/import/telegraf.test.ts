import { describe, expect, it } from 'vitest';
import { imported, refusedImport } from './helpers.js';

const telegraf = (text: string) => imported(text, 'telegraf.conf');

describe('inputs.modbus of Telegraf', () => {
  it('in the style "register" has lists of consecutive addresses', () => {
    const { registers, data, text } = telegraf(`
[[inputs.modbus]]
  name = "Meter"
  slave_id = 7
  controller = "tcp://10.0.0.7:502"
  coils = [{ name = "run", address = [3] }]
  discrete_inputs = [{ name = "ready", address = [0] }]
  holding_registers = [
    { name = "voltage", byte_order = "AB", data_type = "FIXED", scale = 0.1, address = [0] },
    { name = "energy", byte_order = "CDAB", data_type = "UFIXED", scale = 0.001, address = [5, 6] },
    { name = "power", byte_order = "BADC", data_type = "FLOAT32-IEEE", scale = 1.0, address = [8, 9] },
    { name = "total", byte_order = "HGFEDCBA", data_type = "INT64", scale = 1.0, address = [20, 21, 22, 23] },
  ]
  input_registers = [{ name = "level", byte_order = "BA", data_type = "INT16", scale = 1.0, address = [0] }]
`);
    expect(registers).toEqual({
      coils: [{ address: 3, name: 'run', value: 0 }],
      discrete: [{ address: 0, name: 'ready', value: 0 }],
      input: [{ address: 0, name: 'level', type: 'int16', byteOrder: 'little', value: 0 }],
      holding: [
        { address: 0, name: 'voltage', type: 'int16', value: 0, scale: 0.1 },
        { address: 5, name: 'energy', type: 'uint32', wordOrder: 'little', value: 0, scale: 0.001 },
        { address: 8, name: 'power', type: 'float32', byteOrder: 'little', value: 0 },
        { address: 20, name: 'total', type: 'int64', wordOrder: 'little', byteOrder: 'little', value: 0 },
      ],
    });
    expect(data.lines.lan?.units).toEqual({ 7: 'Meter' });
    expect(text).toContain('# Line lan replaces tcp://10.0.0.7:502.');
  });

  it('in the style "request" has a unit and a byte order for each request', () => {
    const { data, notes } = telegraf(`
[[inputs.modbus]]
  name = "Bus"
  configuration_type = "request"
  controller = "file:///dev/ttyUSB0"
  [[inputs.modbus.request]]
    slave_id = 1
    register = "coil"
    fields = [{ address = 0, name = "run" }, { address = 1, omit = true }]
  [[inputs.modbus.request]]
    slave_id = 1
    byte_order = "DCBA"
    fields = [
      { address = 0, name = "voltage", type = "INT16", scale = 0.1 },
      { address = 1, name = "current", type = "INT32" },
      { address = 3, type = "UINT32", omit = true },
    ]
  [[inputs.modbus.request]]
    slave_id = 2
    register = "input"
    fields = [{ address = 4, name = "hours", type = "FLOAT64" }]
`);
    expect(data.lines.lan?.units).toEqual({ 1: 'Bus', 2: 'Bus-2' });
    expect(data.devices.Bus?.registers).toMatchObject({
      coils: [{ address: 0 }, { address: 1 }],
      holding: [
        { address: 0, type: 'int16', byteOrder: 'little', scale: 0.1 },
        { address: 1, type: 'int32', byteOrder: 'little', wordOrder: 'little' },
        { address: 3, type: 'uint32' },
      ],
    });
    expect(data.devices['Bus-2']?.registers.input).toMatchObject([
      { address: 4, name: 'hours', type: 'float64' },
    ]);
    expect(notes).toEqual([]);
  });

  it('in the style "metric" has strings, bits and bytes', () => {
    const { registers, notes } = telegraf(`
[[inputs.modbus]]
  configuration_type = "metric"
  controller = "tcp://a:502"
  [[inputs.modbus.metric]]
    slave_id = 1
    byte_order = "MSW-LE"
    fields = [
      { register = "coil", address = 0, name = "door" },
      { address = 9, name = "firmware", type = "STRING", length = 8 },
      { address = 1, name = "alarm", type = "BIT" },
      { address = 1, name = "fault", type = "BIT", bit = 5 },
      { address = 2, name = "level", type = "UINT8H" },
      { address = 3, name = "what", type = "BCD" },
    ]
`);
    expect(registers).toMatchObject({
      coils: [{ address: 0, name: 'door' }],
      holding: [
        { address: 1, name: 'register_1', description: 'bit 0: alarm; bit 5: fault' },
        { address: 2, description: 'high byte: level' },
        { address: 9, name: 'firmware', type: 'string', length: 8, byteOrder: 'little' },
      ],
    });
    expect(notes).toEqual(['inputs.modbus[0].metric[0].fields[5]: "what": unknown type "BCD"']);
  });

  it('puts plugins with one controller on one line, and others on lines of their own', () => {
    const plugin = (controller: string, unit: number) =>
      `[[inputs.modbus]]\ncontroller = "${controller}"\nname = "m"\nslave_id = ${unit}\ncoils = [{ name = "a", address = [0] }]\n`;
    const { data } = telegraf(plugin('tcp://a:502', 1) + plugin('tcp://a:502', 2) + plugin('tcp://b:502', 1));
    expect(data.lines).toMatchObject({
      lan1: { tcp: { port: 5020 }, units: { 1: 'm', 2: 'm-2' } },
      lan2: { tcp: { port: 5021 }, units: { 1: 'm-1' } },
    });
  });

  it('says that FLOAT32 is no float to Telegraf, and what it does not understand', () => {
    const { registers, notes } = telegraf(`
[[inputs.modbus]]
  holding_registers = [
    { name = "a", byte_order = "ABCD", data_type = "FLOAT32", scale = 1.0, address = [0, 1] },
    { name = "b", byte_order = "ABCD", data_type = "UINT32", scale = 1.0, address = [2, 4] },
    { name = "c", byte_order = "ACBD", data_type = "UINT32", scale = 1.0, address = [6, 7] },
  ]
  request = [{ slave_id = 1 }]
`);
    expect(registers.holding).toMatchObject([
      { name: 'a', type: 'uint32' },
      { name: 'c', type: 'uint32' },
    ]);
    expect(notes).toEqual([
      'inputs.modbus[0]: data_type FLOAT32 is an unsigned integer in Telegraf and here; FLOAT32-IEEE is the float',
      'inputs.modbus[0].holding_registers[1]: "b": expected consecutive addresses',
      'inputs.modbus[0].holding_registers[2]: "c": unknown byte order, so the high byte comes first',
      'inputs.modbus[0].request: Telegraf does not use it with configuration_type "register"',
    ]);
  });

  it.each([
    ['[[inputs.modbus]]\nname = ', 'not TOML: '],
    [`[[inputs.modbus]]\na = ${'['.repeat(10_000)}`, 'not TOML: '],
    ['[[inputs.modbus]]\nname = "empty"', 'no registers found'],
    ['[[inputs.modbus.request]]\nslave_id = "x"\n', 'no registers found'],
    ['[inputs]\nmodbus = 1\n[[inputs.modbus]]', 'not TOML'],
  ])('refuses %j in a sentence', (text, sentence) => {
    expect(refusedImport(text, 'telegraf.conf')).toContain(sentence);
  });

  it('takes __proto__ as a name like any other', () => {
    const text =
      '[[inputs.modbus]]\nname = "__proto__"\ncoils = [{ name = "__proto__", address = [0] }]\n[__proto__]\na = 1\n';
    expect(telegraf(text).registers.coils).toMatchObject([{ name: 'proto' }]);
  });
});
