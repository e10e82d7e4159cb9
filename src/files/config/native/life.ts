import { compact } from '../../../common/compact.js';
import type { At } from '../../../common/schema/at.js';
import type { DeviceLife } from '../../../device/device.js';
import type { PointDefinition } from '../../../device/point.js';
import type { FeedDefinition } from '../../../device/queue-feed.js';
import type { TableName } from '../../../device/tables.js';
import { clockSchema, seedSchema } from './device-schema.js';

/** Reads the names, signals and clock of a device; undefined when it has none. */
export function readLife(
  at: At,
  points: readonly PointDefinition[],
  feeds: readonly FeedDefinition[],
): DeviceLife | undefined {
  const clock = at.key('clock');
  const seed = at.key('seed');
  const isStill = points.length === 0 && feeds.length === 0;
  if (isStill && clock.value === undefined && seed.value === undefined) return undefined;
  return {
    points,
    clock: clock.value === undefined ? {} : compact(clock.check(clockSchema) ?? {}),
    seed: seed.value === undefined ? 0 : (seed.check(seedSchema) ?? 0),
    feeds,
  };
}

/** Reports two values of a device that have the same name. */
export function reportSharedNames(points: readonly PointDefinition[], registers: At): void {
  const named = new Map<string, PointDefinition>();
  const entryOf = entryFinder(registers);
  for (const point of points) {
    const { name } = point;
    if (name === undefined) continue;
    const other = named.get(name);
    if (other) {
      const message = `${other.table} ${other.address} has the name ${name} already`;
      entryOf(point)?.key('name').wrong(message);
    }
    named.set(name, point);
  }
}

/** Finds the entry that defines a value. */
export type EntryFinder = (value: Pick<PointDefinition, 'table' | 'address'>) => At | undefined;

/**
 * Makes a finder of entries. It sorts each table once, at the first search: a device may have tens of
 * thousands of entries, in any order.
 */
export function entryFinder(registers: At): EntryFinder {
  const tables = new Map<TableName, readonly PlacedEntry[]>();
  return ({ table, address }) => {
    const entries = tables.get(table) ?? placedIn(registers.key(table));
    tables.set(table, entries);
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((entries[middle] as PlacedEntry).address <= address) low = middle + 1;
      else high = middle;
    }
    return entries[low - 1]?.entry;
  };
}

interface PlacedEntry {
  readonly address: number;
  readonly entry: At;
}

function placedIn(table: At): PlacedEntry[] {
  const entries = table.items() ?? [];
  return entries
    .map((entry) => ({ address: Number(entry.key('address').value), entry }))
    .filter(({ address }) => !Number.isNaN(address))
    .sort((a, b) => a.address - b.address);
}
