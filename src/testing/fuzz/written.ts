import type { z } from 'zod';
import { DURATION } from '../../common/schema/milliseconds.js';
import { type JsonSchema, SchemaConverter } from '../../common/schema/written-as.js';
import { MAX_WORD } from '../../modbus/protocol/limits.js';
import { bytesOf, type Draw, either, listOf, oneOf, wholeFrom } from './draw.js';

/*
 * Draws values that fit the schema of a file. Times, and numbers without a limit, get one here, because every
 * move must end soon.
 */

/** The longest time drawn, in ms; most are much shorter. */
export const LONGEST_MS = 5_000;
/** The largest number if the schema has no limit, and if there is also a time, as for copies. */
const LARGEST = 300;
const FEW = 4;
/** Numbers up to this one are not times but percentages and probabilities. */
const SHARE = 100;
const LONGEST_TEXT = 64;
const MOST_ITEMS = 16;

const PREFIX = '#/';

/** Draws an input that a schema accepts, except perhaps for its refinements. */
export function written(schema: z.ZodType): Draw<unknown> {
  const converter = new SchemaConverter('draft-2020-12', PREFIX);
  const json = converter.convert(schema, 'input');
  return drawOf(json, ($ref) => converter.definitions[$ref.slice(PREFIX.length)] ?? {}, LARGEST);
}

function drawOf(schema: JsonSchema, resolve: (ref: string) => JsonSchema, largest: number): Draw<unknown> {
  const of = (part: JsonSchema) => drawOf(part, resolve, largest);
  const { $ref, anyOf, oneOf: choice, const: only, enum: several, type, pattern } = schema;
  if ($ref !== undefined) return of(resolve($ref));
  const choices = (anyOf ?? choice) as readonly JsonSchema[] | undefined;
  // A time may be a number or text; numbers cover everything.
  if (choices) return either(...choices.filter((each) => each.pattern !== DURATION.source).map(of));
  if (several) return oneOf(several);
  if (only !== undefined) return oneOf([only]);
  if (type === 'boolean') return oneOf([true, false]);
  if (type === 'integer') return integer(schema, largest);
  if (type === 'number') return time(schema);
  if (type === 'string') return text(pattern);
  if (type === 'array') {
    const { items, minItems = 0, maxItems = MOST_ITEMS } = schema;
    return listOf(of((items ?? {}) as JsonSchema), minItems, Math.min(maxItems, MOST_ITEMS));
  }
  if (type !== 'object') return oneOf([true]);
  const { properties = {}, required = [] } = schema;
  const parts = Object.entries(properties as Record<string, JsonSchema>);
  const most = parts.some(([, part]) => isTime(part)) ? FEW : largest;
  const draws = parts.map(([key, part]) => [key, drawOf(part, resolve, most)] as const);
  return (random) => {
    const drawn = draws.filter(([key]) => required.includes(key) || random.below(2) === 0);
    return Object.fromEntries(drawn.map(([key, draw]) => [key, draw(random)]));
  };
}

function integer({ minimum = 0, maximum }: JsonSchema, largest: number): Draw<number> {
  const most = maximum === undefined || maximum > MAX_WORD ? Math.max(minimum, largest) : maximum;
  return either(wholeFrom(minimum, Math.min(most, minimum + 2 * FEW)), wholeFrom(minimum, most));
}

function isTime({ anyOf = [] }: JsonSchema): boolean {
  return (anyOf as readonly JsonSchema[]).some(({ pattern }) => pattern === DURATION.source);
}

/** Draws times of all magnitudes: as many from 1 to 10 ms as from 100 ms to 1 s. */
function time({ minimum = 0, maximum = LONGEST_MS }: JsonSchema): Draw<number> {
  if (maximum <= SHARE) return wholeFrom(Math.ceil(minimum), Math.floor(maximum));
  const most = Math.log(Math.min(maximum, LONGEST_MS));
  return (random) => Math.max(minimum, Number(Math.exp(random.next() * most).toPrecision(2)));
}

/** Draws a text: hexadecimal bytes, or a signed number. No other text has a pattern. */
function text(pattern: string | undefined): Draw<string> {
  if (pattern === undefined) return oneOf(['a']);
  if (pattern.includes('[0-9a-fA-F]{2}')) return bytesOf(1, LONGEST_TEXT);
  const size = wholeFrom(0, MAX_WORD);
  return (random) => `${random.below(2) === 0 ? '+' : '-'}${size(random)}`;
}
