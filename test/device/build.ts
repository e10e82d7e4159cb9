import { Device, type DeviceOptions } from '../../src/device/device.js';
import { Diagnostics } from '../../src/device/diagnostics.js';
import type { ActionSource } from '../../src/device/registers/actions.js';
import type { TableName } from '../../src/device/tables.js';
import { bytesOf, hexOf } from '../modbus/protocol/hex.js';
import { type Entry, imageOf, tableOf } from './registers/build.js';

interface DeviceContext {
  readonly size?: number;
  readonly source?: Partial<ActionSource>;
  readonly wholeValues?: boolean;
  readonly countsAsPymodbus?: boolean;
}

/** A device whose tables have cells of their own, one bit to a cell in coils and discrete inputs. */
export function deviceOf(
  content: Partial<Record<TableName, readonly Entry[]>>,
  {
    size = 65536,
    source = {},
    wholeValues = false,
    countsAsPymodbus = false,
    ...others
  }: DeviceContext & Partial<DeviceOptions> = {},
): Device {
  const window = { wholeValues, countsAsPymodbus };
  const words = (name: TableName) => tableOf(imageOf(size, content[name] ?? [], source), window);
  const bits = (name: TableName) => {
    const entries = (content[name] ?? []).map((entry): Entry => ({ type: 'bit', ...entry }));
    return tableOf(imageOf(size, entries, source), { bitsPerCell: 1, ...window });
  };
  return new Device({
    name: 'tested',
    ...others,
    tables: {
      coils: bits('coils'),
      discrete: bits('discrete'),
      input: words('input'),
      holding: words('holding'),
    },
  });
}

/** The diagnostics of a line on which nothing has happened yet. */
export function quietLine(): Diagnostics {
  return new Diagnostics({ messages: 0, errors: 0, overruns: 0 });
}

/** The response to a request; every request of these tests is answered. */
export function respond(device: Device, request: Uint8Array, diagnostics = quietLine()): Uint8Array {
  const response = device.respond(request, diagnostics);
  if (!response) throw new Error('no response');
  return response;
}

/** The response to a request, both as hex. */
export function ask(device: Device, request: string): string {
  return hexOf(respond(device, bytesOf(request)));
}
