import { failure, type Result } from '../../common/result.js';
import { describeFound, quote } from '../../common/schema/problem.js';
import type { ValueType } from '../../device/registers/cell-type.js';
import { isOfBits, type TableName } from '../../device/tables.js';
import {
  Collector,
  type FoundValue,
  type Imported,
  numberOf,
  readYaml,
  type Section,
  sectionOf,
  sectionsOf,
  wordOf,
} from './collected.js';
import { byWord } from './data-types.js';

/**
 * Device templates of wb-mqtt-serial (Wiren Board), as described by its schema: JSON with `//` comments.
 * Channels and parameters name registers.
 */

const TABLES = byWord<TableName>({
  coils: 'coil',
  discrete: 'discrete',
  input: 'input',
  holding: 'holding holding_single holding_multi',
});

/** The type of each format. 24-bit formats occupy two registers, and 8-bit formats one. */
const FORMATS = byWord<ValueType>({
  uint16: 'u8 char8 bcd8 u16 bcd16',
  int16: 's8 s16',
  uint32: 'u24 bcd24 u32 bcd32',
  int32: 's24 s32',
  uint64: 'u64',
  int64: 's64',
  float32: 'float',
  float64: 'double',
});

/** Reads a wb-mqtt-serial template. */
export function importWirenBoard(text: string, name: string): Result<Imported> {
  if (/\{%|\{\{/.test(text)) return failure('is a Jinja template; import the JSON generated from it');
  const read = readYaml(withoutComments(text));
  if (!read.ok) return read;
  const file = read.value;
  const device = sectionOf(sectionOf(file.value)?.device);
  if (device === undefined) return failure('expected a Wiren Board template with device:');
  const protocol = wordOf(device.protocol) ?? 'modbus';
  if (!/^modbus/.test(protocol)) return failure(`its protocol is ${quote(protocol)}, not Modbus`);
  const collector = new Collector();
  const add = (parts: Section, path: readonly (string | number)[]) => {
    for (const [key, list] of Object.entries(parts)) {
      if (!['channels', 'parameters', 'setup'].includes(key)) continue;
      const items = Array.isArray(list) ? [...list.entries()] : Object.entries(sectionOf(list) ?? {});
      for (const [i, item] of items) {
        const [entry] = sectionsOf(item);
        const location = file.locationOf([...path, key, i]);
        const problem = entry && addEntry(entry, key, wordOf(device.id) ?? name, collector, location);
        collector.noteOf(location, wordOf(entry?.name) ?? wordOf(entry?.title) ?? '', problem);
      }
    }
  };
  add(device, ['device']);
  for (const [i, part] of sectionsOf(device.subdevices).entries()) {
    const location = file.locationOf(['device', 'subdevices', i]);
    collector.note(location, 'a subdevice: its addresses are used without shift and stride');
    add(sectionOf(part.device) ?? {}, ['device', 'subdevices', i, 'device']);
  }
  return collector.end('a Wiren Board template', ['the template has no unit identifier, so the unit is 1']);
}

/** The text with comments replaced by spaces, so that line and column numbers do not change. */
function withoutComments(text: string): string {
  return text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, ' ') : match,
  );
}

/** Adds a channel or a parameter, or its parts. @returns a message saying why it is left out */
function addEntry(
  entry: Section,
  key: string,
  device: string,
  collector: Collector,
  location: string,
): string | undefined {
  if (entry.consists_of !== undefined) {
    const problems = sectionsOf(entry.consists_of).map((part) =>
      addEntry({ name: entry.name, ...part }, key, device, collector, location),
    );
    return problems.find((each) => each !== undefined);
  }
  if (entry.device_type !== undefined || entry.oneOf !== undefined) return 'a subdevice, which is not read';
  if (entry.address === undefined && entry.write_address === undefined) return undefined;
  const word = wordOf(entry.reg_type) ?? (key === 'channels' ? '' : 'holding');
  const table = TABLES.get(word);
  if (table === undefined) return `unknown reg_type ${quote(word)}`;
  const format = wordOf(entry.format) ?? 'u16';
  const isBit = isOfBits(table);
  const type = isBit ? 'bit' : format === 'string' ? 'string' : FORMATS.get(format);
  if (type === undefined) return `unknown format ${quote(format)}`;
  if (format.startsWith('bcd')) collector.note(location, `${format} is served as ${type}`);
  if (numberOf(entry.offset)) collector.note(location, `offset ${numberOf(entry.offset)} is ignored`);
  const isWritten = (table === 'holding' || table === 'coils') && entry.readonly !== true;
  const value: Omit<FoundValue, 'address'> = {
    table,
    type,
    location,
    length: type === 'string' ? (numberOf(entry.string_data_size) ?? 1) : undefined,
    wordOrder: entry.word_order === 'little_endian' ? 'little' : undefined,
    name: wordOf(entry.name) ?? wordOf(entry.title),
    unit: wordOf(entry.units),
    scale: numberOf(entry.scale),
  };
  for (const [written, isOfWrites] of [
    [entry.address, false],
    [entry.write_address, true],
  ] as const) {
    if (written === undefined) continue;
    const [, digits, shift, width] = /^(\w+)(?::(\d+):(\d+))?$/.exec(wordOf(written) ?? '') ?? [];
    const address = numberOf(digits);
    if (address === undefined) return `address ${describeFound(written)}, expected a number`;
    const part = shift === undefined ? undefined : `${width} bits from bit ${shift}`;
    collector.addOnce('', 1, device, { ...value, address, part, write: isWritten || isOfWrites });
  }
  return undefined;
}
