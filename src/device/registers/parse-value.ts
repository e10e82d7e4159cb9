import type { ValueType } from './cell-type.js';
import { integerRange, type Value } from './value.js';

export type ParsedValue =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly expected: string };

const INTEGER_TEXT = /^[+-]?\d+$/;
const HEX_TEXT = /^0x[0-9a-f]+$/i;
/**
 * Matches a number. A run of digits matches in only one way, so that a long text does not cause backtracking.
 */
const NUMBER_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Converts a value from a file or a request to a type and a number of cells. A number may be given as text.
 * Integer types accept `0x` text. The error says what was expected; the caller adds the location.
 */
export function parseValue(type: ValueType, input: unknown, cells: number): ParsedValue {
  if (type === 'string') return parseString(input, cells);
  const range = integerRange(type);
  return range ? parseInteger(type, input, range) : parseFloatValue(type, input);
}

function parseString(input: unknown, cells: number): ParsedValue {
  if (typeof input !== 'string') return { ok: false, expected: 'text' };
  const length = Buffer.byteLength(input);
  if (length > 2 * cells) {
    return { ok: false, expected: `text of at most ${2 * cells} bytes (two to a register), got ${length}` };
  }
  return { ok: true, value: input };
}

function parseInteger(type: ValueType, input: unknown, [min, max]: readonly [bigint, bigint]): ParsedValue {
  const wide = type === 'uint64' || type === 'int64';
  const expected = `a whole number from ${min} to ${max} (${type}${wide ? ', as text beyond 2^53' : ''})`;
  const integer = toBigInt(input);
  if (integer === undefined || integer < min || integer > max) return { ok: false, expected };
  return { ok: true, value: wide ? integer : Number(integer) };
}

function toBigInt(input: unknown): bigint | undefined {
  if (typeof input === 'bigint') return input;
  if (typeof input === 'boolean') return input ? 1n : 0n;
  if (typeof input === 'number') return Number.isSafeInteger(input) ? BigInt(input) : undefined;
  if (typeof input !== 'string') return undefined;
  const text = input.trim();
  if (text.length > 40) return undefined;
  return INTEGER_TEXT.test(text) || HEX_TEXT.test(text) ? BigInt(text) : undefined;
}

function parseFloatValue(type: ValueType, input: unknown): ParsedValue {
  const number = toNumber(input);
  const stored = type === 'float32' && number !== undefined ? Math.fround(number) : number;
  if (stored === undefined || (!Number.isFinite(stored) && Number.isFinite(number))) {
    return { ok: false, expected: `a number (${type})` };
  }
  return { ok: true, value: stored };
}

/**
 * The texts of NaN and the infinities, as in YAML and as REST shows them. Real meters send these values, so
 * they can be set.
 */
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['.nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['.inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['-.inf', Number.NEGATIVE_INFINITY],
]);

function toNumber(input: unknown): number | undefined {
  if (typeof input === 'number') return input;
  if (typeof input === 'bigint') return finite(Number(input));
  if (typeof input !== 'string') return undefined;
  const text = input.trim().toLowerCase();
  return SPECIAL.get(text) ?? (NUMBER_TEXT.test(text) ? finite(Number(text)) : undefined);
}

/** Returns the number, or undefined if it is too large for a double, which JavaScript turns into infinity. */
function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}
