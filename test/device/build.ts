import { Device } from '../../src/device/device.js';
import type { TableName } from '../../src/device/tables.js';
import type { ActionSource } from '../../src/registers/action.js';
import { type Entry, imageOf, tableOf } from '../registers/build.js';
import { bytesOf, hexOf } from '../vectors/hex.js';

/** A device whose tables have cells of their own, one bit to a cell in coils and discrete inputs. */
export function deviceOf(
  content: Partial<Record<TableName, readonly Entry[]>>,
  {
    size = 65536,
    source = {},
    wholeValues = false,
  }: { size?: number; source?: Partial<ActionSource>; wholeValues?: boolean } = {},
): Device {
  const words = (name: TableName) => tableOf(imageOf(size, content[name] ?? [], source), { wholeValues });
  const bits = (name: TableName) => {
    const entries = (content[name] ?? []).map((entry): Entry => ({ type: 'bit', ...entry }));
    return tableOf(imageOf(size, entries, source), { bitsPerCell: 1, wholeValues });
  };
  return new Device({
    name: 'tested',
    tables: {
      coils: bits('coils'),
      discrete: bits('discrete'),
      input: words('input'),
      holding: words('holding'),
    },
  });
}

/** The response to a request, both as hex. */
export function ask(device: Device, request: string): string {
  return hexOf(device.respond(bytesOf(request)));
}
