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

/**
 * Writes what was imported as a native file in block style.
 * @param source the name of the file that was read
 */
export function writeNative(imported: Imported, source: string): WrittenFile {
  const names = new Set<string>();
  const lines = imported.lines.map(({ original, devices }, i) => ({
    name: imported.lines.length === 1 ? 'lan' : `lan${i + 1}`,
    original,
    devices: devices.map((device) => ({
      name: deviceName(device, names),
      device,
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
      name,
      kind: 'tcp',
      units: devices.map((each) => [each.device.unit, each.name]),
    })),
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
