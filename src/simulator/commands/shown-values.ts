import type { Device } from '../../device/device.js';
import { storedAs } from '../../device/manners.js';
import type { Point } from '../../device/point.js';
import type { ValueOrder, ValueType } from '../../device/registers/cell-type.js';
import {
  type BitNames,
  setBits,
  shortestFloat32,
  type Value,
  valueOfWords,
} from '../../device/registers/value.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import type { WrittenValues } from '../traffic/decode-request.js';
import type { NamedPlace } from '../traffic/facts.js';
import type { TrafficView } from '../traffic/view-schema.js';
import { MAX_SHOWN, rangeText, valuesText } from '../traffic/words.js';
import type { CommandContext } from './context.js';
import { storedView, unknownDevice } from './device-value.js';
import type { OfDevice } from './devices.js';
import { done, type Outcome } from './refusal.js';
import type { ValueView } from './schemas/value.js';

/** The location of a named value for clients, and the meaning of its registers. */
type NamedValue = readonly [
  table: TableName,
  address: number,
  cells: number,
  name: string,
  type: ValueType,
  order: ValueOrder,
  scale: number,
  unit: string | undefined,
  bits: BitNames | undefined,
];

/** Consecutive values of one type, each with the same number of registers. */
type TypedValues = readonly [
  table: TableName,
  address: number,
  cells: number,
  count: number,
  type: ValueType,
  order: ValueOrder,
];

/**
 * What is known about some registers of a device, for showing them in the traffic: named values, and values
 * of several registers.
 */
export type KnownValue = NamedValue | TypedValues;

/** Registers of one table, in the addresses that clients use. */
interface Part {
  readonly table: TableName;
  readonly address: number;
  readonly quantity: number;
}

/** All known values of a device, in pieces, because a large device has tens of thousands. */
export function namesOfDevice(
  { simulator }: CommandContext,
  { device: name }: OfDevice,
): Outcome<Iterable<KnownValue | undefined>> {
  const device = simulator.devices.get(name);
  return device ? done(knownValues(device)) : unknownDevice(simulator, name);
}

/** Where devices have a value with this name, or a bit of one. The device's name may come first. */
export function placesOfName(
  { simulator }: CommandContext,
  { name }: { readonly name: string },
): Outcome<Iterable<KnownPlace | undefined>> {
  return done(placesIn(simulator.devices, name));
}

/** A value of a device, and the name of the selected bit. */
type KnownPlace = readonly [device: string, value: NamedValue, bit: string | undefined];

function* placesIn(devices: ReadonlyMap<string, Device>, name: string): Generator<KnownPlace | undefined> {
  for (const [of, device] of devices) {
    // Names of values and bits contain no dots.
    const [short = '', bit, ...rest] = (name.startsWith(`${of}.`) ? name.slice(of.length + 1) : name).split(
      '.',
    );
    const point = rest.length === 0 ? device.points.named.get(short) : undefined;
    for (const table of point ? TABLE_NAMES : []) {
      const { source, first } = storedAs(device.manners ?? {}, table);
      const stored = { table, source, first, from: first, end: device.tables[source].window.size };
      for (const value of namedIn(device, stored, [[short, point as Point]]))
        if (value && (bit === undefined || numberOfBit(value, bit) !== undefined)) yield [of, value, bit];
    }
    yield undefined;
  }
}

/** The places that a name matches, for filters. */
export function placesNamed(devices: ReadonlyMap<string, Device>, name: string): NamedPlace[] {
  return Array.from(placesIn(devices, name)).flatMap((each) => (each ? [placeOf(each)] : []));
}

export function placeOf([device, value, bit]: KnownPlace): NamedPlace {
  const [table, address, quantity, , type, , scale] = value;
  const numberIn = (values: readonly number[], from: number) => {
    const raw = rawIn({ address: from, values }, value);
    if (raw === undefined || typeof raw === 'string') return undefined;
    return bit === undefined
      ? Number(valueText(type, raw, scale))
      : Number((BigInt(raw) >> BigInt(numberOfBit(value, bit) ?? 0)) & 1n);
  };
  return { device, table, address, quantity, numberIn };
}

function numberOfBit({ 8: bits }: NamedValue, name: string): number | undefined {
  return bits?.find(([, each]) => each === name)?.[0];
}

/** How many values or registers may be skipped before the lines must be served again. */
const MANY = 256;

/**
 * The named values of each table, and then the others in order of address. Yields undefined to let the lines
 * be served.
 * @param part limits the values to some registers
 */
export function* knownValues(device: Device, part?: Part): Generator<KnownValue | undefined> {
  for (const table of TABLE_NAMES) {
    if (part && part.table !== table) continue;
    const { source, first } = storedAs(device.manners ?? {}, table);
    const from = first + (part?.address ?? 0);
    const end = part ? from + part.quantity : device.tables[source].window.size;
    const stored = { table, source, first, from, end };
    yield* namedIn(device, stored);
    // For bits, clients do not read values of several cells.
    if (table === 'input' || table === 'holding') yield* typedIn(device, stored);
  }
}

interface Stored {
  readonly table: TableName;
  readonly source: TableName;
  /** The address that clients call 0. */
  readonly first: number;
  /** The first address to search, in `source`. */
  readonly from: number;
  readonly end: number;
}

function* namedIn(
  { points }: Device,
  { table, source, first, from, end }: Stored,
  among: Iterable<readonly [string, Point]> = points.named,
) {
  let seen = 0;
  for (const [name, { definition, image, location }] of among) {
    const { address, cells, type, scale, unit, bits } = definition;
    const isMeant =
      definition.table === source && address >= first && address < end && address + cells > from;
    if (isMeant) {
      const order = image.orderAt(location.address);
      yield [table, address - first, cells, name, type, order, scale, unit, bits] satisfies NamedValue;
    } else if (++seen % MANY === 0) yield undefined;
  }
}

/** Values whose count is still growing. */
type Counted = { -readonly [Part in keyof TypedValues]: TypedValues[Part] };

/** The values of several registers in a table. */
function* typedIn(device: Device, { table, source, first, from, end }: Stored) {
  const { image, base, size } = device.tables[source].window;
  let last: Counted | undefined;
  let start = Math.min(from, size);
  while (start > first && image.typeAt(base + start) === 'next') start--;
  for (let address = start, seen = 0; address < Math.min(end, size); ) {
    const type = image.typeAt(base + address);
    let cells = 1;
    while (address + cells < size && image.typeAt(base + address + cells) === 'next') cells++;
    if (type !== 'next' && type !== 'invalid' && cells > 1) {
      const one: Counted = [table, address - first, cells, 1, type, image.orderAt(base + address)];
      if (last && isNextOf(last, one)) last[3]++;
      else {
        if (last) yield last;
        last = one;
      }
    }
    address += cells;
    if (++seen % MANY === 0) yield undefined;
  }
  if (last) yield last;
}

/** True if a value has the same type as the others and directly follows them. */
function isNextOf(
  [, from, size, count, kind, before]: TypedValues,
  [, address, cells, , type, order]: TypedValues,
): boolean {
  return (
    kind === type &&
    size === cells &&
    from + count * size === address &&
    before.wordOrder === order.wordOrder &&
    before.byteOrder === order.byteOrder &&
    before.padding === order.padding
  );
}

/** A named value that a client has written. */
export interface WrittenValue {
  readonly name: string;
  /** The value; undefined if the client wrote only a part or some bits of it. */
  readonly asWritten: (Pick<ValueView, 'value' | 'raw'> & { readonly label?: string }) | undefined;
}

interface TableValues {
  /** The named values, under each address that they occupy. */
  readonly named: ReadonlyMap<number, NamedValue>;
  /** The values of several registers, in order of address. */
  readonly typed: readonly TypedValues[];
}

/** Sorts the known values of a device by table. */
export function valuesByTable(known: Iterable<KnownValue | undefined>): ReadonlyMap<string, TableValues> {
  const tables = new Map<string, { named: Map<number, NamedValue>; typed: TypedValues[] }>();
  const valuesOf = (name: string) => {
    const table = tables.get(name) ?? { named: new Map<number, NamedValue>(), typed: [] as TypedValues[] };
    tables.set(name, table);
    return table;
  };
  for (const value of known) {
    if (!value) continue;
    const [table, address, cells] = value;
    const { named, typed } = valuesOf(table);
    if (!isNamed(value)) typed.push(value);
    else for (let at = address; at < address + cells; at++) named.set(at, value);
  }
  return tables;
}

function isNamed(value: KnownValue): value is NamedValue {
  return typeof value[3] === 'string';
}

/** Adds the names and values of its registers to an event. */
export function withValues(view: TrafficView, device: string, known: TableValues): TrafficView {
  const { address = 0, quantity = 0 } = view;
  const names = namedBetween(known, address, quantity).map(([, , , name]) => `${device}.${name}`);
  const named = names.length > 0 ? { ...view, names } : view;
  const text = textWithValues(view, known);
  return text === view.text ? named : { ...named, text };
}

/** A text that ends with the words of registers, and these words. */
interface Said {
  readonly text: string;
  readonly address?: number | undefined;
  readonly quantity?: number | undefined;
  readonly values?: readonly number[] | undefined;
}

/** Replaces the words in a text with values: `… 100–104: voltage 230.1 V, 16560, 103–104 float32 50.02`. */
export function textWithValues(
  { address = 0, quantity = 0, values = [], text }: Said,
  known: TableValues,
): string {
  const tail = `: ${valuesText(values)}`;
  if (values.length !== quantity || values.length > MAX_SHOWN || !text.endsWith(tail)) return text;
  const shown = shownValues(values, address, known);
  return shown === undefined ? text : `${text.slice(0, -tail.length)}: ${shown}`;
}

/** The text for the words from an address on; undefined if all of them are plain words. */
function shownValues(
  values: readonly number[],
  address: number,
  { named, typed }: TableValues,
): string | undefined {
  const shown: string[] = [];
  let isKnown = false;
  for (let i = 0; i < values.length; ) {
    const value = named.get(address + i);
    const raw = value?.[1] === address + i ? rawIn({ address, values }, value) : undefined;
    const some = value ? undefined : wholeValues(typed, address + i, values.length - i, named);
    if (value && raw !== undefined) {
      shown.push(namedText(value, raw));
      i += value[2];
      isKnown = true;
    } else if (some) {
      const [, at, cells, count, type, order] = some;
      const texts = Array.from({ length: count }, (_, n) =>
        valueText(type, valueOfWords(type, values, order, i + n * cells, cells), 1),
      );
      // If there are no other addresses, the text of the event already names these.
      const where = count * cells === values.length ? '' : `${rangeText(at, count * cells)} `;
      shown.push(`${where}${type} ${texts.join(' ')}`);
      i += count * cells;
      isKnown = true;
    } else shown.push(String(values[i++]));
  }
  return isKnown ? shown.join(', ') : undefined;
}

/** The unnamed values that start at an address, as many as fit in `quantity` registers. */
function wholeValues(
  typed: readonly TypedValues[],
  address: number,
  quantity: number,
  named: TableValues['named'],
): TypedValues | undefined {
  const found = typed.find(([, first, cells, count]) => first <= address && address < first + cells * count);
  if (!found) return undefined;
  const [table, first, cells, count, type, order] = found;
  if ((address - first) % cells !== 0) return undefined;
  const most = Math.min(Math.floor(quantity / cells), count - (address - first) / cells);
  let some = 0;
  while (some < most && !named.has(address + some * cells)) some++;
  return some > 0 ? [table, address, cells, some, type, order] : undefined;
}

/** Formats a value with its name: `voltage 230.1 V`, `serial "A17"`, `status 9 (running, overload)`. */
function namedText([, , , name, type, , scale, unit, bits]: NamedValue, raw: Value): string {
  const text = `${name} ${valueText(type, raw, scale)}${unit === undefined ? '' : ` ${unit}`}`;
  return bits ? `${text} (${setBits(bits, raw)})` : text;
}

function valueText(type: NamedValue[4], raw: Value, scale: number): string {
  if (type === 'string') return JSON.stringify(raw);
  const short = type === 'float32' && typeof raw === 'number' ? shortestFloat32(raw) : raw;
  return String(storedView(short, scale).value);
}

function namedBetween({ named }: TableValues, address: number, quantity: number): NamedValue[] {
  const found = new Set<NamedValue>();
  for (let at = address; at < address + quantity; at++) {
    const value = named.get(at);
    if (value !== undefined) found.add(value);
  }
  return [...found];
}

/** The named values that a write has changed. */
export function valuesWritten(written: WrittenValues, known: TableValues): WrittenValue[] {
  return namedBetween(known, written.address, written.values?.length ?? 1).map((value) => {
    const raw = rawIn(written, value);
    if (raw === undefined) return { name: value[3], asWritten: undefined };
    const { 6: scale, 8: bits } = value;
    return {
      name: value[3],
      asWritten: { ...storedView(raw, scale), ...(bits && { label: setBits(bits, raw) }) },
    };
  });
}

/** A value in stored form, from the words at an address; undefined if these do not contain all of it. */
function rawIn(
  { address: from, values = [] }: { readonly address: number } & Pick<Said, 'values'>,
  [, address, cells, , type, order]: NamedValue,
): Value | undefined {
  const start = address - from;
  const isWhole = start >= 0 && start + cells <= values.length;
  return isWhole ? valueOfWords(type, values, order, start, cells) : undefined;
}
