import { isMapping } from '../common/schema/parts.js';
import type { DefinedRegisters } from '../device/device.js';
import { TABLE_NAMES, type TableName } from '../device/tables.js';
import type { DeviceSource } from '../files/config/configuration.js';

/** The entries of a native file for the registers of a table that were defined at run time. */
function definedEntries(
  defined: readonly DefinedRegisters[],
  table: TableName,
): Readonly<Record<string, unknown>>[] {
  return defined
    .filter((each) => each.table === table)
    .map(({ address, quantity, write }) => ({ address, value: 0, ...(quantity > 1 && { quantity }), write }));
}

/**
 * The entry of a device together with what was defined at run time; undefined when the entry has no registers
 * of its own.
 */
export function sourceWith(
  source: DeviceSource,
  defined: readonly DefinedRegisters[],
): DeviceSource | undefined {
  const { registers } = source;
  if (!isMapping(registers)) return undefined;
  const tables = TABLE_NAMES.flatMap((table) => {
    const added = definedEntries(defined, table);
    const before = registers[table];
    return added.length === 0 ? [] : [[table, [...(Array.isArray(before) ? before : []), ...added]]];
  });
  return { ...source, registers: { ...registers, ...Object.fromEntries(tables) } };
}
