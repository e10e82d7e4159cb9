import { formatProblems } from '../../../common/schema/problem.js';
import { parseText } from '../../config/text/parse-text.js';
import { Collector, type Imported } from '../collected.js';
import { sectionOf } from '../parts.js';
import { readDefinition } from './definition.js';
import { type ModelInstance, modelEntry, pointsOf, powerOf } from './instance.js';
import { readJsonDump } from './json-dump.js';
import { isTextDump, readTextDump } from './text-dump.js';

/** True when a text is a definition or a dump of SunSpec models. */
export function isSunspec(text: string): boolean {
  if (!/^\s*\{/.test(text)) return isTextDump(text);
  const isDefinition = /"group"\s*:/.test(text) && /"points"\s*:/.test(text);
  return isDefinition || (/"models"\s*:\s*\[/.test(text) && /"(?:ID|model_id)"\s*:/.test(text));
}

/**
 * Reads a definition of a model of SunSpec, or a dump of the models of a device.
 * @returns what is wrong with the text, as a sentence
 */
export function importSunspec(text: string, device: string): Imported | string {
  const collector = new Collector();
  if (!/^\s*\{/.test(text)) {
    if (!isTextDump(text)) return 'expected a model of SunSpec, or a dump of models';
    const { models, areRaw } = readTextDump(text, collector);
    return imported('a dump of SunSpec models', models, areRaw, device, collector);
  }
  const parsed = parseText(text);
  if (!parsed.ok) return formatProblems('the file', parsed.problems.slice(0, 1));
  const data = sectionOf(parsed.source.value) ?? {};
  if (data.group !== undefined) return importDefinition(data, device);
  if (!Array.isArray(data.models)) return 'expected a model with its group, or a device with its models';
  const models = readJsonDump(data.models, collector);
  const named = typeof data.name === 'string' ? data.name : device;
  return imported('a dump of pysunspec2', models, !isComputed(text, models), named, collector);
}

function importDefinition(data: unknown, device: string): Imported | string {
  const read = readDefinition(data);
  if (typeof read === 'string') return read;
  const { id, name, entries } = read;
  const entry = { registers: { holding: entries } };
  const whole = {
    entry,
    holds: `SunSpec models 1 and ${id} from holding register 40000`,
    values: entries.length,
  };
  return {
    what: `SunSpec model ${id}, ${name}`,
    preview: [
      'no point has a value: set those that a client needs, or write sunspec: [1, …] for models that are published',
    ],
    lines: [{ original: '', devices: [{ unit: 1, name: device, values: [], whole }] }],
    notes: [],
  };
}

function imported(
  what: string,
  found: readonly ModelInstance[],
  areRaw: boolean,
  device: string,
  collector: Collector,
): Imported {
  const models = found.flatMap((each) => modelEntry(each, areRaw, collector) ?? []);
  const values = models.reduce((sum, each) => sum + Object.keys(each.values).length, 0);
  const whole = {
    entry: { sunspec: models },
    holds: `SunSpec models ${models.map(({ model }) => model).join(', ')}`,
    values,
  };
  const shown = areRaw ? 'as they are stored, so their scale factors were applied' : 'in their units';
  return {
    ...collector.end(what, [`values are ${shown}`]),
    lines:
      models.length === 0 ? [] : [{ original: '', devices: [{ unit: 1, name: device, values: [], whole }] }],
  };
}

/**
 * Decides whether the numbers of a dump of pysunspec2 are in their units, by `get_json(computed=True)`: then
 * each that has a scale factor other than 0 is written with a decimal point.
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
