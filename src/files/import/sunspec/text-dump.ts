import { findSunspecModel, type SunspecGroup, type SunspecModel } from '../../config/sunspec/model.js';
import type { Collector } from '../collected.js';
import { type ModelInstance, pathIn } from './instance.js';

/**
 * The dumps that programs print of a device: `evcc sunspec` and `mbmd inspect` (cmd/sunspec.go,
 * cmd/inspect.go), which show numbers in their units, and `suns.py` of pysunspec2 (Point.get_text), which
 * shows them as they are stored. All print points in the order of the model.
 */

/** Begins a model: `--------- Model 103 inverter_three_phase ---------` */
const GO_MODEL = /^-{3,} ?Model (\d{1,5})\b.*-{3,}\s*$/;
/** Begins the first repetition of the group of the model: `-- Block 1 --` */
const GO_BLOCK = /^-- Block (\d{1,4}) --\s*$/;
/** Shows a point: `A                    4.29    uint16` */
const GO_POINT =
  /^(\w{1,60})\s(.{0,400}?)\s{3}\s*((?:u?int|acc|enum|bitfield|float)\d\d|string|sunssf|count|pad|ipaddr|ipv6addr|eui48)\s*$/;
/** Begins a model: `Model: inverter_three_phase (103)` */
const PY_MODEL = /^Model: .{0,200}\((\d{1,5})\)\s*$/;
/**
 * Shows a point: `      A        429 A`, and `   01:DCV    4800 V` in the first repetition of a group.
 * `01:02:` begins the second repetition of a group in that group.
 */
const PY_POINT = /^\s{0,6}(?:(\d{2,4}):)?(?:(\d{2,4}):)?\s{0,6}(\w{1,60}?)\s{1,60}(\S.{0,400}|)$/;

/** The identifier behind the last model of a device. */
export const END_OF_MODELS = 0xffff;

/** A line with the value of a point. */
interface ShownPoint {
  readonly line: number;
  readonly name: string;
  /** The number, from 1, of the repetition of each group around the point. */
  readonly indexes: readonly number[];
  /** The value; null when the point is not available. */
  readonly value: string | null;
}

/** A model as it is printed. */
interface ShownModel {
  readonly id: number;
  readonly line: number;
  readonly points: ShownPoint[];
}

/** True when a text has a model as one of the programs prints it. */
export function isTextDump(text: string): boolean {
  return text.split('\n').some((line) => GO_MODEL.test(line) || PY_MODEL.test(line));
}

/**
 * Reads the known models of a dump. Unknown ones are noted.
 * @returns also whether numbers are as they are stored
 */
export function readTextDump(
  text: string,
  collector: Collector,
): { readonly models: ModelInstance[]; readonly areRaw: boolean } {
  const shown = shownModels(text.split('\n'), collector);
  // pysunspec2 shows the end of the list of models as a model.
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
    collector.note(`line ${point.line}`, `${point.name} is not where model ${id} has it`);
  const length = Number(values.get('L') ?? Number.NaN);
  return [{ model, location, values, repeat, ...(Number.isInteger(length) && { length }) }];
}

function namesIn({ points, groups = [] }: SunspecGroup): Set<string> {
  return new Set([...points.map(({ name }) => name), ...groups.flatMap((group) => [...namesIn(group)])]);
}

/** Walks through a model beside the lines, which are in its order. Points without a line are passed over. */
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

/** Converts a shown number to a number, without the unit behind it. */
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
