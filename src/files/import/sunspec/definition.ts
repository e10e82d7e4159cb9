import { z } from 'zod';
import { At } from '../../../common/schema/at.js';
import { fileFindings } from '../../../common/schema/findings.js';
import { oneOf, text, wholeNumber } from '../../../common/schema/parts.js';
import { formatProblems, pathText } from '../../../common/schema/problem.js';
import { findSunspecModel, SUNSPEC_TYPES, type SunspecModel } from '../../config/sunspec/model.js';
import { placeModel, SUNSPEC_END, SUNSPEC_MARKER, type SunspecEntry } from '../../config/sunspec/place.js';

/**
 * Definitions of models as SunSpec publishes them (json/model_103.json of https://github.com/sunspec/models),
 * and those of vendors.
 */

const BASE = 40_000;
const COMMON_MODEL = 1;

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
 * @returns also the number of the model; or what is wrong with it, as a sentence
 */
export function readDefinition(
  data: unknown,
): { readonly id: number; readonly name: string; readonly entries: readonly SunspecEntry[] } | string {
  const at = new At(data, fileFindings());
  const checked = at.check(definition) as SunspecModel | undefined;
  if (!checked) {
    const [first] = at.findings.listed.map(({ path, message }) => ({ path: pathText(path), message }));
    return first ? formatProblems('the model', [first]) : 'expected a model of SunSpec';
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
  if (!Number.isFinite(address)) return 'has too many points';
  return {
    id: checked.id,
    name: checked.group.name,
    entries: [...entries, { address, value: SUNSPEC_END }],
  };
}
