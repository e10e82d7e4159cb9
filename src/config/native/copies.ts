import type { DeviceDefinition, LineDefinition } from '../configuration.js';
import { type LineSource, lineSource } from './line-source.js';

/**
 * The name of the device that a copy was made from; undefined for a device that is no copy. A copy shares the tables of
 * its source, which comes first.
 */
export function sourceOfCopy(devices: readonly DeviceDefinition[], name: string): string | undefined {
  const tables = devices.find((device) => device.name === name)?.tables;
  const source = devices.find((device) => device.tables === tables)?.name;
  return source === name ? undefined : source;
}

/** A line as a file has it: copies of devices are asked for by the names of their sources. */
export function sourceWithCopies(devices: readonly DeviceDefinition[], line: LineDefinition): LineSource {
  const units = Array.from(line.units, ([unitId, device]) => {
    const source = sourceOfCopy(devices, device);
    return [unitId, source === undefined ? device : { copyOf: source }];
  });
  return { ...lineSource(line), units: Object.fromEntries(units) };
}
