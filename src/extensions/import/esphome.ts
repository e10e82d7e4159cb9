import { failure, type Result, success } from '../../common/result.js';
import { describeFound, quote } from '../../common/schema/problem.js';
import type { Order, ValueType } from '../../device/registers/cell-type.js';
import { isOfBits, type TableName } from '../../device/tables.js';
import type { ImportedValue } from '../../document/register-map.js';
import {
  Collector,
  type ImportExtras,
  type Imported,
  numberOf,
  readYaml,
  type Section,
  sectionOf,
  sectionsOf,
  wordOf,
  type YamlFile,
} from './collected.js';
import { byWord } from './data-types.js';

/**
 * ESPHome's modbus_controller component, as described in its documentation and its __init__.py. A controller
 * is a device with a unit identifier; entities of the platform `modbus_controller` read and write its
 * registers.
 */

const PLATFORMS = ['sensor', 'binary_sensor', 'text_sensor', 'number', 'select', 'switch', 'output'] as const;
const WRITTEN: ReadonlySet<string> = new Set(['number', 'select', 'switch', 'output']);

const TABLES = byWord<TableName>({
  holding: 'holding',
  input: 'read',
  coils: 'coil',
  discrete: 'discrete_input',
});

/** The value types. `_R` at the end means low word first, `_S` low byte first in each word. */
const TYPES = byWord<ValueType>({
  uint16: 'U_WORD',
  int16: 'S_WORD',
  uint32: 'U_DWORD',
  int32: 'S_DWORD',
  uint64: 'U_QWORD',
  int64: 'S_QWORD',
  float32: 'FP32',
});

interface EsphomePart {
  /** The text before the line numbers of a package. */
  readonly prefix: string;
  readonly root: Section;
  readonly locationOf: YamlFile['locationOf'];
}

/** Reads an ESPHome configuration, or one of its packages. */
export function importEsphome(
  text: string,
  _device: string,
  { packages = [], substitutions: given = new Map() }: ImportExtras = {},
): Result<Imported> {
  const parts: EsphomePart[] = [];
  for (const [name, each] of [['', text] as const, ...packages]) {
    const prefix = name === '' ? '' : `${name}, `;
    const read = readYaml(each);
    if (!read.ok) return failure(prefix + read.error);
    const { value, locationOf } = read.value;
    const [root = {}] = sectionsOf(value);
    parts.push({ prefix, root, locationOf });
  }
  const substitutions = new Map<string, string>();
  // The configuration takes precedence over its packages.
  for (const { root } of [...parts].reverse())
    for (const [name, value] of Object.entries(sectionOf(root.substitutions) ?? {}))
      substitutions.set(name, wordOf(value) ?? '');
  for (const [name, value] of given) substitutions.set(name, value);
  const collector = new Collector();
  const put = new Substituter(substitutions);
  const units = new Map<string, unknown>();
  for (const { root } of parts)
    for (const { id, address } of sectionsOf(put.into(root.modbus_controller)))
      units.set(wordOf(id) ?? '', address ?? 1);
  const assumed = new Set<string>();
  for (const { root, prefix, locationOf } of parts) {
    if (root.packages !== undefined)
      collector.note(
        prefix + locationOf(['packages']),
        'packages are not read; name their files after this one',
      );
    for (const platform of PLATFORMS) {
      const list = root[platform];
      const items: readonly unknown[] = Array.isArray(list) ? list : [list];
      for (const [i, item] of items.entries()) {
        const [entity] = sectionsOf(put.into(item));
        if (entity?.platform !== 'modbus_controller') continue;
        const location = prefix + locationOf([platform, i]);
        const id = wordOf(entity.modbus_controller_id) ?? [...units.keys()][0] ?? '';
        if (!units.has(id)) {
          // The controller of a package is in the configuration that uses the package.
          units.set(id, 1);
          assumed.add(id);
        }
        const problem = addEntity(entity, platform, id, units, collector, location);
        collector.noteOf(location, nameOf(entity), problem);
      }
    }
  }
  for (const name of put.missing)
    collector.note('substitutions', `${quote(name)} has no value; give one with --set ${name}=VALUE`);
  return collector.end(
    'ESPHome modbus_controller',
    [...assumed].map((id) => `no file defines the controller ${quote(id)}, so the unit is 1`),
  );
}

/** Replaces `${name}` and `$name` with values. */
class Substituter {
  /** The names found that have no value. */
  readonly missing = new Set<string>();
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  into(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((each) => this.into(each));
    const section = sectionOf(value);
    return section
      ? Object.fromEntries(Object.entries(section).map(([key, each]) => [key, this.into(each)]))
      : value;
  }

  #text(text: string, depth = 0): string {
    const put = text.replace(/\$\{ *(\w+) *\}|\$([A-Za-z_]\w*)/g, (whole, braced, bare) => {
      const name = String(braced ?? bare);
      const value = this.#values.get(name);
      if (value === undefined && this.missing.size < MOST_MISSING) this.missing.add(name);
      return value ?? whole;
    });
    // A value may contain another name.
    return put !== text && depth < MOST_NESTED && put.length < LONGEST_TEXT
      ? this.#text(put, depth + 1)
      : put;
  }
}

const MOST_MISSING = 20;
const MOST_NESTED = 5;
const LONGEST_TEXT = 1000;

/** Adds an entity. @returns a message saying why it is left out */
function addEntity(
  entity: Section,
  platform: string,
  id: string,
  units: ReadonlyMap<string, unknown>,
  collector: Collector,
  location: string,
): string | undefined {
  const name = nameOf(entity);
  const unit = numberOf(units.get(id));
  if (unit === undefined) return `the address of controller ${quote(id)} is unknown`;
  const start = numberOf(entity.address);
  if (start === undefined) return `address ${describeFound(entity.address)}, expected a number`;
  const word = wordOf(entity.register_type) ?? (WRITTEN.has(platform) ? 'holding' : '');
  const table = TABLES.get(word);
  if (table === undefined) return `unknown register_type ${quote(word)}`;
  const isBit = isOfBits(table);
  const offset = numberOf(entity.offset ?? entity.byte_offset) ?? 0;
  if (!isBit && offset % 2 !== 0) return `offset ${offset} begins inside a register`;
  const what = isBit ? success({ type: 'bit' as const }) : registersOf(entity, platform);
  if (!what.ok) return what.error;
  if (entity.lambda !== undefined) collector.note(location, `${quote(name)}: its lambda is not evaluated`);
  collector.add('', unit, id, {
    table,
    // The offset is in bytes for registers, and in coils for coils.
    address: start + (isBit ? offset : offset / 2),
    location,
    ...what.value,
    name,
    write: WRITTEN.has(platform),
    scale: scaleOf(entity),
    unit: wordOf(entity.unit_of_measurement),
  });
  return undefined;
}

function nameOf(entity: Section): string {
  return wordOf(entity.name) ?? wordOf(entity.id) ?? '';
}

type Registers = Pick<ImportedValue, 'type'> & {
  length?: number;
  wordOrder?: Order;
  byteOrder?: Order;
  part?: string;
};

/** The registers of an entity. @returns the part that is unknown, as a sentence */
function registersOf(entity: Section, platform: string): Result<Registers> {
  const count = numberOf(entity.register_count);
  if (platform === 'text_sensor') {
    const length = count ?? Math.max(1, Math.ceil((numberOf(entity.response_size) ?? 2) / 2));
    return success({ type: 'string', length });
  }
  const bitmask = numberOf(entity.bitmask);
  if (platform === 'binary_sensor' || platform === 'switch') {
    return success({ type: 'uint16', ...(bitmask !== undefined && { part: `bitmask ${hex(bitmask)}` }) });
  }
  const text = wordOf(entity.value_type) ?? 'U_WORD';
  const [, word = '', order = ''] = /^(\w+?)(_RS?|_SR?)?$/.exec(text) ?? [];
  const type = TYPES.get(word);
  if (type === undefined) return failure(`unknown value_type ${quote(text)}`);
  if (bitmask !== undefined && type.endsWith('16')) return success({ type, part: `bitmask ${hex(bitmask)}` });
  return success({
    type,
    ...(order.includes('R') && { wordOrder: 'little' as const }),
    ...(order.includes('S') && { byteOrder: 'little' as const }),
  });
}

/**
 * The scale of an entity: for a sensor, the factor of its filters; for a number, the inverse of the factor
 * applied before it is written.
 */
function scaleOf(entity: Section): number | undefined {
  const filters = sectionsOf(entity.filters).flatMap(({ multiply }) => numberOf(multiply) ?? []);
  const multiply = numberOf(entity.multiply);
  if (filters.length > 0) return Number(filters.reduce((product, each) => product * each, 1).toPrecision(12));
  return multiply ? Number((1 / multiply).toPrecision(12)) : undefined;
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
