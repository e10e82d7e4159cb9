import {
  COMMON_MODEL,
  findSunspecModel,
  placeModel,
  type SunspecGroup,
  type SunspecModel,
  type SunspecPoint,
} from '../../../document/sunspec/place.js';
import { type Collector, numberOf, type Section, sectionOf } from '../collected.js';

/** A model in a dump. Points have their names in a native file, which include their groups: `module1_DCV`. */
export interface ModelInstance {
  readonly model: SunspecModel;
  /** The place of the model in the dump. */
  readonly location: string;
  /** The values by point; null if the point is not available. */
  readonly values: ReadonlyMap<string, unknown>;
  /** How many times each group occurs. */
  readonly repeat: Readonly<Record<string, number>>;
  /** The length given in the dump, if any. */
  readonly length?: number;
}

/** An item in `sunspec.models` of a native device. */
interface ModelEntry {
  readonly model: number;
  readonly values: Readonly<Record<string, unknown>>;
  readonly repeat?: Readonly<Record<string, number>>;
}

/** Points that identify the model. They are left out, because the server generates them. */
const OF_THE_MODEL = new Set(['ID', 'L']);
/** Clients need the texts of the common model, so a model without them gets some. */
const COMMON_TEXTS = ['Mn', 'Md', 'Vr', 'SN'];

/** A point in a group, and its name in the model. */
interface NamedPoint {
  readonly point: SunspecPoint;
  readonly name: string;
  /**
   * The name prefixes of this group and of the groups around it, innermost first. The scale factor is looked
   * up with these.
   */
  readonly paths: readonly string[];
}

/** All points of a model, with each group repeated as often as it occurs. */
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

/** The name prefix of the points in a group. @param index from 0 */
function pathIn(path: string, { name, count }: SunspecGroup, index: number): string {
  return `${path}${name.replace(/\W/g, '_')}${count === undefined ? '' : index + 1}_`;
}

/**
 * Makes the entry for a model in a native device.
 * @param areRaw true if numbers are stored values; otherwise they are in the units of their points
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
    collector.note(
      location,
      `model ${model.id} is ${length} registers long in the dump, but ${end - 2} here`,
    );
  const kept: Record<string, unknown> = {};
  for (const { point, name, paths } of pointsOf(model, repeat)) {
    const value = values.get(name);
    if (value === undefined || point.type === 'pad' || OF_THE_MODEL.has(name)) continue;
    const note = (message: string) => collector.note(location, `${name}: ${message}`);
    if (value === null) {
      // A point without a value is not available. Points of these two kinds would get a default value
      // instead.
      if (point.type === 'sunssf' && isScaleFactor(model, point.name)) {
        note('not available in the dump, so it is set to 0');
        kept[name] = 0;
      }
      if (model.id === COMMON_MODEL && COMMON_TEXTS.includes(name)) kept[name] = '';
      continue;
    }
    const given = asGiven(point, value);
    if (given === undefined) note(`${String(value).slice(0, 40)} is ignored`);
    else kept[name] = areRaw ? inUnits(given, powerOf(point, paths, values)) : given;
  }
  return { model: model.id, values: kept, ...(Object.keys(repeat).length > 0 && { repeat }) };
}

/** True if points of the model use this scale factor. */
function isScaleFactor(model: SunspecModel, name: string): boolean {
  const isUsed = ({ points, groups = [] }: SunspecGroup): boolean =>
    points.some(({ sf }) => sf === name) || groups.some(isUsed);
  return isUsed(model.group);
}

/** A value in the form of a native file; undefined if it has no such form. */
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

/**
 * Device dumps printed by `evcc sunspec` and `mbmd inspect` (cmd/sunspec.go, cmd/inspect.go), with numbers in
 * their units, and by pysunspec2's `suns.py` (Point.get_text), with stored values. All of them print points
 * in the order of the model.
 */

/** Begins a model: `--------- Model 103 inverter_three_phase ---------` */
const GO_MODEL = /^-{3,} ?Model (\d{1,5})\b.*---\s*$/;
/** Begins the first repetition of the group of the model: `-- Block 1 --` */
const GO_BLOCK = /^-- Block (\d{1,4}) --\s*$/;
/** Shows a point: `A                    4.29    uint16` */
const GO_POINT =
  /^(\w{1,60})\s(.{0,400}?)\s{3}\s*((?:u?int|acc|enum|bitfield|float)\d\d|string|sunssf|count|pad|ipaddr|ipv6addr|eui48)\s*$/;
/** Begins a model: `Model: inverter_three_phase (103)` */
const PY_MODEL = /^Model: .{0,200}\((\d{1,5})\)\s*$/;
/**
 * Shows a point: `      A        429 A`, and `   01:DCV    4800 V` in the first repetition of a group.
 * `01:02:` marks the second repetition of a group within that group.
 */
const PY_POINT = /^\s{0,6}(?:(\d{2,4}):)?(?:(\d{2,4}):)?\s{0,6}(\w{1,60}?)\s{1,60}(\S.{0,400}|)$/;

/** The identifier after the last model of a device. */
const END_OF_MODELS = 0xffff;

/** A line that shows the value of a point. */
interface ShownPoint {
  readonly line: number;
  readonly name: string;
  /** The repetition number, from 1, of each group around the point. */
  readonly indexes: readonly number[];
  /** The value; null if the point is not available. */
  readonly value: string | null;
}

interface ShownModel {
  readonly id: number;
  readonly line: number;
  readonly points: ShownPoint[];
}

/** True if a text contains a model in the form that one of these programs prints. */
export function isTextDump(text: string): boolean {
  return text.split('\n').some((line) => GO_MODEL.test(line) || PY_MODEL.test(line));
}

/**
 * Reads the known models in a dump. Unknown ones are noted.
 * @returns the models, and whether numbers are stored values
 */
export function readTextDump(
  text: string,
  collector: Collector,
): { readonly models: ModelInstance[]; readonly areRaw: boolean } {
  const shown = shownModels(text.split('\n'), collector);
  // pysunspec2 prints the end of the model list as a model.
  const models = shown.models
    .filter(({ id }) => id !== END_OF_MODELS)
    .flatMap((each) => instanceOf(each, collector));
  return { models, areRaw: shown.areRaw };
}

function shownModels(lines: readonly string[], collector: Collector) {
  const models: ShownModel[] = [];
  let areRaw = false;
  let block = 0;
  lines.forEach((written, i) => {
    const line = i + 1;
    const text = written.replace(/\r$/, '');
    const begin = GO_MODEL.exec(text) ?? PY_MODEL.exec(text);
    if (begin) {
      areRaw = PY_MODEL.test(text);
      block = 0;
      models.push({ id: Number(begin[1]), line, points: [] });
      return;
    }
    const model = models.at(-1);
    // The lines before the first model are the log of the program.
    if (!model || text.trim() === '') return;
    const next = GO_BLOCK.exec(text);
    if (next) {
      block = Number(next[1]);
      return;
    }
    const point = areRaw ? pyPoint(text, line) : goPoint(text, line, block);
    if (point) model.points.push(point);
    else collector.note(`line ${line}`, 'not a point of a model');
  });
  return { models, areRaw };
}

function goPoint(text: string, line: number, block: number): ShownPoint | undefined {
  const [, name, value = ''] = GO_POINT.exec(text) ?? [];
  if (name === undefined) return undefined;
  const shown = value.trim();
  return { line, name, indexes: block === 0 ? [] : [block], value: shown === 'n/a' ? null : shown };
}

function pyPoint(text: string, line: number): ShownPoint | undefined {
  const [, outer, inner, name, value = ''] = PY_POINT.exec(text) ?? [];
  if (name === undefined) return undefined;
  const indexes = [outer, inner].flatMap((each) => (each === undefined ? [] : [Number(each)]));
  const shown = value.trim();
  return { line, name, indexes, value: /^None\b/.test(shown) ? null : shown };
}

function instanceOf({ id, line, points }: ShownModel, collector: Collector): ModelInstance[] {
  const location = `line ${line}`;
  const found = findSunspecModel(id);
  if (!found.ok) {
    collector.note(location, found.error);
    return [];
  }
  const model = found.value;
  const names = namesIn(model.group);
  const known = points.filter((point) => {
    if (!names.has(point.name))
      collector.note(`line ${point.line}`, `${point.name}: model ${id} has no such point`);
    return names.has(point.name);
  });
  const { values, repeat, rest } = placed(model, known);
  for (const point of rest)
    collector.note(`line ${point.line}`, `${point.name} is at the wrong place for model ${id}`);
  const length = Number(values.get('L') ?? Number.NaN);
  return [{ model, location, values, repeat, ...(Number.isInteger(length) && { length }) }];
}

function namesIn({ points, groups = [] }: SunspecGroup): Set<string> {
  return new Set([...points.map(({ name }) => name), ...groups.flatMap((group) => [...namesIn(group)])]);
}

/** Walks through a model and the lines together: both have the same order. Points without a line are skipped. */
function placed({ group }: SunspecModel, points: readonly ShownPoint[]) {
  const values = new Map<string, unknown>();
  const repeat: Record<string, number> = {};
  let at = 0;
  const isAt = (indexes: readonly number[]) => {
    const next = points[at];
    return next !== undefined && indexes.every((index, i) => next.indexes[i] === index) ? next : undefined;
  };
  const walk = (each: SunspecGroup, path: string, indexes: readonly number[]) => {
    for (const { name, type, units } of each.points) {
      const next = isAt(indexes);
      if (next?.name !== name || next.indexes.length !== indexes.length) continue;
      values.set(path + name, shownValue(next.value, type, units));
      at++;
    }
    for (const inner of each.groups ?? []) {
      if (inner.count === undefined) {
        walk(inner, pathIn(path, inner, 0), indexes);
        continue;
      }
      const own = namesIn(inner);
      let times = 0;
      for (; ; times++) {
        const next = isAt([...indexes, times + 1]);
        if (!next || !own.has(next.name)) break;
        const before = at;
        walk(inner, pathIn(path, inner, times), [...indexes, times + 1]);
        if (at === before) break;
      }
      repeat[inner.name] ??= times;
    }
  };
  walk(group, '', []);
  return { values, repeat, rest: points.slice(at) };
}

/** Parses a printed number, without the unit after it. */
function shownValue(shown: string | null, type: string, units: string | undefined): unknown {
  if (shown === null || type === 'string') return shown;
  const text =
    units !== undefined && shown.endsWith(` ${units}`) ? shown.slice(0, -units.length - 1).trim() : shown;
  if (/^[+-]?\d+$/.test(text)) {
    const number = BigInt(text);
    return Number.isSafeInteger(Number(number)) ? Number(number) : number;
  }
  return /^[+-]?\d[\d.]*(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

/**
 * The device dump that pysunspec2 writes with `device.get_json()`: {"models": [{"ID": 103, "L": 50, "A":
 * 1250, "A_SF": -2, …}, …]}.
 */

/** The keys of a group other than its points and groups. */
const ABOUT = new Set(['mid', 'error', 'model_id']);

/** Reads the known models in a dump. Unknown ones are noted. */
export function readJsonDump(models: readonly unknown[], collector: Collector): ModelInstance[] {
  return models.flatMap((item, i) => {
    const location = `models[${i}]`;
    const written = sectionOf(item);
    const id = numberOf(written?.ID ?? written?.model_id);
    if (id === END_OF_MODELS) return [];
    const found = id === undefined ? undefined : findSunspecModel(id);
    if (!found?.ok || !written) {
      collector.note(location, found && !found.ok ? found.error : 'expected a model with its ID');
      return [];
    }
    const model = found.value;
    const values = new Map<string, unknown>();
    const repeat: Record<string, number> = {};
    const take = (group: SunspecGroup, content: Section, path: string, place: string) => {
      const known = new Set(group.points.map(({ name }) => name));
      for (const point of group.points)
        if (content[point.name] !== undefined) values.set(path + point.name, content[point.name]);
      for (const inner of group.groups ?? []) {
        known.add(inner.name);
        const written = content[inner.name];
        const parts = Array.isArray(written) ? written : written === undefined ? [] : [written];
        if (inner.count !== undefined) {
          const before = repeat[inner.name] ?? parts.length;
          repeat[inner.name] = before;
          if (before !== parts.length)
            collector.note(
              place,
              `${inner.name} occurs ${parts.length} times in the dump, but ${before} times here, like in the earlier model`,
            );
        }
        parts.forEach((part, n) => {
          take(inner, sectionOf(part) ?? {}, pathIn(path, inner, n), `${place}.${inner.name}[${n}]`);
        });
      }
      for (const key of Object.keys(content))
        if (!known.has(key) && !ABOUT.has(key))
          collector.note(place, `${key}: model ${model.id} has no such point`);
    };
    take(model.group, written, '', location);
    const length = numberOf(written.L);
    return [{ model, location, values, repeat, ...(length !== undefined && { length }) }];
  });
}
