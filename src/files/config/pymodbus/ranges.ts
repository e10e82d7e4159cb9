import type { At } from '../../../common/schema/at.js';
import { describeFound } from '../../../common/schema/problem.js';

/** Cells from `first` to `last`, both included; none when `last` is before `first`. */
export interface CellRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads `5` or `[5, 9]`, within a list of `size` cells; undefined after reporting what is wrong.
 * @param mayBeEmpty accepts `[9, 5]` as no cells, with a warning, as pymodbus does
 */
export function readRange(at: At, size: number, mayBeEmpty = false): CellRange | undefined {
  const { value } = at;
  if (Array.isArray(value) && value.length === 2) return readPair(at, value, size, mayBeEmpty);
  if (typeof value === 'number') return readPair(at, [value, value], size, mayBeEmpty);
  const expected = 'an address or a list [first, last]';
  return Array.isArray(value)
    ? at.wrong(`expected ${expected}, got a list of ${value.length}`)
    : at.expected(expected);
}

function readPair(
  at: At,
  [first, last]: readonly unknown[],
  size: number,
  mayBeEmpty: boolean,
): CellRange | undefined {
  for (const address of [first, last]) {
    if (isAddress(address) && address < size) continue;
    const range = size === 0 ? 'no address, all sizes are 0' : `an address from 0 to ${size - 1}`;
    return at.wrong(`expected ${range}, got ${describeFound(address)}`);
  }
  if (!isAddress(first) || !isAddress(last)) return undefined;
  if (first <= last) return { first, last };
  if (mayBeEmpty) {
    at.warn(`got ${first} before ${last}, so as in pymodbus it stands for no register`);
    return { first, last };
  }
  return at.wrong(`expected a list [first, last], got ${first} before ${last}`);
}

function isAddress(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** The items of a section that may be absent. */
export function readList(at: At): At[] {
  return at.value === undefined ? [] : (at.items() ?? []);
}
