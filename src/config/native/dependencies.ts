import type { PlacedSignal, PointDefinition } from '../../device/point.js';
import type { TableName } from '../../device/tables.js';
import type { At } from '../../schema/at.js';
import { unknownName } from '../../schema/nearest.js';
import { orderOf } from '../../signals/dependencies.js';
import type { DeviceDefinition } from '../configuration.js';
import { type EntryFinder, entryFinder } from './life.js';

/** The values that signals may need, by their devices and names. */
export interface Network {
  find(device: string, name: string): DependentPoint | undefined;
  readonly devices: Iterable<string>;
  namesOf(device: string): Iterable<string>;
}

/** A value of a device with the names of the values that it needs. */
export interface DependentPoint {
  readonly device: string;
  readonly point: Pick<PointDefinition, 'address' | 'name' | 'type' | 'signal'> & {
    /** `queues` for a FIFO queue that a signal feeds. */
    readonly table: TableName | 'queues';
  };
}

/** The values of these devices, and those of others. */
export function networkOf(definitions: readonly DeviceDefinition[], others?: Network): Network {
  const devices = new Map(
    definitions.map(({ name: device, life }) => {
      const points = life?.points ?? [];
      const named = points.flatMap((point) =>
        point.name === undefined ? [] : [[point.name, point] as const],
      );
      return [device, new Map(named)];
    }),
  );
  return {
    find(device, name) {
      const own = devices.get(device);
      const point = own?.get(name);
      return own ? point && { device, point } : others?.find(device, name);
    },
    devices: new Set([...devices.keys(), ...(others?.devices ?? [])]),
    namesOf: (device) => devices.get(device)?.keys() ?? others?.namesOf(device) ?? [],
  };
}

/** The values of a device that may need others. */
export function pointsOf({ name: device, life }: DeviceDefinition): DependentPoint[] {
  return [
    ...(life?.points ?? []).map((point) => ({ device, point })),
    ...(life?.feeds ?? []).map(({ address, signal }) => feedOf(device, address, signal)),
  ];
}

/** A FIFO queue that a signal feeds. */
export function feedOf(device: string, address: number, signal: PlacedSignal): DependentPoint {
  return { device, point: { table: 'queues', address, type: 'uint16', signal } };
}

/**
 * Reports names that no value has, and values that depend on themselves.
 * @param points those that are looked at; no other value needs them
 * @param deviceAt the entry of a device
 */
export function reportDependencies(
  points: readonly DependentPoint[],
  network: Network,
  deviceAt: (device: string) => At,
): void {
  const finders = new Map<string, EntryFinder>();
  for (const { message, device, point } of dependencyProblems(points, network)) {
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

/** The mistakes in the names that values need, each with the value concerned. @param points as for `reportDependencies` */
export function dependencyProblems(
  points: readonly DependentPoint[],
  network: Network,
): (DependentPoint & { message: string })[] {
  const dependent = points.filter(({ point }) => needsOf(point).length > 0);
  const knownNames = new Map<string, string[]>();
  const problems = dependent.flatMap((each) =>
    needsOf(each.point).flatMap((name) => {
      const found = neededBy(each.device, name, network);
      const unfit = found && whyNotFollowed(each, found, name);
      if (unfit !== undefined) return [{ ...each, message: unfit }];
      if (found?.point.type === 'string') return [{ ...each, message: `${name} is text, expected a number` }];
      if (found) return [];
      const known = knownNames.get(each.device) ?? namesFor(each.device, network);
      knownNames.set(each.device, known);
      return [{ ...each, message: unknownName('name', name, known) }];
    }),
  );
  if (problems.length > 0) return problems;
  const keyed = new Map(dependent.map((each) => [keyOf(each), each]));
  // What is found here is looked at in its turn: a chain may go through values that were there before.
  for (const { device, point } of keyed.values()) {
    for (const name of needsOf(point)) {
      const found = neededBy(device, name, network);
      if (found && needsOf(found.point).length > 0 && !keyed.has(keyOf(found)))
        keyed.set(keyOf(found), found);
    }
  }
  const needs = Array.from(keyed, ([key, { device, point }]) => {
    return [key, needsOf(point).map((name) => qualified(device, name))] as const;
  });
  const order = orderOf(new Map(needs));
  const blamed = order.ok ? undefined : keyed.get(order.name);
  return blamed && !order.ok ? [{ ...blamed, message: order.message }] : [];
}

/** Value names have no dot; device names may have dots. */
function neededBy(device: string, name: string, network: Network): DependentPoint | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? network.find(device, name) : network.find(name.slice(0, dot), name.slice(dot + 1));
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

/** More names are not compared with one that is unknown. */
const MOST_KNOWN = 1000;

/** Names as they are written in a signal of the device, its own first. */
function namesFor(device: string, { devices, namesOf }: Network): string[] {
  const known = [...namesOf(device)].slice(0, MOST_KNOWN);
  for (const other of devices) {
    for (const name of other === device ? [] : namesOf(other)) {
      if (known.length >= MOST_KNOWN) return known;
      known.push(`${other}.${name}`);
    }
  }
  return known;
}
