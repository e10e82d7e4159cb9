import { BEGINS, isWritableMeta, typeOfMeta } from '../../device/registers/layout.js';
import type { Configuration, DeviceDefinition } from '../../files/config/configuration.js';
import type { DeviceMap, MappedValue, ReadCode } from './bench.js';

const CODES = [
  ['holding', 3],
  ['input', 4],
  ['coils', 1],
  ['discrete', 2],
] as const;

/**
 * Picks the device of a file that describes a server: its only one, or the one that a line has at this unit.
 * @returns undefined if neither tells which device is meant
 */
export function deviceForMap(
  { devices, lines }: Configuration,
  unitId: number,
): DeviceDefinition | undefined {
  const simulated = devices.filter(({ real }) => real === undefined);
  if (simulated.length === 1) return simulated[0];
  const names = new Set(lines.flatMap(({ units }) => units.get(unitId) ?? []));
  const those = simulated.filter(({ name }) => names.has(name));
  return those.length === 1 ? those[0] : undefined;
}

/** Makes the map of a server from a device of a configuration that describes it. */
export function mapOf({ tables, extras: { manners }, life }: DeviceDefinition): DeviceMap {
  const nameOf = new Map(life?.points.map(({ table, address, name }) => [`${table} ${address}`, name]));
  const values = CODES.flatMap(([table, code]) => {
    const { layout, base, size, bitsPerCell } = tables[table];
    const found: MappedValue[] = [];
    if (code <= 2 && bitsPerCell === 16) return found;
    for (let address = 0; address < size; address++) {
      const meta = layout.meta[base + address] ?? 0;
      if (!BEGINS[meta]) continue;
      let cells = 1;
      while (address + cells < size && typeOfMeta(layout.meta[base + address + cells] ?? 0) === 'next')
        cells++;
      const name = nameOf.get(`${table} ${address}`);
      found.push({
        ...{ code, address, cells, isWritable: isWritableMeta(meta) },
        ...{ isText: typeOfMeta(meta) === 'string', ...(name !== undefined && { name }) },
      });
    }
    return found;
  });
  return {
    values,
    wholeValues: manners?.wholeValues ?? (tables.holding.wholeValues || undefined),
    hasHoles: manners?.holes !== undefined,
  };
}

/** Addresses of a map by the function that reads them. */
export function addressesOf({ values }: DeviceMap): Partial<Record<ReadCode, readonly number[]>> {
  const of = (wanted: ReadCode) => values.flatMap(({ code, address }) => (code === wanted ? [address] : []));
  return { 1: of(1), 2: of(2), 3: of(3), 4: of(4) };
}
