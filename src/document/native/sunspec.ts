import { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping, oneOf, readApart, section, wholeNumber } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import type { Work } from '../../common/work.js';
import { CELLS_PER_VALUE, type ValueType } from '../../device/registers/cell-type.js';
import { parseValue } from '../../device/registers/value.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import {
  findSunspecModel,
  MOST_REPEATS,
  placingModel,
  SUNSPEC_END,
  SUNSPEC_MARKER,
  type SunspecEntry,
} from '../sunspec/place.js';

/**
 * The addresses at which a client looks for the marker, in order of preference (SunSpec Device Information
 * Model Specification V1.2, 6.2).
 */
export const SUNSPEC_BASES = [40_000, 0, 50_000];
const MOST_MODELS = 64;

const modelSchema = section(
  {
    model: wholeNumber(1, 65_534, 'the number of a model'),
    values: z.record(z.string(), z.unknown(), { error: 'values by point name' }).default({}),
    repeat: z
      .record(z.string(), wholeNumber(0, MOST_REPEATS), {
        error: 'the number of repetitions of each group, by name',
      })
      .default({}),
  },
  {
    model: 'The model number.',
    values: 'Values by point name.',
    repeat: 'The number of repetitions of each repeating group.',
  },
);

const modelsForm = z
  .array(z.union([modelSchema.shape.model, modelSchema]))
  .min(1)
  .max(MOST_MODELS);

const sunspecSchema = section(
  {
    models: readApart(() => modelsForm),
    base: oneOf(SUNSPEC_BASES).default(SUNSPEC_BASES[0] as number),
  },
  {
    models: 'Numbers of models, such as [1, 103], or {model: 103, values: {A: 12}}.',
    base: 'The address of the marker.',
  },
);

/** The documented form of `sunspec` of a device. */
export const sunspecForm = z.union([modelsForm, sunspecSchema]);

/** Maximum entries of the models of a device that is added over REST. */
export const MOST_ENTRIES_OVER_REST = 1000;

/**
 * Replaces the key `sunspec` of a device with the registers of its SunSpec models, in pieces. Reports
 * mistakes in the models.
 * @param most the maximum number of points of all models together
 */
export function* withSunspec(device: At, most = Number.POSITIVE_INFINITY): Work<At> {
  const at = device.key('sunspec');
  if (at.value === undefined || !isMapping(device.value)) return device;
  const isList = Array.isArray(at.value);
  const { base = SUNSPEC_BASES[0] as number } = isList ? {} : (at.check(sunspecSchema) ?? {});
  const entries = yield* modelsOf(isList ? at : at.key('models'), base, most);
  const { sunspec: _, registers, ...others } = device.value;
  const present = isMapping(registers) ? registers : {};
  const holding = Array.isArray(present.holding) ? present.holding : [];
  return device.with({ ...others, registers: { ...present, holding: [...holding, ...entries] } });
}

function* modelsOf(at: At, base: number, most: number): Work<SunspecEntry[]> {
  const items = at.items('a list of models, such as [1, 103]') ?? [];
  if (items.length === 0 || items.length > MOST_MODELS) {
    at.wrong(`expected 1 to ${MOST_MODELS} models, got ${items.length}`);
    return [];
  }
  const entries: SunspecEntry[] = [{ address: base, ...SUNSPEC_MARKER }];
  const seen = new Map<number, number>();
  let address = base + 2;
  for (const item of items) {
    yield;
    const wanted = (isMapping(item.value) ? item : item.with({ model: item.value })).check(modelSchema);
    if (!wanted) return entries;
    const { model: id, values, repeat } = wanted;
    const model = findSunspecModel(id);
    if (!model.ok) {
      item.wrong(model.error);
      continue;
    }
    const times = (seen.get(id) ?? 0) + 1;
    seen.set(id, times);
    const prefix = times === 1 ? `m${id}_` : `m${id}n${times}_`;
    const placed = yield* placingModel(model.value, address, {
      values,
      repeat,
      prefix,
      most: most - entries.length,
    });
    if (placed.entries.length > most - entries.length) {
      at.wrong(
        `expected models with at most ${most} points in total: define the device in the configuration file`,
      );
      return entries;
    }
    for (const name of Object.keys(values))
      if (!placed.names.has(name))
        item
          .key('values')
          .key(name)
          .wrong(unknownName('point', name, [...placed.names]));
    address = placed.end;
    if (address + SUNSPEC_END.length > ADDRESS_SPACE) {
      const why = Number.isFinite(address) ? `it would end at address ${address}` : 'it has too many points';
      item.wrong(`does not fit: ${why}`);
      return entries;
    }
    entries.push(...withoutWrong(placed.entries, prefix, values, item.key('values')));
  }
  if (!seen.has(1)) at.warn('clients expect model 1, the common model, first');
  return [...entries, { address, value: SUNSPEC_END }];
}

/**
 * Reports values that their types can't hold at this scale, at the place where they were written.
 * @returns the entries without those values
 */
function withoutWrong(
  entries: readonly SunspecEntry[],
  prefix: string,
  values: Readonly<Record<string, unknown>>,
  at: At,
): SunspecEntry[] {
  return entries.filter(({ name, type, length, value }) => {
    const point = typeof name === 'string' ? name.slice(prefix.length) : '';
    if (!Object.hasOwn(values, point)) return true;
    const cells = type === 'string' ? Number(length) : CELLS_PER_VALUE[type as Exclude<ValueType, 'string'>];
    const parsed = parseValue(type as ValueType, value, cells);
    if (!parsed.ok) at.key(point).wrong(expectedMessage(parsed.error, values[point]));
    return parsed.ok;
  });
}
