import { compact } from '../../../common/compact.js';
import type { At } from '../../../common/schema/at.js';
import { isMapping } from '../../../common/schema/parts.js';
import { expectedMessage } from '../../../common/schema/problem.js';
import { ACTIONS, type Action, type ActionName, RANDOM_MAX } from '../../../device/registers/actions.js';
import { BIG_ENDIAN, CELLS_PER_VALUE, type ValueOrder } from '../../../device/registers/cell-type.js';
import { integerRange, parseValue, type Value } from '../../../device/registers/value.js';
import type { PlacedValues } from '../place-values.js';
import { IGNORED_IN_ENTRIES, withoutIgnored } from './ignored.js';
import { type CellRange, readList, readRange } from './ranges.js';
import { cellEntrySchema, type PymodbusType } from './schema.js';
import { type CellDefault, readActionName } from './setup.js';

/** The order of pymodbus, which fills strings with spaces. */
const AS_PYMODBUS: ValueOrder = { ...BIG_ENDIAN, padding: 'space' };

/** What a section of a type defines, and whether the addresses of all its entries could be read. */
export interface TypeSection {
  readonly entries: readonly PlacedValues[];
  readonly complete: boolean;
}

/** Reads a section such as `uint16` of a device with `size` cells. */
export function readTypeSection(
  type: PymodbusType,
  section: At,
  cellDefault: CellDefault,
  size: number,
): TypeSection {
  const items = readList(section);
  const read = items.map((item) => readEntry(type, item, cellDefault, size));
  const entries = read.flatMap((entry) => (entry === undefined || entry === 'empty' ? [] : [entry]));
  const isList = section.value === undefined || Array.isArray(section.value);
  return { entries, complete: isList && !read.includes(undefined) };
}

function readEntry(
  type: PymodbusType,
  item: At,
  cellDefault: CellDefault,
  size: number,
): PlacedValues | 'empty' | undefined {
  const at = withoutIgnored(item, IGNORED_IN_ENTRIES);
  const isPlain = !isMapping(at.value);
  const entry = isPlain ? {} : at.check(cellEntrySchema);
  if (!entry) return undefined;
  const address = isPlain ? at : at.key('addr');
  const range = readRange(address, size, true);
  if (!range) return undefined;
  if (range.last < range.first) return 'empty';
  const cells = cellsPerValue(type, range);
  const last = wholeValuesTo(type, cells, range, address, size);
  if (last === undefined) return undefined;
  const value = readValue(type, at, cellDefault, cells);
  const named = at.key('action');
  const name = named.value === undefined ? cellDefault.action : readActionName(named);
  const { parameters, kwargs } = entry;
  if (parameters && kwargs) at.key('kwargs').warn('kwargs has no effect beside parameters');
  const bounds = at.key(parameters || !kwargs ? 'parameters' : 'kwargs');
  const action = name && withBounds(type, name, parameters ?? kwargs ?? {}, bounds);
  return { at, first: range.first, last, type, cells, values: [value], order: AS_PYMODBUS, action };
}

function cellsPerValue(type: PymodbusType, { first, last }: CellRange): number {
  return type === 'string' ? last - first + 1 : CELLS_PER_VALUE[type];
}

/** The end of a range whose last value needs more registers than the range has: pymodbus extends it. */
function wholeValuesTo(
  type: PymodbusType,
  cells: number,
  { first, last }: CellRange,
  at: At,
  size: number,
): number | undefined {
  const quantity = last - first + 1;
  const end = first + Math.ceil(quantity / cells) * cells - 1;
  if (end === last) return last;
  const words = cells === 2 ? 'two' : 'four';
  const found = `expected ${words} registers for each ${type}, got ${quantity} (${first} to ${last})`;
  if (end >= size) return at.wrong(`${found}, and pymodbus would need address ${end}`);
  at.warn(`${found}; as in pymodbus, it reaches to ${end}`);
  return end;
}

/**
 * The value of the entry, or the default. After a mistake it is 0 or empty text, so that the entry still
 * occupies its cells.
 */
function readValue(type: PymodbusType, entry: At, cellDefault: CellDefault, cells: number): Value {
  const at = entry.key('value');
  const input = at.value === undefined ? cellDefault.value : at.value;
  const parsed = parseValue(type, input, cells);
  if (parsed.ok) return parsed.value;
  if (at.value !== undefined) at.expected(parsed.expected);
  else entry.wrong(`${expectedMessage(parsed.expected, input)} (from setup.defaults.value)`);
  return type === 'string' ? '' : 0;
}

/** The action, with its bounds if it has any. As in pymodbus, other actions ignore parameters. */
function withBounds(
  type: PymodbusType,
  name: ActionName,
  { minval, maxval }: { minval?: number | undefined; maxval?: number | undefined },
  at: At,
): Action {
  if (!ACTIONS[name].hasBounds) return { name };
  // The default maxval of pymodbus is one more than 16 bits hold. A file may contain it, and 65535 is meant.
  const bounds = { minval, maxval: maxval === RANDOM_MAX ? undefined : maxval };
  for (const [key, bound] of Object.entries(bounds)) {
    const problem = bound === undefined ? undefined : boundProblem(type, bound);
    if (problem !== undefined) at.key(key).wrong(problem);
  }
  if (minval !== undefined && maxval !== undefined && minval > maxval) {
    at.key('minval').wrong(`expected at most maxval, which is ${maxval}, got ${minval}`);
  }
  return compact({ name, minval, maxval });
}

/**
 * Why a bound is impossible. The type must be able to hold it: pymodbus fails at the first value that does
 * not fit.
 */
function boundProblem(type: PymodbusType, bound: number): string | undefined {
  // pymodbus cuts off the fraction of a bound.
  const whole = integerRange(type) ? Math.trunc(bound) : bound;
  const parsed = parseValue(type === 'string' ? 'float64' : type, whole, 1);
  return parsed.ok ? undefined : expectedMessage(parsed.expected, bound);
}
