import { describeFound, quote } from '../../common/schema/problem.js';
import type { Order, ValueType } from '../../device/registers/cell-type.js';
import type { TableName } from '../../device/tables.js';
import { Collector, type Imported, type ImportedValue } from './collected.js';
import { isOfBits, numberOf, readYaml, type Section, sectionsOf, wordOf } from './parts.js';

/**
 * The component modbus_controller of ESPHome, as its documentation and its __init__.py describe it. A
 * controller is a device with a unit identifier; entities of the platform `modbus_controller` read and write
 * its registers.
 */

const PLATFORMS = ['sensor', 'binary_sensor', 'text_sensor', 'number', 'select', 'switch', 'output'] as const;
const WRITTEN: ReadonlySet<string> = new Set(['number', 'select', 'switch', 'output']);

const TABLES: ReadonlyMap<string, TableName> = new Map([
  ['holding', 'holding'],
  ['read', 'input'],
  ['coil', 'coils'],
  ['discrete_input', 'discrete'],
]);

const TYPES: ReadonlyMap<string, ValueType> = new Map([
  ['U_WORD', 'uint16'],
  ['S_WORD', 'int16'],
  ['U_DWORD', 'uint32'],
  ['S_DWORD', 'int32'],
  ['U_QWORD', 'uint64'],
  ['S_QWORD', 'int64'],
  ['FP32', 'float32'],
]);

/** Reads an ESPHome configuration. @returns what is wrong with the text, as a sentence */
export function importEsphome(text: string): Imported | string {
  const file = readYaml(text);
  if (typeof file === 'string') return file;
  const [root] = sectionsOf(file.value);
  if (root?.modbus_controller === undefined) return 'expected modbus_controller: of ESPHome';
  const collector = new Collector();
  const units = new Map<string, unknown>();
  for (const { id, address } of sectionsOf(root.modbus_controller)) units.set(wordOf(id) ?? '', address ?? 1);
  for (const platform of PLATFORMS) {
    const list = root[platform];
    const items: readonly unknown[] = Array.isArray(list) ? list : [list];
    for (const [i, item] of items.entries()) {
      const [entity] = sectionsOf(item);
      if (entity?.platform !== 'modbus_controller') continue;
      const location = file.locationOf([platform, i]);
      const problem = addEntity(entity, platform, units, collector, location);
      if (problem !== undefined) collector.note(location, `${quote(nameOf(entity))}: ${problem}`);
    }
  }
  return collector.end('ESPHome modbus_controller');
}

/** Adds an entity. @returns why it is left out, as a sentence */
function addEntity(
  entity: Section,
  platform: string,
  units: ReadonlyMap<string, unknown>,
  collector: Collector,
  location: string,
): string | undefined {
  const name = nameOf(entity);
  // With one controller, entities need not name it.
  const id = wordOf(entity.modbus_controller_id) ?? [...units.keys()][0] ?? '';
  const unit = numberOf(units.get(id));
  if (unit === undefined) return `the address of controller ${quote(id)} is not known`;
  const start = numberOf(entity.address);
  if (start === undefined) return `address ${describeFound(entity.address)}, expected a number`;
  const word = wordOf(entity.register_type) ?? (WRITTEN.has(platform) ? 'holding' : '');
  const table = TABLES.get(word);
  if (table === undefined) return `register_type ${quote(word)} is not known`;
  const isBit = isOfBits(table);
  const offset = numberOf(entity.offset ?? entity.byte_offset) ?? 0;
  if (!isBit && offset % 2 !== 0) return `offset ${offset} begins inside a register`;
  const what = isBit ? { type: 'bit' as const } : registersOf(entity, platform);
  if (typeof what === 'string') return what;
  if (entity.lambda !== undefined) collector.note(location, `${quote(name)}: its lambda is not followed`);
  collector.add('', unit, id, {
    table,
    // The offset counts the bytes of registers, and coils one by one.
    address: start + (isBit ? offset : offset / 2),
    location,
    ...what,
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

type Registers = Pick<ImportedValue, 'type'> & { length?: number; wordOrder?: Order; part?: string };

/** The registers of an entity. @returns what is not known, as a sentence */
function registersOf(entity: Section, platform: string): Registers | string {
  const count = numberOf(entity.register_count);
  if (platform === 'text_sensor') {
    return {
      type: 'string',
      length: count ?? Math.max(1, Math.ceil((numberOf(entity.response_size) ?? 2) / 2)),
    };
  }
  const bitmask = numberOf(entity.bitmask);
  if (platform === 'binary_sensor' || platform === 'switch') {
    return bitmask === undefined ? { type: 'uint16' } : { type: 'uint16', part: `bitmask ${hex(bitmask)}` };
  }
  const text = wordOf(entity.value_type) ?? 'U_WORD';
  const isReversed = text.endsWith('_R');
  const type = TYPES.get(isReversed ? text.slice(0, -2) : text);
  if (type === undefined) return `value_type ${quote(text)} is not known`;
  if (bitmask !== undefined && type.endsWith('16')) return { type, part: `bitmask ${hex(bitmask)}` };
  return { type, ...(isReversed && { wordOrder: 'little' as const }) };
}

/**
 * The scale of an entity: for a sensor, the factor of its filters; for a number, the inverse of the factor by
 * which it is multiplied before it is written.
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
