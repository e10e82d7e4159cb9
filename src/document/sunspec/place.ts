import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../../common/package.js';
import { failure, type Result, success } from '../../common/result.js';
import { unknownName } from '../../common/schema/nearest.js';
import { atOnce, type Work } from '../../common/work.js';
import type { RegisterType } from '../../device/registers/cell-type.js';

/** The published SunSpec models (https://github.com/sunspec/models), reduced to what is needed to serve them. */

/** A value of a model. `size` is in registers. */
export interface SunspecPoint {
  readonly name: string;
  readonly type: SunspecType;
  readonly size: number;
  /** The exponent of the power of ten that multiplies the value, or the name of the point with this exponent. */
  readonly sf?: string | number;
  readonly units?: string;
  readonly label?: string;
  readonly access?: 'R' | 'RW';
  readonly value?: number;
  /** The names of the values of an enumeration, or of the bits of a bit field, by number. */
  readonly symbols?: Readonly<Record<string, string>>;
}

/**
 * Adjacent points. `count` is the number of times the group occurs, or the name of the point that contains
 * that number; 0 means as often as the length of the model allows.
 */
export interface SunspecGroup {
  readonly name: string;
  readonly label?: string;
  readonly count?: string | number;
  readonly points: readonly SunspecPoint[];
  readonly groups?: readonly SunspecGroup[];
}

export interface SunspecModel {
  readonly id: number;
  readonly group: SunspecGroup;
}

/** The types of points (SunSpec Device Information Model Specification V1.2, 4.4). */
export const SUNSPEC_TYPES = [
  'int16',
  'int32',
  'int64',
  'uint16',
  'uint32',
  'uint64',
  'acc16',
  'acc32',
  'acc64',
  'enum16',
  'enum32',
  'bitfield16',
  'bitfield32',
  'float32',
  'float64',
  'string',
  'sunssf',
  'count',
  'pad',
  'ipaddr',
  'ipv6addr',
  'eui48',
] as const;

type SunspecType = (typeof SUNSPEC_TYPES)[number];

const DIRECTORY = packageFile('sunspec/');

/** Models that have been read. The files are part of the program and do not change while it runs. */
const known = new Map<number, SunspecModel>();

let knownIds: readonly number[] | undefined;

export function sunspecIds(): readonly number[] {
  knownIds ??= readdirSync(DIRECTORY)
    .flatMap((file) => /^model_(\d+)\.json$/.exec(file)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  return knownIds;
}

/** Finds a model. @returns a sentence if there is none with this number */
export function findSunspecModel(id: number): Result<SunspecModel> {
  const before = known.get(id);
  if (before) return success(before);
  const ids = sunspecIds();
  if (!ids.includes(id)) return failure(unknownName('SunSpec model', String(id), ids.map(String)));
  const model = JSON.parse(readFileSync(new URL(`model_${id}.json`, DIRECTORY), 'utf8')) as SunspecModel;
  known.set(id, model);
  return success(model);
}

/**
 * Values of a model by the names of its points, in their units. The name of a point in a group begins with
 * the name of the group.
 */
type SunspecValues = Readonly<Record<string, unknown>>;

/** An entry of holding registers in the form of a native file. */
export type SunspecEntry = Readonly<Record<string, unknown>> & { readonly address: number };

/** The storage types of points (SunSpec Device Information Model Specification V1.2, 4.4). */
const STORED: Readonly<Partial<Record<SunspecType, RegisterType>>> = {
  acc16: 'uint16',
  acc32: 'uint32',
  acc64: 'uint64',
  enum16: 'uint16',
  enum32: 'uint32',
  bitfield16: 'uint16',
  bitfield32: 'uint32',
  sunssf: 'int16',
  count: 'uint16',
  ipaddr: 'uint32',
};

/** The power of ten that gives values of a unit a useful resolution; 0 for all other units. */
const USUAL_SCALE: Readonly<Record<string, number>> = {
  V: -1,
  A: -2,
  Hz: -2,
  C: -1,
  Pct: -1,
  PF: -3,
  'cos()': -3,
  Vdc: -1,
  Adc: -2,
};

/** The number of the common model, the first in the list of models. */
export const COMMON_MODEL = 1;
/** The default values of the common model: clients do not accept a device without a manufacturer. */
const COMMON: SunspecValues = { Mn: 'modbus-sim', Md: 'SunSpec', Vr: '1.0', SN: 'SIM-0001' };

/** The marker that begins the list of models, and the model that ends it. */
export const SUNSPEC_MARKER = { type: 'string', length: 2, value: 'SunS' };
export const SUNSPEC_END = [0xffff, 0];

const PAD = -0x8000;
/** Maximum points of a model. A file with more takes seconds to read. */
const MOST_POINTS = 8192;

/** Maximum repetitions of a group. More do not fit into the addresses of a device. */
export const MOST_REPEATS = 4096;

interface Placing {
  readonly values: SunspecValues;
  readonly repeat: Readonly<Record<string, number>>;
  readonly prefix: string;
  /** The maximum number of points to place. */
  readonly most: number;
  readonly entries: SunspecEntry[];
  /** The names of points that were used. Names left over in `values` are mistakes. */
  readonly names: Set<string>;
}

type Wanted = Pick<Placing, 'values' | 'repeat' | 'prefix'> & Partial<Pick<Placing, 'most'>>;

interface Placed {
  readonly entries: SunspecEntry[];
  readonly names: ReadonlySet<string>;
  readonly end: number;
}

/**
 * Creates the registers of a model starting at an address, with its identifier and length. Points without a
 * value are marked as not available.
 * @param prefix the beginning of the names of the values, such as `m103_`
 * @param repeat how many times each group occurs, by its name; once if absent
 * @returns also the names that `values` may contain, and the address after the model: infinite if it has too
 * many points
 */
export function placeModel(model: SunspecModel, address: number, wanted: Wanted): Placed {
  return atOnce(placingModel(model, address, wanted));
}

/** Does the same as `placeModel`, in pieces. */
export function* placingModel(
  { id, group }: SunspecModel,
  address: number,
  { values, repeat, prefix, most = MOST_POINTS }: Wanted,
): Work<Placed> {
  const all = id === COMMON_MODEL ? { ...COMMON, ...values } : values;
  const limit = Math.min(most, MOST_POINTS);
  const placing: Placing = { values: all, repeat, prefix, most: limit, entries: [], names: new Set() };
  const end = yield* placingGroup(group, address, '', [], placing);
  const entries = placing.entries.map((entry) =>
    entry.name === `${prefix}L` ? { ...entry, value: end - address - 2 } : entry,
  );
  return { entries, names: placing.names, end };
}

/** The points of a group and of the groups around it, innermost first. */
type Scope = readonly { readonly group: SunspecGroup; readonly path: string }[];

function* placingGroup(
  group: SunspecGroup,
  start: number,
  path: string,
  around: Scope,
  placing: Placing,
): Work<number> {
  const scope = [{ group, path }, ...around];
  if (placing.entries.length > placing.most) return Number.POSITIVE_INFINITY;
  let address = start;
  for (const point of group.points) {
    placePoint(point, address, path, scope, placing);
    yield;
    address += point.size;
  }
  for (const inner of group.groups ?? []) {
    const times = timesOf(inner, scope, placing);
    for (let i = 1; i <= times && address < Number.POSITIVE_INFINITY; i++) {
      // Names of values consist of letters, digits and underscores.
      const name = `${inner.name.replace(/\W/g, '_')}${inner.count === undefined ? '' : i}`;
      address = yield* placingGroup(inner, address, `${path}${name}_`, scope, placing);
    }
  }
  return address;
}

/**
 * Returns how many times a group occurs. `repeat` takes precedence, then the point that contains the number,
 * then the model; otherwise it is once.
 */
function timesOf({ name, count }: SunspecGroup, scope: Scope, { repeat, values }: Placing): number {
  if (count === undefined) return 1;
  const wanted = repeat[name];
  if (wanted !== undefined) return wanted;
  const counted = typeof count === 'string' ? values[(pathOf(count, scope) ?? '') + count] : count;
  return typeof counted === 'number' && counted > 0 ? Math.min(counted, MOST_REPEATS) : 1;
}

/**
 * Returns the path of the point with this name that a group refers to: in the group itself, or in the nearest
 * group around it.
 */
function pathOf(name: string, scope: Scope): string | undefined {
  return scope.find(({ group }) => group.points.some((point) => point.name === name))?.path;
}

function placePoint(
  point: SunspecPoint,
  address: number,
  path: string,
  scope: Scope,
  placing: Placing,
): void {
  const { type, size, units, label, access, symbols } = point;
  const name = path + point.name;
  placing.names.add(name);
  const shared = {
    address,
    name: placing.prefix + name,
    ...(label !== undefined && { description: label }),
    ...(access === 'RW' && { write: true }),
  };
  if (type === 'pad') placing.entries.push({ address, type: 'int16', value: PAD, quantity: size });
  else if (type === 'string')
    placing.entries.push({ ...shared, type, length: size, value: placing.values[name] ?? '' });
  else if (type === 'eui48' || type === 'ipv6addr')
    // Network addresses are wider than any number type, so their registers are written one by one.
    placing.entries.push({ address, quantity: size, value: type === 'eui48' ? 0xffff : 0 });
  else {
    const power = powerOf(point, scope, placing);
    const value = valueIn(point, name, scope, placing);
    placing.entries.push({
      ...shared,
      type: STORED[type] ?? type,
      ...(power !== 0 && { scale: Number(`1e${power}`) }),
      ...(value === undefined
        ? { value: 0, available: access === 'RW' ? 'whenWritten' : false }
        : { value: rawOf(value, power, type) }),
      ...(units !== undefined && units !== 'SF' && { unit: units }),
      ...(symbols && type.startsWith('enum') && { labels: symbols }),
    });
  }
}

/** Returns the power of ten of a value, from its scale factor. */
function powerOf({ sf }: SunspecPoint, scope: Scope, placing: Placing): number {
  if (sf === undefined || typeof sf === 'number') return sf ?? 0;
  const path = pathOf(sf, scope);
  return path === undefined ? 0 : scaleFactor(sf, path, scope, placing);
}

/** Returns the value of a scale factor: the user's, or else the usual one for the first value that uses it. */
function scaleFactor(name: string, path: string, scope: Scope, { values }: Placing): number {
  const wanted = values[path + name];
  if (typeof wanted === 'number') return wanted;
  for (const { group } of scope) {
    const user = firstUsersOf(group).get(name);
    if (user) return USUAL_SCALE[user.units ?? ''] ?? 0;
  }
  return 0;
}

/** The first point that uses each scale factor, for groups already searched. Models never change. */
const firstUsers = new WeakMap<SunspecGroup, ReadonlyMap<unknown, SunspecPoint>>();

function firstUsersOf(group: SunspecGroup): ReadonlyMap<unknown, SunspecPoint> {
  const known = firstUsers.get(group);
  if (known) return known;
  const found = new Map(
    pointsOf(group)
      .map((point) => [point.sf, point] as const)
      .reverse(),
  );
  firstUsers.set(group, found);
  return found;
}

function pointsOf({ points, groups = [] }: SunspecGroup): SunspecPoint[] {
  return [...points, ...groups.flatMap(pointsOf)];
}

/** Returns the value of a point in its unit; undefined if it has none. */
function valueIn(point: SunspecPoint, name: string, scope: Scope, placing: Placing): unknown {
  const { type, value, symbols = {} } = point;
  const wanted = placing.values[name] ?? value;
  if (typeof wanted === 'string')
    return Number(Object.keys(symbols).find((key) => symbols[key] === wanted) ?? Number.NaN);
  if (wanted !== undefined) return wanted;
  if (type === 'sunssf') return scaleFactor(point.name, name.slice(0, -point.name.length), scope, placing);
  const counted = countedBy(point.name, scope[0]?.group);
  if (counted) return timesOf(counted, scope, placing);
  // An accumulator that does not count is 0, and so is an address that is not set.
  return type.startsWith('acc') || type === 'ipaddr' || point.name === 'L' ? 0 : undefined;
}

/**
 * Returns the group that a point counts: below the point's own group, and not nearer to another point with
 * the same name.
 */
function countedBy(name: string, { groups = [] }: Partial<SunspecGroup> = {}): SunspecGroup | undefined {
  for (const group of groups) {
    if (group.count === name) return group;
    const below = group.points.some((point) => point.name === name) ? undefined : countedBy(name, group);
    if (below) return below;
  }
  return undefined;
}

/** Returns the stored form of a value: a number in its unit, divided by its scale. */
function rawOf(value: unknown, power: number, type: SunspecType): unknown {
  if (typeof value !== 'number' || type.startsWith('float')) return value;
  return Math.round(value * Number(`1e${-power}`));
}
