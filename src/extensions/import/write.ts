import { compact } from '../../common/compact.js';
import { parseValue } from '../../device/registers/value.js';
import { isOfBits, TABLE_NAMES, type TableName } from '../../device/tables.js';
import { LONGEST_NAME } from '../../document/native/units.js';
import { nativeText, registersOf } from '../../document/native-file.js';
import { cellsOf, type ImportedDevice, type ImportedValue } from '../../document/register-map.js';
import type { Imported, Note } from './collected.js';

/** An entry in a native file (docs/configuration.md). */
type NativeEntry = Readonly<Record<string, unknown>> & { readonly address: number };

/** The entries of one device by table, and notes on details of the file that they lose. */
interface Entries {
  readonly tables: ReadonlyMap<TableName, readonly NativeEntry[]>;
  readonly notes: readonly Note[];
}

const LONGEST_DESCRIPTION = 200;

/**
 * The entries of a device. If values overlap, the first one in the file is kept; the registers of the others
 * are served too.
 */
function entriesOf({ values }: ImportedDevice): Entries {
  const notes: Note[] = [];
  const names = new Map<string, number>();
  const byTable = new Map<TableName, ImportedValue[]>();
  for (const value of values) {
    const all = byTable.get(value.table);
    if (all) all.push(value);
    else byTable.set(value.table, [value]);
  }
  const tables = [...byTable].map(([table, all]) => {
    const entries = withParts(all, notes).map((value) => entryOf(value, names, notes));
    return [table, entries.sort((a, b) => a.address - b.address)] as const;
  });
  return { tables: new Map(tables), notes };
}

/** Returns values that do not overlap: whole registers first, then registers of which the file only names parts. */
function withParts(values: readonly ImportedValue[], notes: Note[]): ImportedValue[] {
  const owners = new Map<number, ImportedValue>();
  /** Values that another entry in the file writes. */
  const written = new Set<ImportedValue>();
  const placed: ImportedValue[] = [];
  const place = (value: ImportedValue) => {
    for (const address of addressesOf(value)) owners.set(address, value);
    placed.push(value);
  };
  const whole = values.filter(({ part }) => part === undefined);
  for (const value of [...whole.filter(({ rest }) => !rest), ...whole.filter(({ rest }) => rest)]) {
    const addresses = addressesOf(value);
    const owner = addresses.map((address) => owners.get(address)).find((each) => each !== undefined);
    if (owner === undefined) {
      place(value);
      continue;
    }
    if (value.rest) continue;
    if (value.write) written.add(owner);
    const free = addresses.filter((address) => !owners.has(address));
    for (const address of free) place({ ...bare(value), address });
    notes.push({ location: value.location, message: overlapMessage(value, owner, free) });
  }
  const parts = new Map<number, ImportedValue[]>();
  for (const value of values.filter(({ part }) => part !== undefined)) {
    parts.set(value.address, [...(parts.get(value.address) ?? []), value]);
  }
  for (const [address, all] of parts) {
    const [first] = all as [ImportedValue];
    const owner = owners.get(address);
    const description = all.map(({ part, name }) => `${part}: ${name ?? 'no name'}`).join('; ');
    if (owner === undefined) {
      const write = all.some((each) => each.write);
      place({ ...bare(first), name: `register_${address}`, description, ...(write && { write }) });
    } else {
      const message = `parts of the register of ${calledOf(owner)}, which is served as a whole: ${description}`;
      if (all.some((each) => each.write)) written.add(owner);
      notes.push({ location: first.location, message });
    }
  }
  return placed.map((value) => (written.has(value) ? { ...value, write: true } : value));
}

function addressesOf(value: ImportedValue): number[] {
  return Array.from({ length: cellsOf(value) }, (_, i) => value.address + i);
}

/** The first register of a value, without name, type or other details. */
function bare({ table, address, write, location }: ImportedValue): ImportedValue {
  const type = isOfBits(table) ? 'bit' : 'uint16';
  return { table, address, type, location, ...(write && { write }) };
}

function calledOf({ name, address }: ImportedValue): string {
  return name ?? `address ${address}`;
}

function overlapMessage(value: ImportedValue, owner: ImportedValue, free: readonly number[]): string {
  const isSame = value.address === owner.address && cellsOf(value) === cellsOf(owner);
  const where = isSame ? 'reads the same registers as' : 'overlaps';
  const rest = free.length > 0 ? `; its other registers, ${free.join(', ')}, are served without a name` : '';
  return `${calledOf(value)} ${where} ${calledOf(owner)}, which is kept${rest}`;
}

function entryOf(value: ImportedValue, names: Map<string, number>, notes: Note[]): NativeEntry {
  const { address, type, length, unit, scale, wordOrder, byteOrder, write, location } = value;
  const name = value.name === undefined ? undefined : uniqueName(value.name, names);
  // If the name had to change, the description keeps the original.
  const original = name === value.name ? undefined : value.name;
  const description = [original, value.description].filter((text) => text).join('; ');
  const isBit = type === 'bit';
  const limits = limitsOf(value.limits);
  return {
    address,
    ...(name !== undefined && { name }),
    ...(!isBit && { type }),
    ...(type === 'string' && { length }),
    ...(wordOrder === 'little' && cellsOf(value) > 1 && type !== 'string' && { wordOrder }),
    ...(byteOrder === 'little' && !isBit && { byteOrder }),
    value: initialValue(value, notes),
    ...(write && { write }),
    ...(write && limits && type !== 'string' && !isBit && type !== 'bits' && { limits }),
    ...(unit && !isBit && { unit: oneLine(unit) }),
    ...(keptScale(scale, isBit || type === 'string', location, notes) && { scale }),
    ...(description && { description: oneLine(description) }),
  };
}

/** The limits that a file gives, if they allow any value at all. */
function limitsOf({ min, max }: NonNullable<ImportedValue['limits']> = {}): object | undefined {
  const isEmpty = min === undefined && max === undefined;
  return isEmpty || (min !== undefined && max !== undefined && min >= max)
    ? undefined
    : compact({ min, max });
}

function keptScale(scale: number | undefined, isNoNumber: boolean, location: string, notes: Note[]): boolean {
  if (scale === undefined || scale === 1 || isNoNumber) return false;
  if (Number.isFinite(scale) && scale !== 0) return true;
  notes.push({ location, message: `scale ${scale} is ignored: expected a number other than 0` });
  return false;
}

function initialValue({ type, value, length = 1, location }: ImportedValue, notes: Note[]): number | string {
  const usual = type === 'string' ? '' : 0;
  if (value === undefined) return usual;
  const parsed = parseValue(type, value, length);
  if (parsed.ok) return value;
  notes.push({ location, message: `value ${value} is ignored: expected ${parsed.error}` });
  return usual;
}

const UMLAUTS: Readonly<Record<string, string>> = {
  ...{ ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue', ß: 'ss' },
};

/**
 * Makes a name that native files accept and that is unique in its device: letters, digits and underscores.
 * `names` has the names so far, with the last number appended to each.
 */
function uniqueName(text: string, names: Map<string, number>): string {
  const plain = text
    .slice(0, 4 * LONGEST_NAME)
    .normalize('NFC')
    .replace(/[äöüÄÖÜß]/g, (letter) => UMLAUTS[letter] ?? letter)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  // In expressions, `t` is the time.
  const begun = /^[A-Za-z]/.test(plain) && plain !== 't' ? plain : `value_${plain}`.replace(/_$/, '');
  const base = begun.slice(0, LONGEST_NAME - 6);
  let name = base;
  for (let n = names.get(base) ?? 1; names.has(name); name = `${base}_${n}`) names.set(base, ++n);
  names.set(name, 1);
  return name;
}

function oneLine(text: string): string {
  return text
    .slice(0, LONGEST_DESCRIPTION)
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
}

/** A native file, and notes on details of the source that it loses. */
interface WrittenFile {
  readonly text: string;
  readonly notes: readonly Note[];
  readonly devices: readonly { readonly name: string; readonly unit: number; readonly entry: object }[];
  /** The content of each device, one line of text per device. */
  readonly summary: readonly string[];
  readonly values: number;
}

interface NamedDevice {
  readonly name: string;
  readonly device: ImportedDevice;
  readonly entries: Entries;
}

/** Where the devices of the written file are reached. */
interface Place {
  /** The serial port of the only line. If absent, the lines use TCP. */
  readonly serial?: string;
  /** The TCP port of the first line (default: 5020). */
  readonly port?: number;
  /** The unit identifier of the only device. */
  readonly unit?: number;
}

/** Explains why a place does not fit the import, as a sentence; undefined if it does. */
export function placeProblem({ lines }: Imported, { serial, unit }: Place): string | undefined {
  const devices = lines.flatMap((line) => line.devices).length;
  if (serial !== undefined && lines.length > 1)
    return `--serial needs a file with one line, and this file has ${lines.length}`;
  if (unit !== undefined && devices > 1)
    return `--unit needs a file with one device, and this file has ${devices}`;
  return undefined;
}

/**
 * Converts an import to the text of a native file.
 * @param source the name of the imported file
 */
export function writeNative(imported: Imported, source: string, place: Place = {}): WrittenFile {
  const names = new Set<string>();
  const lines = imported.lines.map(({ original, devices }, i) => ({
    name: imported.lines.length === 1 ? 'lan' : `lan${i + 1}`,
    original,
    devices: devices.map((device) => ({
      name: deviceName(device, names),
      device: { ...device, unit: place.unit ?? device.unit },
      entries: entriesOf(device),
    })),
  }));
  const all = lines.flatMap(({ devices }) => devices);
  const made = all.map(({ name, device: { unit, whole }, entries: { tables } }) => ({
    ...{ name, unit },
    entry: whole?.entry ?? { registers: registersOf((table) => tables.get(table)) },
  }));
  const notes = [...imported.notes, ...all.flatMap(({ entries }) => entries.notes)];
  const text = nativeText({
    remarks: [
      `Written by modbus-sim import from ${source}: ${imported.what}.`,
      ...imported.preview,
      ...lines.flatMap(({ name, original }) => (original ? [`Line ${name} replaces ${original}.`] : [])),
      ...(notes.length > 0 ? ['', 'Not understood or ignored:', ...notes.map(noteText)] : []),
    ],
    devices: made.map(({ name, entry }) => [name, entry]),
    lines: lines.map(({ name, devices }) => ({
      name: place.serial === undefined ? name : 'bus',
      ...(place.serial === undefined ? { kind: 'tcp' } : { kind: 'rtu', path: place.serial }),
      units: devices.map((each) => [each.device.unit, each.name]),
    })),
    ...(place.port !== undefined && { firstPort: place.port }),
  });
  return {
    ...{ text, notes, devices: made },
    summary: all.map(summaryOf),
    values: all.reduce(
      (sum, { device, entries }) =>
        sum + (device.whole?.values ?? [...entries.tables.values()].flat().length),
      0,
    ),
  };
}

/** Formats a note as a line of text. */
export function noteText({ location, message, more }: Note): string {
  return `${location}${more ? ` and ${more} more` : ''}: ${message}`;
}

/** A device name for REST and logs, unique among all devices. */
function deviceName({ name, unit }: ImportedDevice, names: Set<string>): string {
  const plain = name.replace(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '');
  const base = plain.slice(0, 50) || `unit-${unit}`;
  const withUnit = names.has(base) ? `${base}-${unit}` : base;
  let unique = withUnit;
  for (let n = 2; names.has(unique); n += 1) unique = `${withUnit}-${n}`;
  names.add(unique);
  return unique;
}

function summaryOf({ name, device, entries }: NamedDevice): string {
  const tables = TABLE_NAMES.flatMap((table) => {
    const list = entries.tables.get(table) ?? [];
    const [first, last] = [list[0], list.at(-1)];
    return first && last ? `${list.length} ${table} (from ${first.address} to ${last.address})` : [];
  });
  return `device ${name}, unit ${device.unit}: ${device.whole?.holds ?? tables.join(', ')}`;
}
