import type { Action, ActionName } from '../../registers/action.js';
import { parseValue } from '../../registers/parse-value.js';
import { RANDOM_MAX } from '../../registers/run-action.js';
import { integerRange, type Value } from '../../registers/value.js';
import { check, isMapping } from '../../schema/parts.js';
import { expectedMessage, type Issue, type Path } from '../../schema/problem.js';
import { compact } from '../compact.js';
import type { PlacedValues } from '../place-values.js';
import { type CellRange, readList, readRange } from './ranges.js';
import { cellEntrySchema, type PymodbusType } from './schema.js';
import { type CellDefault, readActionName } from './setup.js';

/** What a section of a type defines, and whether some entry's addresses could not be read. */
export interface TypeSection {
  readonly entries: readonly PlacedValues[];
  readonly complete: boolean;
}

/** Reads a section such as `uint16` of a device with `size` cells. */
export function readTypeSection(
  type: PymodbusType,
  section: unknown,
  cellDefault: CellDefault,
  size: number,
  path: Path,
  issues: Issue[],
): TypeSection {
  const items = readList(section, path, issues);
  const entries = items.flatMap(
    ({ item, path }) => readEntry(type, item, cellDefault, size, path, issues) ?? [],
  );
  return {
    entries,
    complete: entries.length === items.length && (section === undefined || Array.isArray(section)),
  };
}

function readEntry(
  type: PymodbusType,
  item: unknown,
  cellDefault: CellDefault,
  size: number,
  path: Path,
  issues: Issue[],
): PlacedValues | undefined {
  const isPlain = !isMapping(item);
  const entry = isPlain ? { addr: item } : check(cellEntrySchema, item, path, issues);
  if (!entry) return undefined;
  const addrPath = isPlain ? path : [...path, 'addr'];
  const range = readRange(entry.addr, size, addrPath, issues);
  if (!range) return undefined;
  const cells = cellsPerValue(type, range);
  const quantity = range.last - range.first + 1;
  if (quantity % cells !== 0) {
    const found = `${quantity} (${range.first} to ${range.last})`;
    issues.push({ path: addrPath, message: `expected two registers for each ${type}, got ${found}` });
    return undefined;
  }
  const value = readValue(type, entry.value, cellDefault, cells, path, issues);
  const name =
    entry.action === undefined
      ? cellDefault.action
      : readActionName(entry.action, [...path, 'action'], issues);
  const action = name && withBounds(type, name, entry.parameters ?? {}, [...path, 'parameters'], issues);
  return { path, ...range, type, cells, values: [value], action };
}

function cellsPerValue(type: PymodbusType, { first, last }: CellRange): number {
  if (type === 'string') return last - first + 1;
  return type === 'uint32' || type === 'float32' ? 2 : 1;
}

/** The entry's value, or the default one; after an issue a harmless one, so that the entry still takes its cells. */
function readValue(
  type: PymodbusType,
  input: unknown,
  cellDefault: CellDefault,
  cells: number,
  path: Path,
  issues: Issue[],
): Value {
  const parsed = parseValue(type, input === undefined ? cellDefault.value : input, cells);
  if (parsed.ok) return parsed.value;
  const message = expectedMessage(parsed.expected, input === undefined ? cellDefault.value : input);
  if (input === undefined) issues.push({ path, message: `${message} (from setup.defaults.value)` });
  else issues.push({ path: [...path, 'value'], message });
  return type === 'string' ? '' : 0;
}

/** The action with its bounds, where it has any: the other actions take no notice of parameters, as in pymodbus. */
function withBounds(
  type: PymodbusType,
  name: ActionName,
  { minval, maxval }: { minval?: number | undefined; maxval?: number | undefined },
  path: Path,
  issues: Issue[],
): Action {
  if (name !== 'increment' && name !== 'random') return { name };
  // pymodbus' own default for maxval is one more than 16 bits hold: files may have it, and 65535 is meant.
  const bounds = { minval, maxval: maxval === RANDOM_MAX ? undefined : maxval };
  for (const [key, bound] of Object.entries(bounds)) {
    const problem = bound === undefined ? undefined : boundProblem(type, bound);
    if (problem !== undefined) issues.push({ path: [...path, key], message: problem });
  }
  if (minval !== undefined && maxval !== undefined && minval > maxval) {
    issues.push({
      path: [...path, 'minval'],
      message: `expected at most maxval, which is ${maxval}, got ${minval}`,
    });
  }
  return compact({ name, minval, maxval });
}

/** The type must hold a bound: pymodbus fails at the first value that it can't. */
function boundProblem(type: PymodbusType, bound: number): string | undefined {
  // What is behind the point of a bound, it cuts off.
  const whole = integerRange(type) ? Math.trunc(bound) : bound;
  const parsed = parseValue(type === 'string' ? 'float64' : type, whole, 1);
  return parsed.ok ? undefined : expectedMessage(parsed.expected, bound);
}
