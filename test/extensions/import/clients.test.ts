import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { Configuration } from '../../../src/document/configuration.js';
import { onFreePorts } from '../../../src/document/free-ports.js';
import { tcpMaster } from '../../remote/api/masters.js';
import { startSimulator } from '../../support/simulator.js';
import { imported } from './helpers.js';

/*
 * Clients that follow the same file read each of its fields. The files are short and written anew, after public ones: a meter with
 * floats behind a gateway for Telegraf, an inverter for Home Assistant.
 */

const TELEGRAF = `
[agent]
  interval = "10s"
[[inputs.modbus]]
  name = "meter"
  slave_id = 1
  controller = "tcp://192.0.2.7:502"
  configuration_type = "register"
  holding_registers = [
    { measurement = "m", name = "power SUM", byte_order = "ABCD", data_type = "FLOAT32-IEEE", scale = 1000.0, address = [20498, 20499] },
    { measurement = "m", name = "power L1", byte_order = "ABCD", data_type = "FLOAT32-IEEE", scale = 1000.0, address = [20500, 20501] },
    { measurement = "m", name = "frequency", byte_order = "AB", data_type = "UINT16", scale = 0.01, address = [20488] },
    { measurement = "m", name = "energy", byte_order = "CDAB", data_type = "UINT64", scale = 1.0, address = [24576, 24577, 24578, 24579] },
  ]
  coils = [{ name = "relay", address = [7] }]
[[inputs.modbus]]
  name = "plc"
  controller = "tcp://192.0.2.7:502"
  configuration_type = "request"
  [[inputs.modbus.request]]
    slave_id = 2
    byte_order = "ABCD"
    register = "input"
    fields = [
      { address = 0, name = "temperature", type = "FLOAT32", output = "FLOAT64" },
      { address = 2, type = "UINT16", omit = true },
      { address = 3, name = "speed", type = "INT16" },
    ]
  [[inputs.modbus.request]]
    slave_id = 2
    register = "discrete"
    fields = [{ address = 10, name = "ready" }]
`;

const HOME_ASSISTANT = `
modbus:
  - name: inverter
    type: tcp
    host: 192.0.2.8
    port: 502
    sensors:
      - {name: Grid power, slave: 1, address: 37113, data_type: int32, unit_of_measurement: W, device_class: power}
      - {name: PV1 voltage, slave: 1, address: 32016, data_type: int16, scale: 0.1, precision: 1, unit_of_measurement: V}
      - {name: Model, slave: 1, address: 30000, data_type: string, count: 15}
      - {name: Phases, slave: 3, address: 52, input_type: input, count: 6, data_type: custom, structure: ">3f"}
    binary_sensors:
      - {name: Running, slave: 3, address: 100, input_type: discrete_input}
    switches:
      - {name: Charge, slave: 1, address: 47100, command_on: 1, command_off: 0, verify: }
`;

interface Read {
  readonly unit: number;
  readonly fc: 1 | 2 | 3 | 4;
  readonly address: number;
  readonly quantity: number;
}

/** What Telegraf asks for, by its own file. */
function telegrafReads(text: string): Read[] {
  const lists = { coils: 1, discrete_inputs: 2, holding_registers: 3, input_registers: 4 } as const;
  const words: Record<string, number> = { INT16: 1, UINT16: 1, FLOAT32: 2 };
  const { modbus } = (parseToml(text) as { inputs: { modbus: PluginLike[] } } & object).inputs;
  return modbus.flatMap((plugin) => [
    ...Object.entries(lists).flatMap(([key, fc]) =>
      (plugin[key as keyof typeof lists] ?? []).map(({ address }) => ({
        unit: plugin.slave_id ?? 0,
        fc,
        address: address[0] ?? 0,
        quantity: address.length,
      })),
    ),
    ...(plugin.request ?? []).map(({ slave_id: unit, register, fields }) => {
      const [first, last] = [fields[0], fields.at(-1)];
      const fc = ({ discrete: 2, input: 4 } as const)[register];
      const begin = first?.address ?? 0;
      return {
        unit,
        fc,
        address: begin,
        quantity: (last?.address ?? 0) + (words[last?.type ?? ''] ?? 1) - begin,
      };
    }),
  ]);
}

interface PluginLike {
  readonly slave_id?: number;
  readonly coils?: readonly { readonly address: readonly number[] }[];
  readonly discrete_inputs?: readonly { readonly address: readonly number[] }[];
  readonly holding_registers?: readonly { readonly address: readonly number[] }[];
  readonly input_registers?: readonly { readonly address: readonly number[] }[];
  readonly request?: readonly {
    readonly slave_id: number;
    readonly register: 'discrete' | 'input';
    readonly fields: readonly { readonly address: number; readonly type?: string }[];
  }[];
}

/** What Home Assistant asks for, by its own file. */
function homeAssistantReads(text: string): Read[] {
  interface Entity {
    readonly slave: number;
    readonly address: number;
    readonly data_type?: string;
    readonly count?: number;
    readonly input_type?: string;
  }
  const { modbus } = parseYaml(text) as {
    modbus: Record<'sensors' | 'binary_sensors' | 'switches', Entity[]>[];
  };
  return modbus.flatMap(({ sensors, binary_sensors, switches }) =>
    [...sensors, ...binary_sensors, ...switches].map(({ slave, address, data_type, count, input_type }) => ({
      unit: slave,
      fc: input_type === 'input' ? 4 : input_type === 'discrete_input' ? 2 : 3,
      address,
      quantity: count ?? (data_type === 'int32' ? 2 : 1),
    })),
  );
}

async function readAll(configuration: Configuration, reads: readonly Read[]): Promise<unknown[][]> {
  const simulator = await startSimulator(onFreePorts(configuration));
  const client = await tcpMaster(simulator.port('lan'));
  const ask = {
    1: 'readCoils',
    2: 'readDiscreteInputs',
    3: 'readHoldingRegisters',
    4: 'readInputRegisters',
  } as const;
  const results: unknown[][] = [];
  for (const { unit, fc, address, quantity } of reads) {
    client.setID(unit);
    const { data } = await client[ask[fc]](address, quantity);
    results.push(data.slice(0, quantity));
  }
  return results;
}

describe('a client that follows the imported file', () => {
  it('reads all fields of a Telegraf configuration', async () => {
    const reads = telegrafReads(TELEGRAF);
    expect(reads).toHaveLength(7);
    const results = await readAll(imported(TELEGRAF, 'telegraf.conf').configuration, reads);
    expect(results.map((each) => each.length)).toEqual(reads.map(({ quantity }) => quantity));
  });

  it('reads all entities of a Home Assistant configuration', async () => {
    const reads = homeAssistantReads(HOME_ASSISTANT);
    expect(reads).toHaveLength(6);
    const results = await readAll(imported(HOME_ASSISTANT, 'configuration.yaml').configuration, reads);
    expect(results.map((each) => each.length)).toEqual(reads.map(({ quantity }) => quantity));
  });
});
