import type { PointDefinition } from '../../device/point.js';
import type { TableName } from '../../device/tables.js';
import type { At } from '../../schema/at.js';
import { unknownName } from '../../schema/nearest.js';
import { orderOf } from '../../signals/dependencies.js';
import type { DeviceDefinition } from '../configuration.js';
import { type EntryFinder, entryFinder } from './life.js';

/**
 * Reports names that no value has, and values that depend on themselves.
 * @param deviceAt the entry of a device
 */
export function reportDependencies(
  network: readonly DependentPoint[],
  deviceAt: (device: string) => At,
): void {
  const finders = new Map<string, EntryFinder>();
  for (const { message, device, point } of dependencyProblems(network)) {
    const { table, address } = point;
    const there = deviceAt(device);
    const entryOf = finders.get(device) ?? entryFinder(there.key('registers'));
    finders.set(device, entryOf);
    const entry = table === 'queues' ? there.key('queues').key(String(address)) : entryOf({ table, address });
    const follows = entry?.key('follows');
    if (follows?.value !== undefined) follows.wrong(message);
    else
      entry
        ?.key('signal')
        .key(point.signal?.definition.kind ?? '')
        .wrong(message);
  }
}

/** A value of a device with the names of the values that it needs. */
export interface DependentPoint {
  readonly device: string;
  readonly point: Pick<PointDefinition, 'address' | 'name' | 'type' | 'signal'> & {
    /** `queues` for a FIFO queue that a signal feeds. */
    readonly table: TableName | 'queues';
  };
}

export function networkOf(definitions: readonly DeviceDefinition[]): DependentPoint[] {
  return definitions.flatMap(({ name: device, life }) => [
    ...(life?.points ?? []).map((point) => ({ device, point })),
    ...(life?.feeds ?? []).map(({ address, signal }) => {
      return { device, point: { table: 'queues', address, type: 'uint16', signal } as const };
    }),
  ]);
}

/** The mistakes in the names that values need, each with the value concerned. */
export function dependencyProblems(
  network: readonly DependentPoint[],
): (DependentPoint & { message: string })[] {
  const named = new Map(
    network.flatMap((each) =>
      each.point.name === undefined ? [] : [[qualified(each.device, each.point.name), each]],
    ),
  );
  const dependent = network.filter(({ point }) => needsOf(point).length > 0);
  const knownNames = new Map<string, string[]>();
  const problems = dependent.flatMap((each) =>
    needsOf(each.point).flatMap((name) => {
      const found = named.get(qualified(each.device, name));
      const unfit = found && whyNotFollowed(each, found, name);
      if (unfit !== undefined) return [{ ...each, message: unfit }];
      if (found?.point.type === 'string') return [{ ...each, message: `${name} is text, expected a number` }];
      if (found) return [];
      const known = knownNames.get(each.device) ?? namesFor(each.device, named);
      knownNames.set(each.device, known);
      return [{ ...each, message: unknownName('name', name, known) }];
    }),
  );
  if (problems.length > 0) return problems;
  const keyed = new Map(dependent.map((each) => [keyOf(each), each]));
  const order = orderOf(
    new Map(
      Array.from(keyed, ([key, { device, point }]) => [
        key,
        needsOf(point).map((name) => qualified(device, name)),
      ]),
    ),
  );
  const blamed = order.ok ? undefined : keyed.get(order.name);
  return blamed && !order.ok ? [{ ...blamed, message: order.message }] : [];
}

/** Why a value can't be followed. Undefined for one that can, and for one that is needed by another kind of signal. */
function whyNotFollowed(
  { device, point }: DependentPoint,
  found: DependentPoint,
  name: string,
): string | undefined {
  if (point.signal?.definition.kind !== 'follows') return undefined;
  if (found.device !== device) return `${name} is a value of another device, expected one of ${device}`;
  const moved = found.point.signal?.definition.kind ?? 'follows';
  return moved === 'follows'
    ? undefined
    : `${name} is moved by ${moved}, expected a value that is written or that follows another`;
}

function needsOf({ signal }: DependentPoint['point']): readonly string[] {
  return signal?.definition.needs ?? [];
}

function keyOf({ device, point: { name, table, address } }: DependentPoint): string {
  return name === undefined ? `${device} ${table} ${address}` : qualified(device, name);
}

function qualified(device: string, name: string): string {
  return name.includes('.') ? name : `${device}.${name}`;
}

/** Names as they are written in a signal of the device. */
function namesFor(device: string, named: ReadonlyMap<string, unknown>): string[] {
  const own = `${device}.`;
  return [...named.keys()].map((name) => (name.startsWith(own) ? name.slice(own.length) : name));
}
