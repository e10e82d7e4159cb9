import { Document } from 'yaml';
import { TABLE_NAMES } from '../device/tables.js';
import { printableLine } from '../rest/printable.js';
import type { Imported, ImportedDevice, Note } from './collected.js';
import { type Entries, entriesOf } from './entries.js';

/** A native file, and what of the source it does not keep. */
export interface Written {
  readonly text: string;
  readonly notes: readonly Note[];
  /** What each device has, a line each. */
  readonly summary: readonly string[];
  readonly values: number;
}

const FIRST_PORT = 5020;

interface Named {
  readonly name: string;
  readonly device: ImportedDevice;
  readonly entries: Entries;
}

/** Writes what was imported as a native file in block style. @param source the name of the file that was read */
export function writeNative(imported: Imported, source: string): Written {
  const names = new Set<string>();
  const lines = imported.lines.map(({ original, devices }, i) => ({
    name: imported.lines.length === 1 ? 'lan' : `lan${i + 1}`,
    port: FIRST_PORT + i,
    original,
    devices: devices.map((device) => ({
      name: deviceName(device, names),
      device,
      entries: entriesOf(device),
    })),
  }));
  const all = lines.flatMap(({ devices }) => devices);
  const notes = [...imported.notes, ...all.flatMap(({ entries }) => entries.notes)];
  const document = new Document({
    devices: Object.fromEntries(all.map(({ name, entries }) => [name, { registers: registersOf(entries) }])),
    lines: Object.fromEntries(
      lines.map(({ name, port, devices }) => [
        name,
        {
          tcp: { host: '127.0.0.1', port },
          // A map keeps the numbers of the units; the keys of an object would be text.
          units: new Map(devices.map((each) => [each.device.unit, each.name])),
        },
      ]),
    ),
  });
  document.commentBefore = comment([
    `Written by modbus-sim import from ${source}: ${imported.what}.`,
    ...imported.preview,
    ...lines.flatMap(({ name, original }) => (original ? [`Line ${name} stands for ${original}.`] : [])),
    ...(notes.length > 0 ? ['', 'Not understood, or not kept:', ...notes.map(noteText)] : []),
  ]);
  return {
    text: document.toString({ lineWidth: 0 }),
    notes,
    summary: all.map(summaryOf),
    values: all.reduce((sum, { entries }) => sum + [...entries.tables.values()].flat().length, 0),
  };
}

/** A note as a line of text. */
export function noteText({ location, message }: Note): string {
  return `${location}: ${message}`;
}

/** Each line behind a space; the library adds the sign. */
function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${printableLine(line)}`.trimEnd()).join('\n');
}

function registersOf({ tables }: Entries): Record<string, unknown> {
  return Object.fromEntries(
    TABLE_NAMES.flatMap((table) => (tables.has(table) ? [[table, tables.get(table)]] : [])),
  );
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

function summaryOf({ name, device, entries }: Named): string {
  const tables = TABLE_NAMES.flatMap((table) => {
    const list = entries.tables.get(table) ?? [];
    const [first, last] = [list[0], list.at(-1)];
    return first && last ? `${list.length} ${table} (from ${first.address} to ${last.address})` : [];
  });
  return `device ${name}, unit ${device.unit}: ${tables.join(', ')}`;
}
