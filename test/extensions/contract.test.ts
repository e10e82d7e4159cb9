import { resolve } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../src/document/load.js';
import { cloneDevices } from '../../src/extensions/clone/clone.js';
import { importText } from '../../src/extensions/import/import.js';
import { writeNative } from '../../src/extensions/import/write.js';
import { learnFiles } from '../../src/extensions/learn/learn.js';
import { writeScenario } from '../../src/extensions/learn/write.js';
import { Simulator } from '../../src/simulator/simulator.js';
import { writeClone } from '../../src/testing/survey/write.js';
import { answerAtOnce } from '../simulator/bus/answer-at-once.js';
import { nativeSetup } from '../support/configuration.js';

/*
 * What the wing promises: the files that it writes, each from one small input. `npx vitest run test/extensions/contract.test.ts -u` writes the
 * goldens again; a commit that has one of them says why.
 */

const golden = (name: string) => resolve('test/goldens/written', name);

/** A small file of each kind, by its name in `--from`. */
const IMPORTED: Readonly<Record<string, readonly [file: string, text: string]>> = {
  csv: [
    'meter.csv',
    'address;name;type;unit;scale;access\n40001;Voltage L1;uint16;V;0.1;R\n40002;Limit;float32;W;;RW\n30005;Odd;BCD;;;R\n',
  ],
  telegraf: [
    'telegraf.conf',
    `[[inputs.modbus]]
  name = "Meter"
  slave_id = 7
  controller = "tcp://192.0.2.7:502"
  coils = [{ name = "run", address = [3] }]
  holding_registers = [
    { name = "energy", byte_order = "CDAB", data_type = "UFIXED", scale = 0.001, address = [5, 6] },
  ]
`,
  ],
  'home-assistant': [
    'configuration.yaml',
    `modbus:
  - {name: hub, type: tcp, host: 192.0.2.8, port: 502, sensors: [{name: Grid power, slave: 3, address: 20, data_type: float32, swap: word, unit_of_measurement: W}]}
`,
  ],
  esphome: [
    'node.yaml',
    `modbus_controller: [{id: epever, address: 0x3}]
sensor:
  - {platform: modbus_controller, name: PV voltage, address: 0x3100, register_type: read, value_type: U_WORD, unit_of_measurement: V, filters: [{multiply: 0.01}]}
switch: [{platform: modbus_controller, name: Load, address: 2, register_type: coil}]
`,
  ],
  evcc: [
    'meter.yaml',
    `template: some-meter
params:
  - name: modbus
    choice: ["rs485", "tcpip"]
    id: 7
render: |
  power:
    source: modbus
    register:
      address: 52 # Total power
      type: input
      decode: float32
    scale: -1
`,
  ],
  'wiren-board': [
    'config-relay.json',
    `{"device_type": "Relay", "device": {"id": "relay", "channels": [
  {"name": "K1", "reg_type": "coil", "address": 0},
  {"name": "Count", "reg_type": "input", "address": "0x20", "format": "u32", "word_order": "little_endian"}
]}}
`,
  ],
  'node-red': [
    'flows.json',
    '[{"id": "a", "type": "modbus-read", "name": "volts", "unitid": "3", "dataType": "HoldingRegister", "adr": "100", "quantity": "2", "server": "s"}]\n',
  ],
  openhab: [
    'energy.things',
    `Bridge modbus:tcp:inverter "Inverter" [ host="192.0.2.7", port=1502, id=3 ] {
    Bridge poller pv [ start=30775, length=4, refresh=5000, type="input" ] {
        Thing data power "PV power" [ readStart="30775", readValueType="int32" ]
        Thing data total [ readStart="30777", readValueType="uint32_swap" ]
    }
}
`,
  ],
  'modbus-exporter': [
    'modbus.yml',
    `modules:
  - name: meter
    protocol: 'tcp/ip'
    metrics:
      - name: volts
        help: of phase 1
        address: 300000
        dataType: int32
        metricType: gauge
        factor: 0.1
        endianness: yolo
`,
  ],
  solarman: [
    'deye.yaml',
    `requests: [{start: 0x0003, end: 0x0070, mb_functioncode: 0x03}]
parameters:
  - group: solar
    items:
      - {name: PV1 Power, uom: W, scale: 10, rule: 1, registers: [0x0003], validation: {min: 100, max: 300}}
      - name: Status
        rule: 1
        registers: [0x0020]
        lookup: [{key: 0, value: Standby}, {key: 1, value: Normal}]
`,
  ],
  modbuspal: [
    'plant.xmpp',
    `<modbuspal_project>
<slave id="23" enabled="true" name="Boiler" implementation="modbus">
<holding_registers><register address="100" value="123" name="flow"/></holding_registers>
<coils><coil address="3" value="1" name="pump"/></coils>
<tuning><reply_delay min="0" max="50" /></tuning>
</slave>
</modbuspal_project>
`,
  ],
  sunspec: [
    'inverter.txt',
    `--------- Model 1 common ---------
Mn             KOSTAL    string
Md   PLENTICORE plus8    string
DA              71.00    uint16
--------- Model 103 inverter_three_phase ---------
A                    4.29    uint16
A_SF                   -2    sunssf
PhVphA             228.60    uint16
V_SF                   -1    sunssf
`,
  ],
};

describe('the file that an import writes is as it was', () => {
  it.each(Object.entries(IMPORTED))('%s', async (kind, [file, text]) => {
    const read = importText(text, file, undefined);
    if (!read.ok) throw new Error(read.error);
    const written = writeNative(read.value, file);
    expect(loadNative(written.text, '.')).toMatchObject({ ok: true });
    await expect(written.text).toMatchFileSnapshot(golden(`import-${kind}.yaml`));
  });

  it('for every kind that there is', () => {
    const refused = importText('', 'x', 'no such kind');
    const [, kinds = ''] = /\(known: (.*)\)/.exec(refused.ok ? '' : refused.error) ?? [];
    expect(Object.keys(IMPORTED).sort()).toEqual(kinds.split(', ').sort());
  });
});

it('the files that are learned are as they were: devices, and a scenario', async () => {
  const log = [
    '12:00:00.000 TX 00 01 00 00 00 06 05 03 00 00 00 02',
    '12:00:00.040 RX 00 01 00 00 00 07 05 03 04 00 07 00 08',
    '12:00:01.000 TX 00 02 00 00 00 06 05 03 00 64 00 01',
    '12:00:01.040 RX 00 02 00 00 00 03 05 83 02',
    '12:00:02.000 TX 00 03 00 00 00 06 05 04 00 00 00 01',
    '12:00:05.000 TX 00 04 00 00 00 06 05 06 00 0a 00 63',
    '12:00:05.041 RX 00 04 00 00 00 06 05 06 00 0a 00 63',
    '12:00:36.000 TX 00 05 00 00 00 06 05 03 00 00 00 02',
    '12:00:36.040 RX 00 05 00 00 00 07 05 03 04 00 07 00 09',
    'frame 00 01 02 03',
  ].join('\n');
  const learned = learnFiles([Buffer.from(log)], 'bench.log');
  if (!learned.ok) throw new Error(learned.error);
  expect(loadNative(learned.value.text, '.')).toMatchObject({ ok: true });
  await expect(learned.value.text).toMatchFileSnapshot(golden('learn.yaml'));
  const scenario = writeScenario(learned.value.learned, 'learn.yaml');
  await expect(scenario).toMatchFileSnapshot(golden('learn-scenario.yaml'));
});

it('the file that a clone writes is as it was', async () => {
  const meter = {
    identity: { vendorName: 'Nobody', productCode: 'M-1', majorMinorRevision: '2.0' },
    manners: { most: { registers: 40, otherwise: 3 } },
    registers: {
      coils: [{ address: 3, value: [1, 0, 1] }],
      input: [{ address: 7, value: [1, 2, 3] }],
      holding: [
        { address: 0, quantity: 6, value: 5 },
        { address: 20, type: 'float32', value: 230.5 },
        { address: 30, type: 'string', length: 6, value: 'Serial 0815' },
      ],
    },
  };
  const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
  const original = new Simulator(nativeSetup({ devices: { meter }, lines }), pino({ level: 'silent' }));
  const { clone } = await cloneDevices(
    {
      ask: ({ unitId, pdu }) => {
        const bus = original.lines.get('lan')?.bus;
        const plan = bus && answerAtOnce(bus, { unitId, pdu, transactionId: 1, clientId: 1 })?.plan;
        const step = plan?.kind === 'send' ? plan.steps[0] : undefined;
        return Promise.resolve(
          step?.kind === 'bytes'
            ? { kind: 'answered', adu: step.bytes, pdu: step.bytes.slice(7), ms: 20 }
            : { kind: 'timeout', heard: new Uint8Array(), ms: 1000 },
        );
      },
    },
    {
      target: { kind: 'tcp', host: 'meter', port: 502, framing: 'socket' },
      units: [1],
      ranges: [[0, 60]],
      watch: 0,
      functions: [],
      pause: 0,
      timeout: 1000,
      thorough: false,
    },
    undefined,
    { sleep: () => Promise.resolve(), isStopped: () => false, progress: () => {} },
  );
  const text = writeClone(clone);
  expect(loadNative(text, '.')).toMatchObject({ ok: true });
  await expect(text).toMatchFileSnapshot(golden('clone.yaml'));
});
