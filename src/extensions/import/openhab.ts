import { failure, type Result } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';
import { CELLS_PER_VALUE, type ValueType } from '../../device/registers/cell-type.js';
import { isOfBits, type TableName } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import { Collector, type Imported, numberOf } from './collected.js';
import { byWord } from './data-types.js';

/**
 * openHAB Things: a bridge `modbus:tcp` or `modbus:serial` is a connection to one unit. Its pollers read
 * blocks of a table. Things of the kind `data` are values in a block, or are only written.
 */

const TABLES = byWord<TableName>({
  coils: 'coil',
  discrete: 'discrete',
  input: 'input',
  holding: 'holding',
});
const TYPES = byWord<ValueType>({
  bits: 'bit',
  uint16: 'uint16 int8 uint8',
  int16: 'int16',
  uint32: 'uint32 uint32_swap',
  int32: 'int32 int32_swap',
  uint64: 'uint64 uint64_swap',
  int64: 'int64 int64_swap',
  float32: 'float32 float32_swap',
});

/** A Thing with its parameters, or the end of a bridge. Lengths are limited, so that each part is scanned once. */
const TOKEN =
  /"[^"\n]{0,200}"|\/\/[^\n]{0,1000}|\/\*[\s\S]{0,5000}?\*\/|\b(Bridge|Thing)\s{1,20}([\w:.-]{1,200})(?:\s{1,20}([\w-]{1,100}))?\s{0,20}(?:"([^"\n]{0,200})")?\s{0,20}(?:@\s{0,20}"[^"\n]{0,200}")?\s{0,20}(?:\[((?:"[^"\n]{0,300}"|[^\]["]){0,1000})\])?\s{0,20}(\{)?|[{}]/g;
const PARAMETER = /(\w{1,50})\s{0,20}=\s{0,20}(?:"([^"]{0,300})"|([\w.+-]{1,50}))/g;

interface OpenBridge {
  readonly kind: 'endpoint' | 'poller' | 'other';
  readonly parameters: ReadonlyMap<string, string>;
}

interface Poller {
  readonly table: TableName;
  readonly start: number;
  readonly length: number;
  /** The addresses in this table of the device, of all its pollers, that have a value. */
  readonly covered: Set<number>;
}

/** Maximum number of registers or coils that a poller reads. */
const MOST_READ = 2000;

export function importOpenhab(text: string): Result<Imported> {
  const collector = new Collector();
  const scopes: OpenBridge[] = [];
  const pollers: (() => void)[] = [];
  const covered = new Map<string, Set<number>>();
  let poller: Poller | undefined;
  let pending: OpenBridge | undefined;
  let [line, seen] = [1, 0];
  for (const match of text.matchAll(TOKEN)) {
    const [token, word, type = '', id, label, written = '', opens] = match;
    line += text.slice(seen, match.index).split('\n').length - 1;
    seen = match.index;
    // A comment may separate a bridge from its brace.
    if (token === '{') scopes.push(pending ?? { kind: 'other', parameters: new Map() });
    if (!token.startsWith('/')) pending = undefined;
    if (token === '}') scopes.pop();
    if (word === undefined) continue;
    const parameters = new Map(
      Array.from(written.matchAll(PARAMETER), ([, key = '', quoted, bare = '']) => [key, quoted ?? bare]),
    );
    const location = `line ${line}`;
    const endpoint = scopes.find(({ kind }) => kind === 'endpoint')?.parameters;
    const name = id ?? type.split(':').at(-1) ?? '';
    const kind = /^modbus:(?:tcp|serial)(?::|$)/.test(type)
      ? 'endpoint'
      : /^(?:modbus:)?poller(?::|$)/.test(type)
        ? 'poller'
        : 'other';
    if (kind === 'poller') {
      poller = pollerOf(parameters, endpoint, covered);
      if (!poller)
        collector.note(
          location,
          `poller ${quote(name)}: expected a type, a start and a length up to ${MOST_READ}, within ${ADDRESS_SPACE} addresses`,
        );
      else if (endpoint) {
        const [block, of] = [poller, endpoint];
        pollers.push(() => fill(block, of, collector, location));
      }
    } else if (/^(?:modbus:)?data(?::|$)/.test(type)) {
      const within = scopes.at(-1)?.kind === 'poller' ? poller : undefined;
      if (!endpoint) collector.note(location, `${quote(name)} is not inside a bridge, so it is left out`);
      else addData(parameters, within, endpoint, { name, label, location }, collector);
    }
    if (opens) scopes.push({ kind, parameters });
    else if (word === 'Bridge') pending = { kind, parameters };
  }
  for (const each of pollers) each();
  if (scopes.length > 0) return failure(`expected a } for each {; ${scopes.length} missing`);
  return collector.end('openHAB things');
}

/** @param all the addresses that have a value, by device and table */
function pollerOf(
  parameters: ReadonlyMap<string, string>,
  endpoint: ReadonlyMap<string, string> | undefined,
  all: Map<string, Set<number>>,
): Poller | undefined {
  const table = TABLES.get(parameters.get('type') ?? '');
  const [start = -1, length = 0] = [
    numberOf(parameters.get('start') ?? '0'),
    numberOf(parameters.get('length')),
  ];
  const areWhole = Number.isInteger(start) && Number.isInteger(length);
  if (!table || !areWhole || start < 0 || length < 1 || length > MOST_READ || start + length > ADDRESS_SPACE)
    return undefined;
  const key = [...(endpoint ? placeOf(endpoint) : []), table].join(' ');
  const covered = all.get(key) ?? new Set();
  all.set(key, covered);
  return { table, start, length, covered };
}

/** The address under which openHAB reaches the device, and its unit identifier. */
function placeOf(endpoint: ReadonlyMap<string, string>): readonly [place: string, unit: number] {
  const host = endpoint.get('host');
  const place =
    host === undefined ? (endpoint.get('port') ?? '') : `tcp://${host}:${endpoint.get('port') ?? '502'}`;
  return [place, numberOf(endpoint.get('id')) ?? 1];
}

/** Adds the values that a Thing reads and writes. */
function addData(
  parameters: ReadonlyMap<string, string>,
  poller: Poller | undefined,
  endpoint: ReadonlyMap<string, string>,
  {
    name,
    label,
    location,
  }: { readonly name: string; readonly label: string | undefined; readonly location: string },
  collector: Collector,
): void {
  const [place, unit] = placeOf(endpoint);
  const add = (table: TableName | undefined, start: string, type: string, write: boolean) => {
    const [, digits, bit] = /^(\d{1,6})(?:\.(\d{1,2}))?$/.exec(start) ?? [];
    const found = table && isOfBits(table) ? 'bit' : TYPES.get(type);
    if (!table || digits === undefined || found === undefined) {
      collector.note(location, `${quote(name)}: ${quote(start)} of type ${quote(type)} is not understood`);
      return;
    }
    const isPart = bit !== undefined || /^u?int8$/.test(type);
    const swapped = type.endsWith('_swap') && { wordOrder: 'little' as const };
    const kind = found === 'bits' || isPart ? 'uint16' : found;
    const address = Number(digits);
    if (poller?.table === table)
      for (let i = 0; i < (CELLS_PER_VALUE[kind as keyof typeof CELLS_PER_VALUE] ?? 1); i++)
        poller.covered.add(address + i);
    const part = isPart ? { part: type === 'bit' ? `bit ${bit}` : `byte ${bit ?? 0}` } : {};
    const value = { table, address, type: kind, name, description: label, write, location };
    collector.addOnce(place, unit, `unit-${unit}`, { ...value, ...swapped, ...part });
  };
  const read = parameters.get('readStart');
  const write = parameters.get('writeStart');
  if (read !== undefined) add(poller?.table, read, parameters.get('readValueType') ?? '', false);
  if (write !== undefined)
    add(
      TABLES.get(parameters.get('writeType') ?? ''),
      write,
      parameters.get('writeValueType') ?? parameters.get('readValueType') ?? 'bit',
      true,
    );
  const transform = parameters.get('readTransform');
  if (transform !== undefined && transform !== 'default')
    collector.note(
      location,
      `${quote(name)}: ${quote(transform.slice(0, 60))} is not applied: the value is served as stored`,
    );
}

/** Adds the remaining addresses that a poller reads, so that its whole block can be read. */
function fill(
  { table, start, length, covered }: Poller,
  endpoint: ReadonlyMap<string, string>,
  collector: Collector,
  location: string,
): void {
  const [place, unit] = placeOf(endpoint);
  for (let address = start; address < start + length; address++) {
    if (covered.has(address)) continue;
    covered.add(address);
    const type = isOfBits(table) ? ('bit' as const) : ('uint16' as const);
    // If one is left out, the reason applies to the rest too.
    if (!collector.addOnce(place, unit, `unit-${unit}`, { table, address, type, location })) return;
  }
}
