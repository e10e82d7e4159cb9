import { describeFound, type Issue, type Path } from '../../schema/problem.js';

/** Cells from `first` to `last`, both included. */
export interface CellRange {
  readonly first: number;
  readonly last: number;
}

/** `5` or `[5, 9]`, within a list of `size` cells; undefined after telling what is wrong. */
export function readRange(value: unknown, size: number, path: Path, issues: Issue[]): CellRange | undefined {
  if (Array.isArray(value) && value.length === 2) return readPair(value, size, path, issues);
  if (typeof value === 'number') return readPair([value, value], size, path, issues);
  const found = Array.isArray(value) ? `a list of ${value.length}` : describeFound(value);
  const missing = value === undefined ? 'missing, ' : '';
  const got = value === undefined ? '' : `, got ${found}`;
  issues.push({ path, message: `${missing}expected an address or a list [first, last]${got}` });
  return undefined;
}

function readPair(
  [first, last]: readonly unknown[],
  size: number,
  path: Path,
  issues: Issue[],
): CellRange | undefined {
  for (const address of [first, last]) {
    if (isAddress(address) && address < size) continue;
    const range = size === 0 ? 'no address, all sizes are 0' : `an address from 0 to ${size - 1}`;
    issues.push({ path, message: `expected ${range}, got ${describeFound(address)}` });
    return undefined;
  }
  if (!isAddress(first) || !isAddress(last)) return undefined;
  if (first <= last) return { first, last };
  issues.push({ path, message: `expected a list [first, last], got ${first} before ${last}` });
  return undefined;
}

function isAddress(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** The items of a section that may be absent, with their paths. */
export function readList(value: unknown, path: Path, issues: Issue[]): { item: unknown; path: Path }[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map((item, i) => ({ item, path: [...path, i] }));
  issues.push({ path, message: `expected a list, got ${describeFound(value)}` });
  return [];
}
