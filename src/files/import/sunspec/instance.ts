import type { SunspecGroup, SunspecModel, SunspecPoint } from '../../config/sunspec/model.js';
import { placeModel } from '../../config/sunspec/place.js';
import type { Collector } from '../collected.js';

/**
 * A model in a dump. Points are named as in a native file, with the groups that they are in: `module1_DCV`.
 */
export interface ModelInstance {
  readonly model: SunspecModel;
  /** The place of the model in the dump. */
  readonly location: string;
  /** The values by point; null for a point that is not available. */
  readonly values: ReadonlyMap<string, unknown>;
  /** How often each group occurs. */
  readonly repeat: Readonly<Record<string, number>>;
  /** The length that the dump gives; absent when it gives none. */
  readonly length?: number;
}

/** An item of `sunspec.models` of a native device. */
interface ModelEntry {
  readonly model: number;
  readonly values: Readonly<Record<string, unknown>>;
  readonly repeat?: Readonly<Record<string, number>>;
}

/** Points that say what a model is. They are left out, because they are made when the model is served. */
const OF_THE_MODEL = new Set(['ID', 'L']);
/** Clients need the texts of the common model, so a model without them gets some. */
const COMMON_MODEL = 1;
const COMMON_TEXTS = ['Mn', 'Md', 'Vr', 'SN'];

/** A point of a group with its name in the model. */
interface NamedPoint {
  readonly point: SunspecPoint;
  readonly name: string;
  /**
   * The beginnings of names in this group and in those around it, the innermost first. The scale factor is
   * looked for under these.
   */
  readonly paths: readonly string[];
}

/** All points of a model, with each group as often as it occurs. */
export function pointsOf(
  { group }: SunspecModel,
  repeat: Readonly<Record<string, number>>,
): readonly NamedPoint[] {
  const walk = (each: SunspecGroup, path: string, around: readonly string[]): NamedPoint[] => {
    const paths = [path, ...around];
    const own = each.points.map((point) => ({ point, name: path + point.name, paths }));
    const inner = (each.groups ?? []).flatMap((one) => {
      const times = one.count === undefined ? 1 : (repeat[one.name] ?? 0);
      return Array.from({ length: times }, (_, i) => walk(one, pathIn(path, one, i), paths)).flat();
    });
    return [...own, ...inner];
  };
  return walk(group, '', []);
}

/** The beginning of the names of the points of a group. @param index from 0 */
export function pathIn(path: string, { name, count }: SunspecGroup, index: number): string {
  return `${path}${name.replace(/\W/g, '_')}${count === undefined ? '' : index + 1}_`;
}

/**
 * Makes the entry of a model for a native device.
 * @param areRaw true when numbers are as they are stored; otherwise they are in the units of their points
 * @returns undefined after noting that the model is too large
 */
export function modelEntry(
  { model, location, values, repeat, length }: ModelInstance,
  areRaw: boolean,
  collector: Collector,
): ModelEntry | undefined {
  const { end } = placeModel(model, 0, { values: {}, repeat, prefix: '' });
  if (!Number.isFinite(end)) {
    collector.note(location, `model ${model.id} has too many points, so it is left out`);
    return undefined;
  }
  if (length !== undefined && end - 2 !== length)
    collector.note(location, `model ${model.id} is ${length} registers long there, ${end - 2} here`);
  const kept: Record<string, unknown> = {};
  for (const { point, name, paths } of pointsOf(model, repeat)) {
    const value = values.get(name);
    if (value === undefined || point.type === 'pad' || OF_THE_MODEL.has(name)) continue;
    const note = (message: string) => collector.note(location, `${name}: ${message}`);
    if (value === null) {
      // A point without a value is not available, but these two kinds would get a default value.
      if (point.type === 'sunssf' && isScaleFactor(model, point.name)) {
        note('not available there; here it is 0');
        kept[name] = 0;
      }
      if (model.id === COMMON_MODEL && COMMON_TEXTS.includes(name)) kept[name] = '';
      continue;
    }
    const given = asGiven(point, value);
    if (given === undefined) note(`${String(value).slice(0, 40)} is not kept`);
    else kept[name] = areRaw ? inUnits(given, powerOf(point, paths, values)) : given;
  }
  return { model: model.id, values: kept, ...(Object.keys(repeat).length > 0 && { repeat }) };
}

/** True when points of a model use this scale factor. */
function isScaleFactor(model: SunspecModel, name: string): boolean {
  const isUsed = ({ points, groups = [] }: SunspecGroup): boolean =>
    points.some(({ sf }) => sf === name) || groups.some(isUsed);
  return isUsed(model.group);
}

/** A value in the form of a native file; undefined when it can't stand there. */
function asGiven({ type }: SunspecPoint, value: unknown): unknown {
  if (type === 'string') return typeof value === 'object' ? undefined : String(value);
  if (type === 'eui48' || type === 'ipv6addr') return undefined;
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  const text = String(value);
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1);
  if (type === 'ipaddr' && parts) return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
  return /^(?:0x[0-9a-f]{1,16}|[+-]?[\d.]{1,20}(?:e[+-]?\d{1,3})?)$/i.test(text) ? Number(text) : undefined;
}

/** The power of ten of a point: its own, or the value of its scale factor in the dump. */
export function powerOf(
  { sf }: SunspecPoint,
  paths: readonly string[],
  values: ReadonlyMap<string, unknown>,
): number {
  if (sf === undefined || typeof sf === 'number') return sf ?? 0;
  const path = paths.find((each) => values.has(each + sf));
  const power = path === undefined ? undefined : values.get(path + sf);
  return typeof power === 'number' && Math.abs(power) <= 10 ? power : 0;
}

function inUnits(value: unknown, power: number): unknown {
  if (power === 0 || (typeof value !== 'number' && typeof value !== 'bigint')) return value;
  return Number(`${value}e${power}`);
}
