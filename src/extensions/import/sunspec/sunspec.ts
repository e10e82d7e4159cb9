import { z } from 'zod';
import { failure, type Result, success } from '../../../common/result.js';
import { At } from '../../../common/schema/at.js';
import { fileFindings } from '../../../common/schema/findings.js';
import { oneOf, text, wholeNumber } from '../../../common/schema/parts.js';
import { formatProblems, pathText } from '../../../common/schema/problem.js';
import {
  COMMON_MODEL,
  findSunspecModel,
  placeModel,
  SUNSPEC_END,
  SUNSPEC_MARKER,
  SUNSPEC_TYPES,
  type SunspecEntry,
  type SunspecModel,
} from '../../../document/sunspec/place.js';
import { parseText } from '../../../document/text/parse-text.js';
import { Collector, type Imported, sectionOf } from '../collected.js';
import {
  isTextDump,
  type ModelInstance,
  modelEntry,
  pointsOf,
  powerOf,
  readJsonDump,
  readTextDump,
} from './instance.js';

/**
 * Model definitions as published by SunSpec (json/model_103.json in https://github.com/sunspec/models), and
 * by vendors.
 */

const BASE = 40_000;

const name = z
  .string({ error: 'a name' })
  .regex(/^[\w-]{1,40}$/, { error: 'a name of letters, digits, underscores and hyphens' });

const point = z.object({
  name,
  type: oneOf(SUNSPEC_TYPES),
  size: wholeNumber(1, 1024, 'a number of registers'),
  sf: z.union([wholeNumber(-10, 10), name], { error: 'a scale factor, or the name of one' }).optional(),
  units: text('a unit').optional(),
  label: text('text').optional(),
  access: oneOf(['R', 'RW']).optional(),
  value: z
    .unknown()
    .transform((value) => (typeof value === 'number' ? value : undefined))
    .optional(),
  symbols: z
    .array(z.object({ name: text('a name'), value: z.number({ error: 'a number' }) }), {
      error: 'a list of symbols',
    })
    .transform((all) => Object.fromEntries(all.map((each) => [each.value, each.name])))
    .optional(),
});

const group = z.object({
  name,
  label: text('text').optional(),
  count: z.union([wholeNumber(0, 4096), name], { error: 'a number, or the name of a point' }).optional(),
  points: z.array(point, { error: 'a list of points' }).default([]),
  get groups() {
    return z.array(group, { error: 'a list of groups' }).optional();
  },
});

const definition = z.object({ id: wholeNumber(1, 65_534, 'the number of a model'), group });

/**
 * Makes the registers of a device that has the common model and this one.
 * @returns also the number of the model; or the error message
 */
function readDefinition(
  data: unknown,
): Result<{ readonly id: number; readonly name: string; readonly entries: readonly SunspecEntry[] }> {
  const at = new At(data, fileFindings());
  const checked = at.check(definition) as SunspecModel | undefined;
  if (!checked) {
    const [first] = at.findings.listed.map(({ path, message }) => ({ path: pathText(path), message }));
    return failure(first ? formatProblems('the model', [first]) : 'expected a SunSpec model');
  }
  const common = findSunspecModel(COMMON_MODEL);
  const models = checked.id === COMMON_MODEL || !common.ok ? [checked] : [common.value, checked];
  const entries: SunspecEntry[] = [{ address: BASE, ...SUNSPEC_MARKER }];
  let address = BASE + 2;
  for (const model of models) {
    const placed = placeModel(model, address, { values: {}, repeat: {}, prefix: `m${model.id}_` });
    entries.push(...placed.entries);
    address = placed.end;
  }
  if (!Number.isFinite(address)) return failure('has too many points');
  return success({
    id: checked.id,
    name: checked.group.name,
    entries: [...entries, { address, value: SUNSPEC_END }],
  });
}

/** True if a string is a definition or a dump of SunSpec models. */
export function isSunspec(text: string): boolean {
  if (!/^\s*\{/.test(text)) return isTextDump(text);
  const isDefinition = /"group"\s*:/.test(text) && /"points"\s*:/.test(text);
  return isDefinition || (/"models"\s*:\s*\[/.test(text) && /"(?:ID|model_id)"\s*:/.test(text));
}

/** Reads a SunSpec model definition, or a dump of the models of a device. */
export function importSunspec(text: string, device: string): Result<Imported> {
  const collector = new Collector();
  if (!/^\s*\{/.test(text)) {
    if (!isTextDump(text)) return failure('expected a SunSpec model, or a dump of models');
    const { models, areRaw } = readTextDump(text, collector);
    return imported('a dump of SunSpec models', models, areRaw, device, collector);
  }
  const parsed = parseText(text);
  if (!parsed.ok) return failure(formatProblems('the file', parsed.problems.slice(0, 1)));
  const data = sectionOf(parsed.source.value) ?? {};
  if (data.group !== undefined) return importDefinition(data, device);
  if (!Array.isArray(data.models))
    return failure('expected a model with its group, or a device with its models');
  const models = readJsonDump(data.models, collector);
  const named = typeof data.name === 'string' ? data.name : device;
  return imported('a pysunspec2 dump', models, !isComputed(text, models), named, collector);
}

function importDefinition(data: unknown, device: string): Result<Imported> {
  const read = readDefinition(data);
  if (!read.ok) return read;
  const { id, name, entries } = read.value;
  const entry = { registers: { holding: entries } };
  const whole = {
    entry,
    holds: `SunSpec models 1 and ${id} from holding register 40000`,
    values: entries.length,
  };
  return success({
    what: `SunSpec model ${id}, ${name}`,
    preview: [
      'no point has a value: set those that a client needs, or write sunspec: [1, …] for published models',
    ],
    lines: [{ original: '', devices: [{ unit: 1, name: device, values: [], whole }] }],
    notes: [],
  });
}

function imported(
  what: string,
  found: readonly ModelInstance[],
  areRaw: boolean,
  device: string,
  collector: Collector,
): Result<Imported> {
  const models = found.flatMap((each) => modelEntry(each, areRaw, collector) ?? []);
  const values = models.reduce((sum, each) => sum + Object.keys(each.values).length, 0);
  const whole = {
    entry: { sunspec: models },
    holds: `SunSpec models ${models.map(({ model }) => model).join(', ')}`,
    values,
  };
  const shown = areRaw ? 'stored numbers, so their scale factors were applied' : 'in their units';
  return success({
    ...collector.end(what, [`values are ${shown}`]).value,
    lines:
      models.length === 0 ? [] : [{ original: '', devices: [{ unit: 1, name: device, values: [], whole }] }],
  });
}

/**
 * Decides whether a pysunspec2 dump has numbers in their units (`get_json(computed=True)`): if so, each
 * number with a scale factor other than 0 has a decimal point.
 */
function isComputed(text: string, models: readonly ModelInstance[]): boolean {
  const scaled = models.flatMap(({ model, repeat, values }) =>
    pointsOf(model, repeat).flatMap(({ point, name, paths }) => {
      const value = values.get(name);
      const isNumber = typeof value === 'number' && !point.type.startsWith('float');
      return isNumber && powerOf(point, paths, values) !== 0 ? [{ name: point.name, value }] : [];
    }),
  );
  if (scaled.some(({ value }) => !Number.isInteger(value))) return true;
  const [first] = scaled;
  return first !== undefined && new RegExp(`"${first.name}"\\s*:\\s*-?\\d+\\.0\\b`).test(text);
}
