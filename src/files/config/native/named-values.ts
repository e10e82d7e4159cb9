import { unknownName } from '../../../common/schema/nearest.js';
import type { FindValue } from '../../../device/faults/rule.js';
import type { PointDefinition } from '../../../device/point.js';

/** The values of a device by name; undefined when there is no such device. */
type ValuesOf = (device: string) => ReadonlyMap<string, PointDefinition> | undefined;

/**
 * Makes the function by which fault rules find values by device and name. Names of values have no dot; names
 * of devices may have dots.
 */
export function valueFinder(devices: readonly string[], valuesOf: ValuesOf): FindValue {
  return (name) => {
    const dot = name.lastIndexOf('.');
    if (dot < 0)
      return `expected the name of a device, a dot and the name of a value, as in ${devices[0]}.${name}`;
    const device = name.slice(0, dot);
    const values = valuesOf(device);
    if (!values) return unknownName('device', device, devices);
    const point = values.get(name.slice(dot + 1));
    if (!point) return unknownName('name', name.slice(dot + 1), [...values.keys()]);
    const { table, address, cells: quantity } = point;
    return { device, table, address, quantity };
  };
}

export function pointsByName(points: Iterable<PointDefinition>): ReadonlyMap<string, PointDefinition> {
  return new Map(
    Array.from(points).flatMap((point) => (point.name === undefined ? [] : [[point.name, point] as const])),
  );
}
