import type { TableName } from '../device/tables.js';
import type { Simulator } from './simulator.js';

/** Which registers a frame is about. */
export interface NamedRange {
  readonly line: string;
  readonly unitId: number;
  readonly functionCode: number;
  readonly address: number;
  readonly quantity: number;
}

/** The tables that functions with addresses are about (Application Protocol V1.1b3, 6). */
const TABLES: ReadonlyMap<number, TableName> = new Map([
  [1, 'coils'],
  [2, 'discrete'],
  [3, 'holding'],
  [4, 'input'],
  [5, 'coils'],
  [6, 'holding'],
  [15, 'coils'],
  [16, 'holding'],
  [22, 'holding'],
  [23, 'holding'],
]);

/** The names of the values in a range of registers, with that of their device: `meter.voltage`. */
export function valueNames(simulator: Simulator, range: NamedRange): string[] {
  const { line, unitId, functionCode, address, quantity } = range;
  const device = simulator.lines.get(line)?.bus.deviceAt(unitId);
  const table = TABLES.get(functionCode);
  if (!device || device.points.named.size === 0 || table === undefined) return [];
  const { image, base, size } = device.tables[table].window;
  const names = new Set<string>();
  for (let at = address; at < Math.min(address + quantity, size); at++) {
    const name = device.points.at(image, base + at)?.definition.name;
    if (name !== undefined) names.add(`${device.name}.${name}`);
  }
  return [...names];
}
