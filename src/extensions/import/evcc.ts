import { failure, type Result } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';
import type { ValueType } from '../../device/registers/cell-type.js';
import { isOfBits, type TableName } from '../../device/tables.js';
import { Collector, type Imported, numberOf } from './collected.js';
import { NUMBER_TYPES } from './data-types.js';

/**
 * Templates of evcc (https://docs.evcc.io): YAML with a Go template below `render: |`. The outcome of its
 * conditions is unknown, so all branches are read, line by line: each `source: modbus` with its `register:`
 * is a value.
 */

const TABLES: ReadonlyMap<string, { readonly table: TableName; readonly write: boolean }> = new Map(
  (
    [
      ['holding', 'holding', false],
      ['input', 'input', false],
      ['coil', 'coils', false],
      ['discrete', 'discrete', false],
      ['writesingle', 'holding', true],
      ['writemultiple', 'holding', true],
      ['writeholding', 'holding', true],
      ['writeholdings', 'holding', true],
      ['writecoil', 'coils', true],
    ] as const
  ).map(([word, table, write]) => [word, { table, write }] as const),
);

/** Keys that say how values are combined, rather than what they are. */
const PLUMBING =
  /^(?:config|in|set|get|source|add|mul|div|sign|calc|cases|switch|sequence|watchdog|default|value|register|script|convert|map|status|plugin|timeout|render)$/;

/** A key in the file, and the text after it. */
interface Line {
  readonly number: number;
  /** The column of the key, after the dashes of lists. */
  readonly indent: number;
  /** True if the key is the first one in a list item. */
  readonly isItem: boolean;
  readonly key: string;
  readonly value: string;
  readonly comment: string;
}

export function importEvcc(text: string, device: string): Result<Imported> {
  const lines = linesOf(text);
  const collector = new Collector();
  const name = lines.find(({ key, indent }) => key === 'template' && indent === 0)?.value || device;
  const unit = unitOf(lines);
  let found = 0;
  for (const [i, line] of lines.entries()) {
    const location = `line ${line.number}`;
    if (line.key === 'source' && line.value === 'sunspec') {
      collector.note(location, 'source: sunspec is not read; use `sunspec` in a device to serve models');
      continue;
    }
    if (line.key !== 'source' || line.value !== 'modbus') continue;
    found++;
    const problem = addRegister(lines, i, unit, name, collector);
    if (problem !== undefined) collector.note(location, problem);
  }
  if (found === 0) return failure('an evcc template without source: modbus has no registers');
  return collector.end('an evcc template', [
    'all branches of conditions are read',
    ...(unit === 1 ? ['the template has no unit identifier, so the unit is 1'] : []),
  ]);
}

const DIRECTIVE = /\{\{.*?\}\}/g;

function linesOf(text: string): Line[] {
  return text.split(/\r?\n/).flatMap((written, i) => {
    const match = /^( *)((?:- )*)([\w-]+):(?:\s+(.*))?$/.exec(written.slice(0, 500));
    if (!match) return [];
    const [, spaces = '', dashes = '', key = '', rest = ''] = match;
    const [, value = '', comment = ''] = /^(.*?)(?:\s*#\s*(.*))?$/.exec(rest) ?? [];
    const indent = spaces.length + dashes.length;
    return [{ number: i + 1, indent, isItem: dashes !== '', key, value: value.trim(), comment }];
  });
}

/** The default unit identifier of the parameter `modbus`, or 1. */
function unitOf(lines: readonly Line[]): number {
  const at = lines.findIndex(({ key, value }) => key === 'name' && value === 'modbus');
  for (const { key, value, isItem } of at < 0 ? [] : lines.slice(at + 1, at + 10)) {
    if (isItem) break;
    if (key === 'id') return numberOf(value) ?? 1;
  }
  return 1;
}

/** The keys from this line on in the mapping that contains the line. */
function siblingsOf(lines: readonly Line[], start: number): { line: Line; at: number }[] {
  const { indent } = lines[start] as Line;
  const siblings: { line: Line; at: number }[] = [];
  for (let at = start; at < lines.length; at++) {
    const line = lines[at] as Line;
    if (line.indent < indent || (at > start && line.indent === indent && line.isItem)) break;
    if (line.indent === indent) siblings.push({ line, at });
  }
  return siblings;
}

/** Adds the register of a source. @returns a message saying why it is left out */
function addRegister(
  lines: readonly Line[],
  start: number,
  unit: number,
  device: string,
  collector: Collector,
): string | undefined {
  const siblings = siblingsOf(lines, start);
  const of = (all: readonly { line: Line }[], ...keys: string[]) =>
    all.find(({ line }) => keys.includes(line.key))?.line;
  const register = siblings.find(({ line }) => line.key === 'register');
  const below = lines[(register?.at ?? start) + 1];
  const isNested = register?.line.value === '' && below !== undefined && below.indent > register.line.indent;
  const inner = register && isNested ? siblingsOf(lines, register.at + 1) : siblings;
  const address = of(inner, 'address') ?? (isNested ? undefined : register?.line);
  if (address === undefined) return 'its register has no address';
  const word = of(inner, 'type')?.value.toLowerCase() ?? 'holding';
  const known = TABLES.get(word);
  if (known === undefined) return `unknown register type ${quote(word)}`;
  const isBit = isOfBits(known.table);
  const decode = of(inner, 'decode', 'encoding')?.value.replace(/["']/g, '') ?? (isBit ? 'bit' : 'uint16');
  const what = isBit ? { type: 'bit' as const } : typeOf(decode, numberOf(of(inner, 'length')?.value));
  if (what === undefined) return `unknown decode ${quote(decode)}`;
  // A condition in the address selects one of several addresses.
  const addresses = (address.value.replace(DIRECTIVE, ' ').match(/0x[0-9a-f]+|\d+/gi) ?? []).map(Number);
  if (addresses.length === 0) return `address ${quote(address.value)} is a parameter`;
  const scale = numberOf(of(siblings, 'scale')?.value);
  for (const number of addresses)
    collector.addOnce('', unit, device, {
      table: known.table,
      address: number,
      ...what,
      name: nameOf(lines, start),
      description: address.comment,
      scale,
      write: known.write,
      location: `line ${address.number}`,
    });
  return undefined;
}

type DecodedType = { readonly type: ValueType; readonly length?: number; readonly wordOrder?: 'little' };

/**
 * The type that a word such as `int32snan` means: `s` means that the words are swapped, `nan` that a value
 * may be missing.
 */
function typeOf(decode: string, length: number | undefined): DecodedType | undefined {
  // The branches of a condition within the word differ only in word order: the first one is used.
  const plain = decode.replace(DIRECTIVE, ' ').trim().split(/\s+/)[0] ?? '';
  const [, word = '', swap] =
    /^(bool16|bytes|string|[a-z]+\d+?\d)(s)?(?:nan)?$/i.exec(plain.toLowerCase()) ?? [];
  if (word === 'bytes' || word === 'string') return { type: 'string', length: length ?? 1 };
  const type = word === 'bool16' ? 'uint16' : NUMBER_TYPES.get(word);
  return type && { type, ...(swap !== undefined && { wordOrder: 'little' }) };
}

/** The words above a source that name the value: `power`, or `grid_currents` below a condition. */
function nameOf(lines: readonly Line[], start: number): string {
  let { indent } = lines[start] as Line;
  for (let at = start - 1; at >= 0; at--) {
    const line = lines[at] as Line;
    if (line.indent >= indent) continue;
    indent = line.indent;
    if (line.key === 'render') break;
    if (!PLUMBING.test(line.key)) return line.key === 'name' ? line.value : line.key;
  }
  return '';
}
