import fc from 'fast-check';
import type { z } from 'zod';
import { DURATION } from '../../common/schema/milliseconds.js';
import { type JsonSchema, SchemaConverter } from '../../common/schema/written-as.js';

/*
 * Arbitraries of fast-check from the schemas of files: what a schema documents is what is tried. A number
 * without a limit, and a time, get one here, because every move has to end soon.
 */

/** The longest time that is written, in ms; most are much shorter. */
export const LONGEST_MS = 5_000;
/** The largest number where the schema has no limit, and where a time stands beside it: copies with pauses. */
const LARGEST = 300;
const FEW = 4;
/** Numbers up to this one are no times: percent and probabilities. */
const SHARE = 100;
const LONGEST_TEXT = 64;
const MOST_ITEMS = 16;
const WORD = 0xffff;

const PREFIX = '#/';

/** Makes an arbitrary of what a person may write for a schema. It may make what a refinement refuses. */
export function written(schema: z.ZodType): fc.Arbitrary<unknown> {
  const converter = new SchemaConverter('draft-2020-12', PREFIX);
  const json = converter.convert(schema, 'input');
  return arbitraryOf(json, ($ref) => converter.definitions[$ref.slice(PREFIX.length)] ?? {}, LARGEST);
}

function arbitraryOf(
  schema: JsonSchema,
  resolve: (ref: string) => JsonSchema,
  largest: number,
): fc.Arbitrary<unknown> {
  const of = (part: JsonSchema) => arbitraryOf(part, resolve, largest);
  const { $ref, anyOf, oneOf, const: only, enum: several, type, pattern } = schema;
  if ($ref !== undefined) return of(resolve($ref));
  const choices = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  // A time is a number or a text; the number says it all.
  if (choices) return fc.oneof(...choices.filter((each) => each.pattern !== DURATION.source).map(of));
  if (several) return fc.constantFrom(...several);
  if (only !== undefined) return fc.constant(only);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return integer(schema, largest);
  if (type === 'number') return time(schema);
  if (type === 'string') return text(pattern);
  if (type === 'array') {
    const { items, minItems = 0, maxItems = MOST_ITEMS } = schema;
    const bounds = { minLength: minItems, maxLength: Math.min(maxItems, MOST_ITEMS) };
    return fc.array(of((items ?? {}) as JsonSchema), bounds);
  }
  if (type !== 'object') return fc.constant(true);
  const { properties = {}, required = [] } = schema;
  const parts = Object.entries(properties as Record<string, JsonSchema>);
  const hasTime = parts.some(([, part]) => isTime(part));
  const arbitraries = parts.map(([key, part]) => [key, arbitraryOf(part, resolve, hasTime ? FEW : largest)]);
  return fc.record(Object.fromEntries(arbitraries), { requiredKeys: required as never[] });
}

function integer({ minimum = 0, maximum }: JsonSchema, largest: number): fc.Arbitrary<unknown> {
  const max = maximum === undefined || maximum > WORD ? Math.max(minimum, largest) : maximum;
  const few = Math.min(max, minimum + 2 * FEW);
  return fc.oneof(fc.integer({ min: minimum, max: few }), fc.integer({ min: minimum, max }));
}

function isTime({ anyOf = [] }: JsonSchema): boolean {
  return (anyOf as readonly JsonSchema[]).some(({ pattern }) => pattern === DURATION.source);
}

/** Times of all sizes: as many from 1 to 10 ms as from 100 ms to 1 s. */
function time({ minimum = 0, maximum = LONGEST_MS }: JsonSchema): fc.Arbitrary<unknown> {
  if (maximum <= SHARE) return fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
  const most = Math.log(Math.min(maximum, LONGEST_MS));
  return fc.integer({ min: 0, max: 1000 }).map((share) => {
    return Math.max(minimum, Number(Math.exp((share / 1000) * most).toPrecision(2)));
  });
}

function text(pattern: string | undefined): fc.Arbitrary<unknown> {
  if (pattern === undefined) return fc.constantFrom('a');
  if (!pattern.includes('[0-9a-fA-F]{2}')) return fc.stringMatching(new RegExp(pattern));
  return fc.uint8Array({ minLength: 1, maxLength: LONGEST_TEXT }).map((bytes) =>
    Buffer.from(bytes)
      .toString('hex')
      .replaceAll(/..(?=.)/g, '$& '),
  );
}
