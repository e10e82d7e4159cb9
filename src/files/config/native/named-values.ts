import { unknownName } from '../../../common/schema/nearest.js';
import type { FindValue, NamedValue } from '../../../device/faults/rule.js';
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
    const last = name.slice(dot + 1);
    const values = valuesOf(device);
    if (!values) return bitNamed(device, last, valuesOf) ?? unknownName('device', device, devices);
    const point = values.get(last);
    if (!point) return unknownName('name', last, [...values.keys()]);
    const { table, address, cells: quantity } = point;
    return { device, table, address, quantity };
  };
}

/**
 * The bit of a value, as in `meter.status.overload`; undefined where no device has this value, and a text where
 * the value has no such bit.
 */
function bitNamed(owner: string, name: string, valuesOf: ValuesOf): NamedValue | string | undefined {
  const dot = owner.lastIndexOf('.');
  const [device, value] = [owner.slice(0, dot), owner.slice(dot + 1)];
  const point = dot < 0 ? undefined : valuesOf(device)?.get(value);
  if (!point) return undefined;
  const { table, address, cells: quantity, bits = [] } = point;
  const found = bits.find(([, each]) => each === name);
  if (!found)
    return unknownName(
      `bit of ${owner}`,
      name,
      bits.map(([, each]) => each),
    );
  return { device, table, address, quantity, bit: { number: found[0], of: value } };
}

export function pointsByName(points: Iterable<PointDefinition>): ReadonlyMap<string, PointDefinition> {
  return new Map(
    Array.from(points).flatMap((point) => (point.name === undefined ? [] : [[point.name, point] as const])),
  );
}
