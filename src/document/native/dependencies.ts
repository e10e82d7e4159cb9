import type { z } from 'zod';
import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { atOnce, type Work } from '../../common/work.js';
import type { DeviceLife } from '../../device/device.js';
import type { FindValue, NamedValue } from '../../device/faults/rule.js';
import type { PlacedSignal, PointDefinition } from '../../device/point.js';
import type { FeedDefinition } from '../../device/queue-feed.js';
import type { TableName } from '../../device/tables.js';
import type { DeviceDefinition } from '../configuration.js';
import type { deviceSections } from './device-schema.js';

/** Maximum number of values in a chain in which each depends on the next. Each value in the chain is a nested call. */
const MAX_CHAIN = 100;

/**
 * The values in an order in which each follows those that it depends on; or the error, with the value that
 * causes it.
 */
type Dependencies =
  | { readonly ok: true; readonly order: readonly string[] }
  | { readonly ok: false; readonly name: string; readonly error: string };

/**
 * Orders values by their dependencies. Refuses chains that are too long, and circular ones; the error names
 * the path. Names that are not listed depend on nothing.
 * @param verb what a value does with those that it depends on, for messages
 */
export function orderOf(needs: ReadonlyMap<string, readonly string[]>, verb = 'depends on'): Dependencies {
  return atOnce(ordering(needs, verb));
}

/** Does the same as `orderOf`, in pieces. */
export function* ordering(
  needs: ReadonlyMap<string, readonly string[]>,
  verb = 'depends on',
): Work<Dependencies> {
  /** The length of the longest chain that begins with the value; 0 if the value depends on no others. */
  const depths = new Map<string, number>();
  for (const start of needs.keys()) {
    yield;
    const path: { readonly name: string; next: number }[] = [];
    const enter = (name: string) => !depths.has(name) && path.push({ name, next: 0 });
    enter(start);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      if (path.length > MAX_CHAIN + 1) return tooLong(start, verb);
      const needed = needs.get(top.name) ?? [];
      const name = needed[top.next++];
      if (name === undefined) {
        const depth = 1 + Math.max(-1, ...needed.map((each) => depths.get(each) as number));
        if (depth > MAX_CHAIN) return tooLong(top.name, verb);
        depths.set(top.name, depth);
        path.pop();
        continue;
      }
      const first = path.findIndex((entry) => entry.name === name);
      if (first >= 0)
        return circle(
          path.slice(first).map((entry) => entry.name),
          verb,
        );
      enter(name);
    }
  }
  return { ok: true, order: [...depths.keys()].filter((name) => needs.has(name)) };
}

function circle(names: readonly string[], verb: string): Dependencies {
  const [first] = names as [string];
  return { ok: false, name: first, error: `${verb} itself: ${[...names, first].join(' -> ')}` };
}

function tooLong(name: string, verb: string): Dependencies {
  return { ok: false, name, error: `${verb} a chain of more than ${MAX_CHAIN} other values` };
}

/** Returns the names, signals and clock of a device; undefined if it has none. */
export function lifeOf(
  { clock, seed }: Pick<Partial<z.output<typeof deviceSections>>, 'clock' | 'seed'>,
  points: readonly PointDefinition[],
  feeds: readonly FeedDefinition[],
): DeviceLife | undefined {
  const isStill = points.length === 0 && feeds.length === 0;
  if (isStill && clock === undefined && seed === undefined) return undefined;
  return { points, clock: compact(clock ?? {}), seed: seed ?? 0, feeds };
}

/** Reports values of a device that have the same name. */
export function reportSharedNames(points: readonly PointDefinition[], registers: At): void {
  const named = new Map<string, PointDefinition>();
  const entryOf = entryFinder(registers);
  for (const point of points) {
    const { name } = point;
    if (name === undefined) continue;
    const other = named.get(name);
    if (other) {
      const message = `${other.table} ${other.address} already has the name ${name}`;
      entryOf(point)?.key('name').wrong(message);
    }
    named.set(name, point);
  }
}

/** Finds the entry that defines a value. */
type EntryFinder = (value: Pick<PointDefinition, 'table' | 'address'>) => At | undefined;

/**
 * Creates a finder of entries. It sorts each table once, on the first search: a device may have tens of
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

/** The values of a device by name; undefined if there is no such device. */
type ValuesOf = (device: string) => ReadonlyMap<string, PointDefinition> | undefined;

/**
 * Creates the function that finds values for fault rules by device and name. Names of values have no dot;
 * names of devices may have dots.
 */
export function valueFinder(devices: readonly string[], valuesOf: ValuesOf): FindValue {
  return (name) => {
    const dot = name.lastIndexOf('.');
    if (dot < 0)
      return failure(
        `expected the name of a device, a dot and the name of a value, as in ${devices[0]}.${name}`,
      );
    const device = name.slice(0, dot);
    const last = name.slice(dot + 1);
    const values = valuesOf(device);
    if (!values) return bitNamed(device, last, valuesOf) ?? failure(unknownName('device', device, devices));
    const point = values.get(last);
    if (!point) return failure(unknownName('name', last, [...values.keys()]));
    const { table, address, cells: quantity } = point;
    return success({ device, table, address, quantity });
  };
}

/**
 * Returns the bit of a value, as in `meter.status.overload`, or why the value has no such bit; undefined if
 * no device has this value.
 */
function bitNamed(owner: string, name: string, valuesOf: ValuesOf): Result<NamedValue> | undefined {
  const dot = owner.lastIndexOf('.');
  const [device, value] = [owner.slice(0, dot), owner.slice(dot + 1)];
  const point = dot < 0 ? undefined : valuesOf(device)?.get(value);
  if (!point) return undefined;
  const { table, address, cells: quantity, bits = [] } = point;
  const found = bits.find(([, each]) => each === name);
  if (!found)
    return failure(
      unknownName(
        `bit of ${owner}`,
        name,
        bits.map(([, each]) => each),
      ),
    );
  return success({ device, table, address, quantity, bit: { number: found[0], of: value } });
}

export function pointsByName(points: Iterable<PointDefinition>): ReadonlyMap<string, PointDefinition> {
  return new Map(
    Array.from(points).flatMap((point) => (point.name === undefined ? [] : [[point.name, point] as const])),
  );
}

/** Finds the values that signals depend on, by device and name. */
export interface Network {
  find(device: string, name: string): DependentPoint | undefined;
  readonly devices: Iterable<string>;
  namesOf(device: string): Iterable<string>;
}

/** A value of a device, with the names of the values that it depends on. */
export interface DependentPoint {
  readonly device: string;
  readonly point: Pick<PointDefinition, 'address' | 'name' | 'type' | 'signal'> & {
    /** `queues`: a FIFO queue that a signal feeds. */
    readonly table: TableName | 'queues';
  };
}

/** Returns the network of the values of these devices, backed by another network. */
export function networkOf(definitions: readonly DeviceDefinition[], others?: Network): Network {
  const devices = new Map(definitions.map((definition) => [definition.name, definition]));
  const known = new Map<string, ReadonlyMap<string, PointDefinition>>();
  const valuesOf = (device: string) => {
    const definition = devices.get(device);
    const values = definition && (known.get(device) ?? pointsByName(definition.life?.points ?? []));
    if (values) known.set(device, values);
    return values;
  };
  return {
    find(device, name) {
      const own = valuesOf(device);
      const point = own?.get(name);
      return own ? point && { device, point } : others?.find(device, name);
    },
    devices: new Set([...devices.keys(), ...(others?.devices ?? [])]),
    namesOf: (device) => valuesOf(device)?.keys() ?? others?.namesOf(device) ?? [],
  };
}

/** Returns the values of a device that may depend on others. */
export function pointsOf({ name: device, life }: DeviceDefinition): DependentPoint[] {
  return [
    ...(life?.points ?? []).map((point) => ({ device, point })),
    ...(life?.feeds ?? []).map(({ address, signal }) => feedOf(device, address, signal)),
  ];
}

/** Returns the value that represents a FIFO queue fed by a signal. */
export function feedOf(device: string, address: number, signal: PlacedSignal): DependentPoint {
  return { device, point: { table: 'queues', address, type: 'uint16', signal } };
}

/**
 * Reports names without a value, and values that depend on themselves, as work that can pause.
 * @param points the values to check; no other value depends on them
 * @param deviceAt finds the entry of a device
 */
export function* reportingDependencies(
  points: readonly DependentPoint[],
  network: Network,
  deviceAt: (device: string) => At,
): Work<void> {
  const finders = new Map<string, EntryFinder>();
  for (const { message, device, point } of yield* findingProblems(points, network)) {
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

type DependencyProblem = DependentPoint & { message: string };

/**
 * Finds the mistakes in the names that values depend on, as work that can pause: each mistake with its value.
 * @param points as for `reportingDependencies`
 */
export function* findingProblems(
  points: Iterable<DependentPoint>,
  network: Network,
): Work<DependencyProblem[]> {
  const keyed = new Map<string, DependentPoint>();
  const unknown = new Map<string, string>();
  const problems: DependencyProblem[] = [];
  const problemWith = (each: DependentPoint, name: string): string | undefined => {
    const found = neededBy(each.device, name, network);
    if (!found) {
      // Thousands of values may refer to the same unknown value, and each comparison with all known names
      // takes long.
      const key = `${each.device} ${name}`;
      const message = unknown.get(key) ?? unknownName('name', name, namesFor(each.device, network));
      unknown.set(key, message);
      return message;
    }
    const unfit = whyNotFollowed(each, found, name);
    return unfit ?? (found.point.type === 'string' ? `${name} is text, expected a number` : undefined);
  };
  for (const each of points) {
    const names = needsOf(each.point);
    if (names.length === 0) continue;
    keyed.set(keyOf(each), each);
    for (const name of names) {
      const message = problemWith(each, name);
      if (message === undefined) continue;
      problems.push({ ...each, message });
      yield;
    }
    yield;
  }
  if (problems.length > 0) return problems;
  const needs = new Map<string, string[]>();
  // Values found here are searched as well: a chain may lead through values that already existed.
  for (const [key, { device, point }] of keyed) {
    needs.set(
      key,
      needsOf(point).map((name) => qualified(device, name)),
    );
    for (const name of needsOf(point)) {
      const found = neededBy(device, name, network);
      if (found && needsOf(found.point).length > 0 && !keyed.has(keyOf(found)))
        keyed.set(keyOf(found), found);
    }
    yield;
  }
  const order = yield* ordering(needs);
  const blamed = order.ok ? undefined : keyed.get(order.name);
  return blamed && !order.ok ? [{ ...blamed, message: order.error }] : [];
}

/** Returns the value that a name in a signal refers to. Names of values have no dot; names of devices may have dots. */
function neededBy(device: string, name: string, network: Network): DependentPoint | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? network.find(device, name) : network.find(name.slice(0, dot), name.slice(dot + 1));
}

/** Returns why a signal can't follow a value; undefined if it can, or if the signal is of another kind. */
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
    : `${name} is computed by ${moved}, expected a value that is written or that follows another`;
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

/** Maximum known names that an unknown name is compared with. */
export const MOST_KNOWN = 1000;

/** Returns known names in the form that a signal of this device uses, its own names first. */
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
