import { expect, it } from 'vitest';
import { imported, refusedImport } from './helpers.js';

/* Templates of evcc and Wiren Board, and flows of Node-RED: files made up after their documentation. */

const EVCC = `template: some-meter
params:
  - name: usage
    choice: ["grid", "pv"]
  - name: modbus
    choice: ["rs485", "tcpip"]
    id: 7
render: |
  type: custom
  {{- if eq .usage "grid" }}
  power:
    source: modbus
    {{- include "modbus" . | indent 2 }}
    register:
      address: 52 # Total power
      type: input
      decode: float32
    scale: -1
  {{- end }}
  currents:
    - source: modbus
      {{- include "modbus" . | indent 4 }}
      register:
        address: 0x10
        type: holding
        decode: int32s
  limit:
    source: modbus
    register: # in two models
      address: {{ if eq .model "a" }}40{{ else }}60{{ end }}
      type: writesingle
      encoding: uint16
  soc:
    source: sunspec
    value: 124:0:ChaState
  odd:
    source: modbus
    register:
      address: {{ .where }}
      decode: uint16
`;

it('an evcc template becomes the registers of all its branches', () => {
  const { registers, notes, data } = imported(EVCC, 'meter.yaml');
  expect(data.lines.lan?.units).toEqual({ 7: 'some-meter' });
  expect(registers).toEqual({
    input: [{ address: 52, name: 'power', type: 'float32', value: 0, scale: -1, description: 'Total power' }],
    holding: [
      { address: 16, name: 'currents', type: 'int32', wordOrder: 'little', value: 0 },
      { address: 40, name: 'limit', type: 'uint16', value: 0, write: true },
      { address: 60, name: 'limit_2', type: 'uint16', value: 0, write: true, description: 'limit' },
    ],
  });
  expect(notes).toEqual([
    'line 34: source: sunspec is not read; use `sunspec` in a device to serve models',
    'line 37: address "{{ .where }}" is a parameter',
  ]);
});

const BOARD = `{
  "device_type": "Relay", // of a maker
  "device": {
    "id": "relay",
    "channels": [
      {"name": "K1", "reg_type": "coil", "address": 0},
      {"name": "Count", "reg_type": "input", "address": "0x20", "format": "u32", "word_order": "little_endian"},
      {"name": "Voltage", "reg_type": "input", "address": 121, "scale": 0.001, "units": "V"},
      {"name": "Serial", "reg_type": "input", "address": 200, "format": "string", "string_data_size": 6},
      {"name": "Odd", "reg_type": "lora", "address": 1}
    ],
    "parameters": {
      "mode": {"title": "Mode", "address": 16, "reg_type": "holding"},
      "low": {"title": "Low", "address": "17:0:4", "reg_type": "holding"}
    }
  }
}`;

it('a Wiren Board template becomes a device', () => {
  const { registers, notes } = imported(BOARD, 'config-relay.json');
  expect(registers).toEqual({
    coils: [{ address: 0, name: 'K1', value: 0, write: true }],
    input: [
      { address: 32, name: 'Count', type: 'uint32', wordOrder: 'little', value: 0 },
      { address: 121, name: 'Voltage', type: 'uint16', value: 0, unit: 'V', scale: 0.001 },
      { address: 200, name: 'Serial', type: 'string', length: 6, value: '' },
    ],
    holding: [
      { address: 16, name: 'Mode', type: 'uint16', value: 0, write: true },
      {
        ...{ address: 17, name: 'register_17', type: 'uint16', value: 0, write: true },
        description: '4 bits from bit 0: Low',
      },
    ],
  });
  expect(notes).toEqual(['line 10: "Odd": unknown reg_type "lora"']);
});

const FLOW = JSON.stringify(
  [
    {
      id: 'a',
      type: 'modbus-read',
      name: 'volts',
      unitid: '3',
      dataType: 'HoldingRegister',
      adr: '100',
      quantity: '2',
      server: 's',
    },
    {
      id: 'b',
      type: 'modbus-write',
      name: 'relay',
      unitid: '3',
      dataType: 'Coil',
      adr: '4',
      quantity: '1',
      server: 's',
    },
    {
      id: 'c',
      type: 'modbus-getter',
      name: '',
      unitid: '',
      dataType: 'Input',
      adr: '9',
      quantity: '1',
      server: 's',
    },
    { id: 'd', type: 'modbus-flex-getter', name: 'any', server: 's' },
    {
      id: 's',
      type: 'modbus-client',
      name: 'plc',
      clienttype: 'tcp',
      tcpHost: '10.0.0.7',
      tcpPort: '502',
      unit_id: '1',
    },
    { id: 'e', type: 'debug' },
  ],
  null,
  1,
);

it('a Node-RED flow becomes a device for each unit of a connection', () => {
  const { data, notes, text } = imported(FLOW, 'flow.json');
  expect(text).toContain('# Line lan replaces tcp://10.0.0.7:502.');
  expect(Object.values(data.devices).map(({ registers }) => registers)).toEqual([
    {
      coils: [{ address: 4, name: 'relay', value: 0, write: true }],
      holding: [
        { address: 100, name: 'volts_1', type: 'uint16', value: 0 },
        { address: 101, name: 'volts_2', type: 'uint16', value: 0 },
      ],
    },
    { discrete: [{ address: 9, value: 0 }] },
  ]);
  expect(notes).toEqual([
    'line 32: modbus-flex-getter "any": its addresses arrive in messages, so it is left out',
  ]);
});

it.each([
  ['devices: {}\nlines: {}\n', 'bench.yaml', 'is already a modbus-sim file; serve it with --config'],
  [
    'Thing modbus:data:tcp:poller:level [ readStart="0" ]\n',
    'heater.things',
    'is an openHAB configuration without its bridge; --from may be telegraf',
  ],
  [
    '{"device_type": "x", {% if a %} "reg_type": 1 {% endif %}}',
    'config-x.json.jinja',
    'is a Jinja template; import the JSON',
  ],
])('what is not read is named: %s', (text, file, sentence) => {
  expect(refusedImport(text, file)).toContain(sentence);
});
