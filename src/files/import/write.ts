import { TABLE_NAMES } from '../../device/tables.js';
import type { Imported, ImportedDevice, Note } from './collected.js';
import { type Entries, entriesOf } from './entries.js';
import { nativeText, registersOf } from './native-file.js';

/** A native file, and notes on what of the source it does not keep. */
export interface WrittenFile {
  readonly text: string;
  readonly notes: readonly Note[];
  /** The content of each device, a line of text each. */
  readonly summary: readonly string[];
  readonly values: number;
}

interface NamedDevice {
  readonly name: string;
  readonly device: ImportedDevice;
  readonly entries: Entries;
}

/** Where the devices of a written file are. */
export interface Place {
  /** The serial port of the only line. Without it, lines are of TCP. */
  readonly serial?: string;
  /** The TCP port of the first line (default: 5020). */
  readonly port?: number;
  /** The unit identifier of the only device. */
  readonly unit?: number;
}

/** Says why a place does not fit what was imported, as a sentence; undefined when it does. */
export function placeProblem({ lines }: Imported, { serial, unit }: Place): string | undefined {
  const devices = lines.flatMap((line) => line.devices).length;
  if (serial !== undefined && lines.length > 1)
    return `--serial is for one line, and the file has ${lines.length}`;
  if (unit !== undefined && devices > 1) return `--unit is for one device, and the file has ${devices}`;
  return undefined;
}

/**
 * Writes what was imported as a native file in block style.
 * @param source the name of the file that was read
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
  const notes = [...imported.notes, ...all.flatMap(({ entries }) => entries.notes)];
  const text = nativeText({
    remarks: [
      `Written by modbus-sim import from ${source}: ${imported.what}.`,
      ...imported.preview,
      ...lines.flatMap(({ name, original }) => (original ? [`Line ${name} stands for ${original}.`] : [])),
      ...(notes.length > 0 ? ['', 'Not understood, or not kept:', ...notes.map(noteText)] : []),
    ],
    devices: all.map(({ name, device: { whole }, entries: { tables } }) => [
      name,
      whole?.entry ?? { registers: registersOf((table) => tables.get(table)) },
    ]),
    lines: lines.map(({ name, devices }) => ({
      name: place.serial === undefined ? name : 'bus',
      ...(place.serial === undefined ? { kind: 'tcp' } : { kind: 'rtu', path: place.serial }),
      units: devices.map((each) => [each.device.unit, each.name]),
    })),
    ...(place.port !== undefined && { firstPort: place.port }),
  });
  return {
    text,
    notes,
    summary: all.map(summaryOf),
    values: all.reduce(
      (sum, { device, entries }) =>
        sum + (device.whole?.values ?? [...entries.tables.values()].flat().length),
      0,
    ),
  };
}

/** A note as a line of text. */
export function noteText({ location, message }: Note): string {
  return `${location}: ${message}`;
}

/** A name for REST and logs, unique among all devices. */
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
