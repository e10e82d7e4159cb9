import { compact } from '../../common/compact.js';
import type { At } from '../../common/schema/at.js';
import { isMapping } from '../../common/schema/parts.js';
import { describeFound, expectedMessage } from '../../common/schema/problem.js';
import {
  ACTIONS,
  type Action,
  type ActionName,
  PYMODBUS_ACTIONS,
  RANDOM_MAX,
} from '../../device/registers/actions.js';
import { BIG_ENDIAN, CELLS_PER_VALUE, type ValueOrder } from '../../device/registers/cell-type.js';
import { LayoutBuilder, type RegisterLayout, typeOfMeta } from '../../device/registers/layout.js';
import { notDefined } from '../../device/registers/undefined.js';
import { integerRange, parseValue, type Value } from '../../device/registers/value.js';
import type { DeviceRegisters, WindowDefinition } from '../configuration.js';
import { definePlaced, type PlacedValues, withoutOverlaps } from '../place-values.js';
import {
  byType,
  cellEntrySchema,
  IGNORED_IN_ENTRIES,
  PYMODBUS_TYPES,
  type PymodbusType,
  pymodbusDeviceSections,
  repeatEntrySchema,
  setupSchema,
  withoutIgnored,
} from './schema.js';

/** The section `setup` of a device. Sizes are in 16-bit cells. */
interface PymodbusSetup {
  readonly coils: number;
  readonly discrete: number;
  readonly input: number;
  readonly holding: number;
  readonly shared: boolean;
  readonly wholeValues: boolean;
  /** The cells of all tables together. */
  readonly size: number;
  readonly defaults: Readonly<Record<PymodbusType, CellDefault>>;
}

interface CellDefault {
  readonly value: Value;
  readonly action: ActionName | undefined;
}

/** Reads the section; undefined, after reporting why, if not even the sizes are known. */
function readSetup(at: At): PymodbusSetup | undefined {
  const setup = at.check(setupSchema);
  const defaults = readDefaults(at.key('defaults'));
  if (!setup) return undefined;
  const coils = setup['co size'];
  const discrete = setup['di size'];
  const input = setup['ir size'];
  const holding = setup['hr size'];
  const shared = setup['shared blocks'];
  const size = shared ? Math.max(coils, discrete, input, holding) : coils + discrete + input + holding;
  return { coils, discrete, input, holding, shared, wholeValues: setup['type exception'], size, defaults };
}

function readDefaults(at: At): Record<PymodbusType, CellDefault> {
  const read = (type: PymodbusType): CellDefault => {
    const value = at.key('value').key(type);
    const none = type === 'string' ? '' : 0;
    const parsed = parseValue(type, value.value ?? none, LONGEST_STRING);
    if (!parsed.ok) value.expected(parsed.error);
    const action = readActionName(at.key('action').key(type));
    return { value: parsed.ok ? parsed.value : none, action };
  };
  return byType(read);
}

/** The longest default string, in cells. Whether the string fits is checked where it is used. */
const LONGEST_STRING = 4 * 65536;

/** Reads the name of an action; undefined for null, if there is none, and after a mistake. */
function readActionName(at: At): ActionName | undefined {
  if (at.value === undefined || at.value === null) return undefined;
  const name = PYMODBUS_ACTIONS.find((each) => each === at.value);
  if (name !== undefined) return name;
  const custom = typeof at.value === 'string' ? ' (custom actions of Python modules are not supported)' : '';
  return at.wrong(expectedMessage(`null, ${PYMODBUS_ACTIONS.join(', ')}`, at.value) + custom);
}

/** Cells from `first` to `last`, inclusive; none if `last` is before `first`. */
interface CellRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads `5` or `[5, 9]`, within a list of `size` cells; undefined after reporting what is wrong.
 * @param mayBeEmpty accepts `[9, 5]` as no cells, with a warning, like pymodbus
 */
function readRange(at: At, size: number, mayBeEmpty = false): CellRange | undefined {
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
    at.warn(`${first} is above ${last}, so this matches no register, like in pymodbus`);
    return { first, last };
  }
  return at.wrong(`expected a list [first, last], got ${first} before ${last}`);
}

function isAddress(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** Returns the items of a section that may be absent. */
function readList(at: At): At[] {
  return at.value === undefined ? [] : (at.items() ?? []);
}

/** The order of pymodbus, which pads strings with spaces. */
const AS_PYMODBUS: ValueOrder = { ...BIG_ENDIAN, padding: 'space' };

/** The definitions of a type's section, and whether the addresses of all its entries could be read. */
interface TypeSection {
  readonly entries: readonly PlacedValues[];
  readonly complete: boolean;
}

/** Reads a section such as `uint16` of a device with `size` cells. */
function readTypeSection(
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
  if (parameters && kwargs) at.key('kwargs').warn('kwargs has no effect together with parameters');
  const bounds = at.key(parameters || !kwargs ? 'parameters' : 'kwargs');
  const action = name && withBounds(type, name, parameters ?? kwargs ?? {}, bounds);
  return { at, first: range.first, last, type, cells, values: [value], order: AS_PYMODBUS, action };
}

function cellsPerValue(type: PymodbusType, { first, last }: CellRange): number {
  return type === 'string' ? last - first + 1 : CELLS_PER_VALUE[type];
}

/** Returns the end of a range whose last value needs more registers than the range has: pymodbus extends it. */
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
  at.warn(`${found}; like in pymodbus, the entry extends to ${end}`);
  return end;
}

/**
 * Returns the value of the entry, or the default. After a mistake it is 0 or empty text, so that the entry
 * still occupies its cells.
 */
function readValue(type: PymodbusType, entry: At, cellDefault: CellDefault, cells: number): Value {
  const at = entry.key('value');
  const input = at.value === undefined ? cellDefault.value : at.value;
  const parsed = parseValue(type, input, cells);
  if (parsed.ok) return parsed.value;
  if (at.value !== undefined) at.expected(parsed.error);
  else entry.wrong(`${expectedMessage(parsed.error, input)} (from setup.defaults.value)`);
  return type === 'string' ? '' : 0;
}

/** Returns the action, with bounds if it accepts any. Other actions ignore parameters, as in pymodbus. */
function withBounds(
  type: PymodbusType,
  name: ActionName,
  { minval, maxval }: { minval?: number | undefined; maxval?: number | undefined },
  at: At,
): Action {
  if (!ACTIONS[name].hasBounds) return { name };
  // The default maxval of pymodbus is one more than 16 bits can hold. A file may contain it; 65535 is meant.
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
 * Returns why a bound is impossible. The type must be able to hold it: pymodbus fails on the first value that
 * does not fit.
 */
function boundProblem(type: PymodbusType, bound: number): string | undefined {
  // pymodbus truncates a bound to an integer.
  const whole = integerRange(type) ? Math.trunc(bound) : bound;
  const parsed = parseValue(type === 'string' ? 'float64' : type, whole, 1);
  return parsed.ok ? undefined : expectedMessage(parsed.error, bound);
}

/**
 * Types of a branch of pymodbus (May 2024) that was never released. The files of the branch name version
 * 3.1.0.
 */
const BITFIELDS = ['bitfield16', 'bitfield32', 'bitfield64'] as const;

/** Reports whether a device uses the types of that branch. */
export function hasBitfields(at: At): boolean {
  const values = at.key('setup').key('defaults').key('value');
  return BITFIELDS.some((type) => at.key(type).value !== undefined || values.key(type).value !== undefined);
}

/** Reads the registers of a device of a pymodbus file; undefined after reporting its mistakes. */
export function pymodbusDevice(at: At): DeviceRegisters | undefined {
  if (hasBitfields(at)) {
    return at.wrong(
      `${BITFIELDS.join(', ')} are types of a pymodbus that was never released, whose files name version 3.1.0: rename bitfield16 to bits, bitfield32 to uint32 and bitfield64 to uint64, in setup.defaults too`,
    );
  }
  return at.unlessWrong(() => {
    at.check(pymodbusDeviceSections);
    if (!isMapping(at.value)) return undefined;
    const setup = readSetup(at.key('setup'));
    const cells = readCells(at, setup ?? UNKNOWN_SETUP);
    return setup && { tables: windows(setup, cells), cells };
  });
}

const NO_DEFAULT = { value: 0, action: undefined };

/** Replaces an invalid section `setup`, so that the other sections can still be checked. */
const UNKNOWN_SETUP: Pick<PymodbusSetup, 'size' | 'defaults'> = {
  size: 4 * 65536,
  defaults: {
    ...byType(() => NO_DEFAULT),
    string: { value: '', action: undefined },
  },
};

function readCells(device: At, { size, defaults }: Pick<PymodbusSetup, 'size' | 'defaults'>): RegisterLayout {
  // Cells are invalid until a section defines them, so the section `invalid` changes nothing, as in pymodbus.
  for (const item of readList(device.key('invalid'))) readRange(item, size, true);
  const sections = PYMODBUS_TYPES.map((type) =>
    readTypeSection(type, device.key(type), defaults[type], size),
  );
  const builder = new LayoutBuilder(size);
  const entries = sections.flatMap((section) => section.entries);
  for (const entry of withoutOverlaps(entries)) definePlaced(builder, entry);
  const complete = sections.every((section) => section.complete);
  allowWrites(builder, device.key('write'), complete);
  applyRepeats(builder, device.key('repeat'));
  return builder.build();
}

/**
 * Makes the cells of the section `write` writable. If some definitions could not be read, an undefined cell
 * may be a result of that, so it is not reported.
 */
function allowWrites(builder: LayoutBuilder, section: At, complete: boolean): void {
  for (const item of readList(section)) {
    const range = readRange(item, builder.size, true);
    if (!range) continue;
    for (let address = range.first; address <= range.last; address++) {
      if (builder.isDefined(address)) builder.allowWrite(address);
      else if (complete) {
        item.wrong(`expected defined registers, ${notDefined(`address ${address}`)}`);
        break;
      }
    }
  }
}

/**
 * Returns the tables of a device. With shared blocks, every table is the whole list. Otherwise the tables
 * follow one another, in pymodbus' order.
 */
function windows(setup: PymodbusSetup, layout: RegisterLayout): DeviceRegisters['tables'] {
  const window = (base: number, size: number): WindowDefinition => ({
    layout,
    base: setup.shared ? 0 : base,
    size: setup.shared ? setup.size : size,
    bitsPerCell: 16,
    wholeValues: setup.wholeValues,
    countsAsPymodbus: true,
  });
  const { coils, discrete, input, holding } = setup;
  return {
    coils: window(0, coils),
    discrete: window(coils, discrete),
    input: window(coils + discrete, input),
    holding: window(coils + discrete + input, holding),
  };
}

/**
 * Applies the section `repeat`: copies the cells `addr` repeatedly into `to`, replacing the contents.
 * pymodbus would also cut a value of several cells in two. That can't be intended, so it is a mistake here.
 */
function applyRepeats(builder: LayoutBuilder, section: At): void {
  for (const entry of readList(section)) {
    if (!entry.check(repeatEntrySchema)) continue;
    const from = readRange(entry.key('addr'), builder.size);
    const to = readRange(entry.key('to'), builder.size);
    if (!from || !to) continue;
    const cut = findCut(builder, from, to);
    if (cut) entry.key(cut.key).wrong(cut.message);
    else copy(builder, from, to);
  }
}

function copy(builder: LayoutBuilder, from: CellRange, to: CellRange): void {
  for (let i = 0; i <= to.last - to.first; i++) builder.copyCell(sourceOf(i, from), to.first + i);
}

function sourceOf(index: number, from: CellRange): number {
  return from.first + (index % (from.last - from.first + 1));
}

function findCut(
  builder: LayoutBuilder,
  from: CellRange,
  to: CellRange,
): { key: 'addr' | 'to'; message: string } | undefined {
  const { meta } = builder.build();
  const continues = (address: number) =>
    address < meta.length && typeOfMeta(meta[address] as number) === 'next';
  const cut = (key: 'addr' | 'to', address: number) => {
    const message = `cuts the value of several registers that address ${address} belongs to`;
    return { key, message };
  };
  if (continues(from.first)) return cut('addr', from.first);
  if (continues(from.last + 1)) return cut('addr', from.last);
  const lastCopied = sourceOf(to.last - to.first, from);
  if (continues(lastCopied + 1)) {
    return { key: 'to', message: `ends within the copy of the value that address ${lastCopied} belongs to` };
  }
  if (continues(to.first)) return cut('to', to.first);
  if (continues(to.last + 1)) return cut('to', to.last + 1);
  return undefined;
}
