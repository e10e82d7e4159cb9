import { isMapping } from '../../common/schema/parts.js';
import type { Device } from '../../device/device.js';
import type { Point } from '../../device/point.js';
import type { ValueLocation } from '../../device/registers/value.js';
import type { TableName } from '../../device/tables.js';
import {
  type FoundRegister,
  inexactComment,
  type PresentValue,
  presentValue,
  runsOf,
  type WrittenEntry,
} from './plain-registers.js';

/**
 * The keys `signal` and `seed` of an entry that continue its value from where it is; undefined for a value
 * without a signal. A counter continues from its sum. Other signals are functions of the clock, which starts
 * again.
 */
function writtenSignal(
  device: Device,
  point: Point,
): { readonly signal: Readonly<Record<string, unknown>>; readonly seed?: number } | undefined {
  const { placedSignal } = point;
  if (!placedSignal) return undefined;
  const { definition, seed } = placedSignal;
  const { kind, written } = definition;
  const isCounter = point.signal?.accumulator !== undefined && isMapping(written);
  const parameters = isCounter ? goingOn(device, point, written) : written;
  return { signal: { [kind]: parameters }, ...(seed !== undefined && { seed }) };
}

function goingOn(device: Device, point: Point, written: Readonly<Record<string, unknown>>) {
  const from = device.points.valueAtMoment(point, device.clock.time, device.clock);
  return from === (written.from ?? 0) || !Number.isFinite(from) ? written : { ...written, from };
}

type EntryFields = Readonly<Record<string, unknown>>;

/** How many values are processed before a yield. */
const VALUES_AT_ONCE = 128;

/**
 * Maximum number of registers in an entry. Longer entries are split, so that no long list is written without
 * a yield.
 */
const LONGEST_AS_WRITTEN = 1024;

/** The keys of an entry that mean the same for each of its values. An entry with only these keys can be split. */
const DIVISIBLE = [
  'address',
  'value',
  'quantity',
  'length',
  'type',
  'write',
  'wordOrder',
  'byteOrder',
  'padding',
];

/** The registers of an entry: their first and last address (exclusive) in the table. */
interface EntryLocation {
  readonly device: Device;
  readonly table: TableName;
  readonly first: number;
  readonly end: number;
}

/**
 * The entries of a table with their current values, access flags and signals. All other keys stay as they
 * were written.
 * @param source the entries of the table as they were written
 */
export function* nativeEntries(device: Device, table: TableName, source: unknown): Generator<WrittenEntry> {
  const entries = Array.isArray(source) ? source.filter(isMapping) : [];
  const addresses = new Set(entries.map(({ address }) => Number(address)));
  for (const written of entries) {
    const entry = withAvailability(device, written);
    const first = Number(entry.address);
    const location = { device, table, first, end: endOf(device, table, first, addresses) };
    yield undefined;
    if (isDivisible(entry)) yield* dividedEntries(entry, location);
    else if (hasChangedSignals(location) || isOpenedOrClosed(entry, location))
      yield* movedEntries(entry, location);
    else yield* wholeEntry(entry, location);
  }
}

/** Returns the entry with its current `available`. REST makes only named values available or unavailable. */
function withAvailability({ points }: Device, entry: EntryFields): EntryFields {
  const point = points.named.get(String(entry.name));
  if (!point || point.isSwitchedOn === ((entry.available ?? true) === true)) return entry;
  return { ...entry, available: point.isSwitchedOn };
}

function isDivisible(entry: EntryFields): boolean {
  return Object.keys(entry).every((name) => DIVISIBLE.includes(name));
}

/** The end of an entry: the first undefined address, or the start of the next entry. */
function endOf({ tables }: Device, table: TableName, first: number, addresses: ReadonlySet<number>): number {
  const { image, base, size } = tables[table].window;
  let end = first + 1;
  while (end < size && image.typeAt(base + end) !== 'invalid' && !addresses.has(end)) end++;
  return end;
}

/** Splits an entry without a signal or a name. Equal consecutive values are written once. */
function* dividedEntries(entry: EntryFields, location: EntryLocation): Generator<WrittenEntry> {
  const isShort = location.end - location.first <= LONGEST_AS_WRITTEN || !Array.isArray(entry.value);
  if (isShort && isAsConfigured(location)) {
    yield entry;
    return;
  }
  for (const run of runsOf(valuesOf(location))) {
    if (!run) yield undefined;
    else {
      const { address, first, values, quantity, inexact } = run;
      if (inexact) yield inexactComment(address);
      yield { ...changed(entry, address, first, values), ...(values.length < quantity && { quantity }) };
    }
  }
}

/** True if a signal was replaced or removed, or if a counter has to continue. */
function hasChangedSignals(location: EntryLocation): boolean {
  for (const { point } of pointsOf(location)) {
    if (point && (point.placedSignal !== point.definition.signal || point.signal?.accumulator)) return true;
  }
  return false;
}

/** True for an entry with a signal if one of its values has become writable, or is no longer writable. */
function isOpenedOrClosed({ signal, write = false }: EntryFields, location: EntryLocation): boolean {
  if (signal === undefined) return false;
  const { image } = location.device.tables[location.table].window;
  for (const { address } of locationsOf(location)) if (image.isWritable(address) !== write) return true;
  return false;
}

/** Yields an entry for each value, with its current signal. */
function* movedEntries(entry: EntryFields, location: EntryLocation): Generator<WrittenEntry> {
  const { value, quantity, signal, seed, ...rest } = entry;
  const { action, min, max, ...moving } = rest;
  const { image, base } = location.device.tables[location.table].window;
  for (const { at, point } of pointsOf(location)) {
    const address = at.address - base;
    const writable = image.isWritable(at.address);
    const access = (writable || entry.write !== undefined) && { write: writable };
    const moved = point && writtenSignal(location.device, point);
    yield moved
      ? { ...moving, address, ...moved, ...access }
      : { ...rest, address, value: presentValue(image, at).written, ...access };
  }
}

function* wholeEntry(entry: EntryFields, location: EntryLocation): Generator<WrittenEntry> {
  if (entry.signal !== undefined || isAsConfigured(location)) {
    yield entry;
    return;
  }
  const values: PresentValue[] = [];
  for (const found of valuesOf(location)) {
    if (!found) yield undefined;
    else {
      if (found[1].inexact) yield inexactComment(found[0]);
      values.push(found[1]);
    }
  }
  const [first] = values;
  if (first)
    yield changed(
      entry,
      location.first,
      first,
      values.map(({ written }) => written),
    );
}

function isAsConfigured({ device, table, first, end }: EntryLocation): boolean {
  const { image, base } = device.tables[table].window;
  return image.isAsConfigured(base + first, end - first);
}

function* locationsOf({ device, table, first, end }: EntryLocation): Generator<ValueLocation> {
  const { image, base } = device.tables[table].window;
  for (let cell = base + first; cell < base + end; ) {
    const location = image.valueSpan(cell);
    if (!location) return;
    yield location;
    cell += location.cells;
  }
}

function* pointsOf(location: EntryLocation) {
  const { image } = location.device.tables[location.table].window;
  for (const at of locationsOf(location)) yield { at, point: location.device.points.at(image, at.address) };
}

function* valuesOf(location: EntryLocation): Generator<FoundRegister> {
  const { image, base } = location.device.tables[location.table].window;
  let count = 0;
  for (const at of locationsOf(location)) {
    if (++count % VALUES_AT_ONCE === 0) yield undefined;
    yield [at.address - base, presentValue(image, at)];
  }
}

function changed(
  { quantity, ...entry }: EntryFields,
  address: number,
  { type, cells, writable }: PresentValue,
  values: readonly PresentValue['written'][],
): EntryFields {
  return {
    ...entry,
    address,
    value: values.length === 1 ? values[0] : values,
    ...(type === 'string' && { length: cells }),
    ...((writable || entry.write !== undefined) && { write: writable }),
  };
}
