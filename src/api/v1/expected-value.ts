import type { Device } from '../../device/device.js';
import type { TableName } from '../../device/tables.js';
import type { Value } from '../../registers/value.js';
import type { At } from '../../schema/at.js';
import type { Problem } from '../../schema/problem.js';
import { pathText } from '../../schema/problem.js';
import { parseChange, valueAtAddress } from '../../simulator/values.js';
import { viewValue } from './value-view.js';

/** What a client wants to find where it writes, so that it overwrites nobody's write. */
export interface Expectation {
  /** What stands there instead, at this moment; undefined when all is as expected. */
  unmet(): Problem | undefined;
}

interface Wanted {
  readonly expected?: unknown;
  readonly raw: boolean;
}

/**
 * Reads `expected` of a change: a list of registers as clients see them, or a value. Undefined when there is none, or after
 * reporting that nothing like it could stand there.
 */
export function readExpected(
  device: Device,
  place: { readonly table: TableName; readonly address: number },
  { expected, raw }: Wanted,
  at: At,
): Expectation | undefined {
  if (expected === undefined) return undefined;
  return Array.isArray(expected)
    ? expectedWords(device, place, expected, at)
    : expectedValue(device, place, { expected, raw }, at);
}

function expectedWords(
  device: Device,
  { table, address }: { readonly table: TableName; readonly address: number },
  words: readonly unknown[],
  at: At,
): Expectation | undefined {
  const { image, base } = device.tables[table].window;
  if (words.length === 0 || !words.every(isWord)) return at.wrong('expected a value, or a list of registers');
  const values = words.map((_, i) => valueAtAddress(device, table, address + i));
  const missing = values.indexOf(undefined);
  if (missing >= 0) return at.wrong(`${table} ${address + missing} is not defined`);
  return {
    unmet: () => {
      for (const value of values) if (value) value.image.refresh(value.place.address, value.place.cells);
      const present = words.map((_, i) => image.wordAt(base + address + i));
      if (present.every((word, i) => word === words[i])) return undefined;
      return other(at, words.join(' '), present.join(' '));
    },
  };
}

function expectedValue(
  device: Device,
  { table, address }: { readonly table: TableName; readonly address: number },
  { expected, raw }: Wanted,
  at: At,
): Expectation | undefined {
  const found = valueAtAddress(device, table, address);
  if (found?.address !== address)
    return at.wrong(`no value begins at ${table} ${address}, expected registers`);
  const parsed = parseChange(found, expected, raw);
  if ('expected' in parsed) return at.expected(parsed.expected);
  const { image, place } = found;
  return {
    unmet: () => {
      const present = viewValue(found);
      if (isSame(image.valueAt(place), parsed.value)) return undefined;
      return other(at, String(expected), String(raw ? present.raw : present.value));
    },
  };
}

function isWord(word: unknown): word is number {
  return typeof word === 'number' && Number.isInteger(word) && word >= 0 && word <= 0xffff;
}

/** NaN is the same as NaN. */
function isSame(one: Value, other: Value): boolean {
  return one === other || Object.is(one, other);
}

function other(at: At, expected: string, present: string): Problem {
  return { path: pathText(at.path), message: `expected ${expected}, but ${present} stands there` };
}
