import type { DeviceLife } from '../../device/device.js';
import type { PointDefinition } from '../../device/point.js';
import type { FeedDefinition } from '../../device/queue-feed.js';
import type { At } from '../../schema/at.js';
import { compact } from '../compact.js';
import { clockSchema, seedSchema } from './device-schema.js';

/** What moves in a device; undefined where nothing does. */
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

/** Two values of a device with one name are a mistake. */
export function reportSharedNames(points: readonly PointDefinition[], registers: At): void {
  const named = new Map<string, PointDefinition>();
  for (const point of points) {
    const { name } = point;
    if (name === undefined) continue;
    const other = named.get(name);
    if (other) {
      const message = `${other.table} ${other.address} has the name ${name} already`;
      entryOf(point, registers)?.key('name').wrong(message);
    }
    named.set(name, point);
  }
}

/** The entry that defines a value. */
export function entryOf(
  { table, address }: Pick<PointDefinition, 'table' | 'address'>,
  registers: At,
): At | undefined {
  const entries = registers.key(table).items() ?? [];
  return entries.findLast((entry) => Number(entry.key('address').value) <= address);
}
