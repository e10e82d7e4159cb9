import type { DeviceDefinition, LineDefinition } from '../configuration.js';
import { type LineSource, lineSource } from './line-source.js';

/** A line as a file has it: copies of devices are asked for by the names of their sources. */
export function sourceWithCopies(devices: readonly DeviceDefinition[], line: LineDefinition): LineSource {
  const sources = new Map(devices.map(({ name, copyOf }) => [name, copyOf]));
  const units = Array.from(line.units, ([unitId, device]) => {
    const source = sources.get(device);
    return [unitId, source === undefined ? device : { copyOf: source }];
  });
  return { ...lineSource(line), units: Object.fromEntries(units) };
}
