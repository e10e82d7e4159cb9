import type { PointDefinition } from '../../device/point.js';
import type { ValueOrder } from '../../device/registers/cell-type.js';
import { BEGINS, isWritableMeta, orderOfMeta, typeOfMeta } from '../../device/registers/layout.js';
import { nearestValue, wordsOfValue } from '../../device/registers/value.js';
import type { Configuration, DeviceDefinition } from '../../document/configuration.js';
import type { DeviceMap, MappedValue } from './bench.js';

const CODES = [
  ['holding', 3],
  ['input', 4],
  ['coils', 1],
  ['discrete', 2],
] as const;

/**
 * Picks the device in a file that describes a server: the only one, or the one that a line has at this unit.
 * @returns undefined if neither identifies a device
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

/** Maximum number of values per table: no check reads more, and a simulator makes a map between two replies. */
const MOST_VALUES = 5000;

/** Makes the map of a server from a device in a configuration that describes it. */
export function mapOf({ tables, extras: { manners }, life }: DeviceDefinition): DeviceMap {
  const pointOf = new Map(life?.points.map((point) => [`${point.table} ${point.address}`, point]));
  const values = CODES.flatMap(([table, code]) => {
    const { layout, base, size, bitsPerCell } = tables[table];
    const found: MappedValue[] = [];
    if (code <= 2 && bitsPerCell === 16) return found;
    for (let address = 0; address < size && found.length < MOST_VALUES; address++) {
      const meta = layout.meta[base + address] ?? 0;
      if (!BEGINS[meta]) continue;
      let cells = 1;
      while (address + cells < size && typeOfMeta(layout.meta[base + address + cells] ?? 0) === 'next')
        cells++;
      const point = pointOf.get(`${table} ${address}`);
      found.push({
        ...{ code, address, cells, isWritable: isWritableMeta(meta) },
        ...{ isText: typeOfMeta(meta) === 'string', ...(point?.name !== undefined && { name: point.name }) },
        beyond: point ? beyondOf(point, orderOfMeta(meta)) : [],
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

/** The words of values outside the limits: one step below, one above. */
function beyondOf({ type, cells, scale, reactions = [] }: PointDefinition, order: ValueOrder): number[][] {
  return reactions.flatMap(({ limits: { min, max } = {} }) =>
    [min === undefined ? [] : min / scale - 1, max === undefined ? [] : max / scale + 1]
      .flat()
      .flatMap((raw) => {
        const { value, fits } = nearestValue(type, raw);
        return fits ? [wordsOfValue(type, value, cells, order)] : [];
      }),
  );
}
