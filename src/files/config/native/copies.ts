import type { DeviceDefinition, LineDefinition } from '../configuration.js';
import { type LineSource, lineSource } from './line-source.js';

/**
 * A line in the form of a file: copies of devices are written as `copyOf` with the names of their sources.
 */
export function sourceWithCopies(devices: readonly DeviceDefinition[], line: LineDefinition): LineSource {
  const sources = new Map(devices.map(({ name, copyOf }) => [name, copyOf]));
  const units = Array.from(line.units, ([unitId, device]) => {
    const source = sources.get(device);
    return [unitId, source === undefined ? device : { copyOf: source }];
  });
  return { ...lineSource(line), units: Object.fromEntries(units) };
}
