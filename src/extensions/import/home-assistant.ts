import type { Result } from '../../common/result.js';
import { describeFound, type Path, quote } from '../../common/schema/problem.js';
import type { ValueType } from '../../device/registers/cell-type.js';
import { isOfBits, type TableName } from '../../device/tables.js';
import { cellsOf } from '../../document/register-map.js';
import {
  Collector,
  type FoundValue,
  type Imported,
  middleOf,
  numberOf,
  readYaml,
  type Section,
  sectionOf,
  wordOf,
} from './collected.js';
import { byWord, fieldsOf, NUMBER_TYPES, type StructureField } from './data-types.js';

/**
 * Home Assistant's `modbus` integration, as described in its documentation, its validators.py and its
 * base_platform.py.
 */

const PLATFORMS = ['sensors', 'binary_sensors', 'switches', 'lights', 'fans', 'covers', 'climates'] as const;

const TABLES = byWord<TableName>({
  holding: 'holding holdings',
  input: 'input',
  coils: 'coil coils',
  discrete: 'discrete_input',
});

const MOST_COPIES = 2000;

class HubReader {
  readonly #hub: Section;
  readonly #path: Path;
  readonly #collector: Collector;
  readonly #locationOf: (path: Path) => string;
  readonly #line: string;
  #withoutUnit: Path | undefined;

  /** @param locationOf describes where a path is in the file */
  constructor(hub: Section, path: Path, collector: Collector, locationOf: (path: Path) => string) {
    this.#hub = hub;
    this.#path = path;
    this.#collector = collector;
    this.#locationOf = locationOf;
    const { type, host, port } = hub;
    const address = wordOf(host) === undefined ? wordOf(port) : `${wordOf(host)}:${wordOf(port) ?? 502}`;
    this.#line = `${wordOf(type) ?? 'modbus'}://${address ?? wordOf(hub.name) ?? ''}`;
  }

  read(): void {
    for (const platform of PLATFORMS) {
      const list = this.#hub[platform];
      if (list === undefined || list === null) continue;
      const items: readonly unknown[] = Array.isArray(list) ? list : [list];
      for (const [i, item] of items.entries()) {
        const path = Array.isArray(list) ? [...this.#path, platform, i] : [...this.#path, platform];
        const entity = sectionOf(item);
        if (entity === undefined) this.#note(path, `${describeFound(item)}: expected an entity`);
        else this.#entity(platform, withMerged(entity), path);
        // One entity can stand for thousands of values.
        if (!this.#collector.isFull) continue;
        this.#note(path, 'the file has too many values: the entities after this one are left out');
        return;
      }
    }
    if (this.#withoutUnit !== undefined) {
      const message =
        'no slave: Home Assistant uses unit 0 or 1, depending on its version. Unit 1 is used here; on TCP, a single device also answers requests to unit 0';
      this.#note(this.#withoutUnit, message);
    }
  }

  #entity(platform: (typeof PLATFORMS)[number], entity: Section, path: Path): void {
    switch (platform) {
      case 'sensors':
        this.#numbers(entity, path, 'address', this.#table(entity.input_type, 'holding', path));
        break;
      case 'binary_sensors':
        this.#flags(entity, path);
        break;
      case 'switches':
      case 'lights':
      case 'fans':
        this.#toggle(entity, path);
        break;
      case 'covers':
        this.#cover(entity, path);
        break;
      case 'climates':
        this.#climate(entity, path);
        break;
    }
  }

  /** Reads a number or a string, and the copies that follow it. */
  #numbers(
    entity: Section,
    path: Path,
    key: string,
    table: TableName | undefined,
    extra: Partial<FoundValue> = {},
  ): void {
    const address = this.#address(entity, path, key);
    const fields = this.#fields(entity, path);
    if (table && isOfBits(table)) {
      this.#note(path, `${table}: expected holding or input registers, so this entity is left out`);
      return;
    }
    if (address === undefined || table === undefined || fields === undefined) return;
    const copies = this.#copies(entity, path);
    const scale = numberOf(entity.scale);
    const offset = numberOf(entity.offset) ?? 0;
    if (offset !== 0)
      this.#note([...path, 'offset'], `offset ${offset} is ignored: the value here is stored × scale`);
    const all = Array.from({ length: copies }, () => fields).flat();
    let at = address;
    for (const [i, { type, length, order }] of all.entries()) {
      const value = middleOf(
        type,
        numberOf(entity.min_value ?? entity.min_temp),
        numberOf(entity.max_value ?? entity.max_temp),
        scale,
        offset,
      );
      this.#add(entity, path, {
        ...{ table, address: at, type, length, ...order, scale, value },
        unit: wordOf(entity.unit_of_measurement),
        ...extra,
        ...(all.length > 1 && { name: `${calledOf(entity)} ${i + 1}` }),
      });
      at += cellsOf({ type, length: length ?? 1 });
    }
  }

  /** The fields in the registers of an entity, in order. */
  #fields(entity: Section, path: Path): readonly StructureField[] | undefined {
    const count = numberOf(entity.count);
    const text = typeof entity.data_type === 'string' ? entity.data_type : 'int16';
    const swap = this.#swap(entity.swap, path);
    if (text === 'string') return [{ type: 'string', length: Math.max(1, count ?? 1), order: swap }];
    if (text === 'custom') return this.#custom(entity, path, count ?? 1);
    if (text === 'float16') {
      this.#note(
        [...path, 'data_type'],
        'float16 is not supported: the register is served as a plain register',
      );
      return [{ type: 'uint16', order: swap }];
    }
    const type = NUMBER_TYPES.get(text) ?? OLD_TYPES[text]?.[count ?? (text === 'float' ? 2 : 1)];
    if (type === undefined) this.#note([...path, 'data_type'], `unknown data_type ${quote(text)}`);
    return type && [{ type, order: swap }];
  }

  #custom(entity: Section, path: Path, count: number): readonly StructureField[] {
    const structure = typeof entity.structure === 'string' ? entity.structure : '>f';
    const fields = fieldsOf(structure);
    const words = fields?.reduce((sum, { type, length }) => sum + cellsOf({ type, length: length ?? 1 }), 0);
    if (fields && words === count) return fields;
    this.#note(
      [...path, 'structure'],
      `structure ${quote(structure)} of ${count} registers is not understood, so each is served as uint16`,
    );
    return Array.from({ length: Math.min(Math.max(count, 1), 1000) }, () => ({ type: 'uint16', order: {} }));
  }

  #swap(swap: unknown, path: Path): StructureField['order'] {
    switch (swap) {
      case undefined:
      case null:
      case 'none':
        return {};
      case 'byte':
        return { byteOrder: 'little' };
      case 'word':
        return { wordOrder: 'little' };
      case 'word_byte':
        return { wordOrder: 'little', byteOrder: 'little' };
      default:
        this.#note([...path, 'swap'], `unknown swap ${describeFound(swap)}`);
        return {};
    }
  }

  /** Reads a binary sensor: bits, or the lowest bit of a register. */
  #flags(entity: Section, path: Path): void {
    const table = this.#table(entity.input_type, 'coil', path);
    const address = this.#address(entity, path, 'address');
    if (address === undefined || table === undefined) return;
    const copies = this.#copies(entity, path);
    for (let i = 0; i < copies; i += 1) {
      const name = copies > 1 ? { name: `${calledOf(entity)} ${i + 1}` } : {};
      this.#add(entity, path, { table, address: address + i, ...name });
    }
  }

  /** Reads a switch, light or fan: clients write it, and read it back at the same place or where `verify` says. */
  #toggle(entity: Section, path: Path): void {
    const table = this.#table(entity.write_type, 'holding', path);
    const address = this.#address(entity, path, 'address');
    if (table === undefined || address === undefined) return;
    this.#add(entity, path, { table, address, write: true });
    const verify = sectionOf(entity.verify);
    const read =
      verify?.address === undefined ? address : this.#address(verify, [...path, 'verify'], 'address');
    const from = verify?.input_type === undefined ? table : this.#table(verify.input_type, 'holding', path);
    if (read === undefined || from === undefined || (read === address && from === table)) return;
    this.#add(entity, path, { table: from, address: read, name: `${calledOf(entity)} state` });
  }

  #cover(entity: Section, path: Path): void {
    const table = this.#table(entity.input_type, 'holding', path);
    const address = this.#address(entity, path, 'address');
    if (table === undefined || address === undefined) return;
    this.#add(entity, path, { table, address, write: true });
    if (entity.status_register === undefined) return;
    const status = this.#address(entity, path, 'status_register');
    const from = this.#table(entity.status_register_type, 'holding', path);
    if (status === undefined || from === undefined) return;
    const name = `${calledOf(entity)} state`;
    this.#add(entity, path, { type: 'uint16', table: from, address: status, name });
  }

  #climate(entity: Section, path: Path): void {
    const name = calledOf(entity);
    this.#numbers(entity, path, 'address', this.#table(entity.input_type, 'holding', path));
    const targets = entity.target_temp_register;
    const target = Array.isArray(targets) ? targets[0] : targets;
    const extra = { name: `${name} target`, write: true };
    if (target !== undefined) this.#numbers({ ...entity, target }, path, 'target', 'holding', extra);
    for (const key of [
      'hvac_mode_register',
      'hvac_onoff_register',
      'fan_mode_register',
      'swing_mode_register',
      'hvac_action_register',
    ]) {
      const part = entity[key];
      const at = sectionOf(part)?.address ?? part;
      const address = numberOf(Array.isArray(at) ? at[0] : at);
      if (part === undefined) continue;
      if (address === undefined) this.#note([...path, key], `${describeFound(part)}: expected an address`);
      else
        this.#add(entity, path, {
          ...{ table: 'holding' as const, address, write: true },
          name: `${name} ${key.replace('_register', '')}`,
        });
    }
  }

  /** Adds a value of an entity. If it has no type, the value is a bit or a register. */
  #add(
    entity: Section,
    path: Path,
    value: Omit<FoundValue, 'location' | 'type'> & { readonly type?: ValueType },
  ): void {
    const unit = entity.device_address ?? entity.slave;
    const number = unit === undefined ? 1 : numberOf(unit);
    if (unit === undefined) this.#withoutUnit ??= path;
    if (number === undefined) {
      this.#note(
        [...path, 'slave'],
        `slave ${describeFound(unit)}: expected a number, so this entity is left out`,
      );
      return;
    }
    const location = this.#locationOf(path);
    const type = isOfBits(value.table) ? 'bit' : 'uint16';
    const found = { type, name: wordOf(entity.name), ...value, location } as const;
    this.#collector.add(this.#line, number, wordOf(this.#hub.name) ?? 'modbus', found);
  }

  #note(path: Path, message: string): void {
    this.#collector.note(this.#locationOf(path), message);
  }

  /** The number of equal values in an entity, one after another. */
  #copies(entity: Section, path: Path): number {
    const more = entity.slave_count ?? entity.virtual_count ?? 0;
    const number = numberOf(more);
    if (number !== undefined && Number.isInteger(number) && number >= 0 && number <= MOST_COPIES)
      return number + 1;
    this.#note(path, `slave_count ${describeFound(more)}: expected a number from 0 to ${MOST_COPIES}`);
    return 1;
  }

  #table(text: unknown, usual: string, path: Path): TableName | undefined {
    const table = typeof text === 'string' || text === undefined ? TABLES.get(text ?? usual) : undefined;
    if (table === undefined)
      this.#note(path, `${describeFound(text)}: expected holding, input, coil or discrete_input`);
    return table;
  }

  #address(entity: Section, path: Path, key: string): number | undefined {
    const address = numberOf(entity[key]);
    if (address === undefined)
      this.#note(path, `${key} ${describeFound(entity[key])}: expected a number, so this entity is left out`);
    return address;
  }
}

/** Types whose size `count` gives, as in releases before 2022. */
const OLD_TYPES: Readonly<Record<string, Readonly<Record<number, ValueType>> | undefined>> = {
  int: { 1: 'int16', 2: 'int32', 4: 'int64' },
  uint: { 1: 'uint16', 2: 'uint32', 4: 'uint64' },
  float: { 2: 'float32', 4: 'float64' },
};

function calledOf(entity: Section): string {
  return wordOf(entity.name) ?? 'value';
}

/** The entity merged with the mappings in its merge keys (YAML 1.1), which Home Assistant supports. */
function withMerged(entity: Section): Section {
  const merged = entity['<<'];
  const parts: readonly unknown[] = Array.isArray(merged) ? merged : [merged];
  // Without a prototype, no name has a special meaning.
  return Object.assign(Object.create(null), ...parts.map((part) => sectionOf(part) ?? {}), entity) as Section;
}

/** Reads a Home Assistant configuration, or only its `modbus:` part. */
export function importHomeAssistant(text: string): Result<Imported> {
  const read = readYaml(text, true);
  if (!read.ok) return read;
  const { value, oddities, locationOf } = read.value;
  const hubs = hubsOf(value);
  const collector = new Collector();
  for (const { path, message } of oddities) {
    // Those in other parts of the configuration do not matter.
    const isOurs = hubs.length === 0 ? path[0] === 'modbus' : hubs.some((hub) => isInside(path, hub.path));
    if (isOurs) collector.note(locationOf(path), message);
  }
  for (const { hub, path } of hubs) new HubReader(hub, path, collector, locationOf).read();
  return collector.end('Home Assistant modbus', []);
}

interface FoundHub {
  readonly hub: Section;
  readonly path: Path;
}

/** Finds the hubs in a whole configuration, in a package, or in the list that `modbus: !include` refers to. */
function hubsOf(root: unknown): FoundHub[] {
  const top = sectionOf(root);
  const inside = (value: unknown, path: Path): FoundHub[] =>
    Array.isArray(value)
      ? value.flatMap((item, i) => inside(item, [...path, i]))
      : sectionOf(value)
        ? [{ hub: sectionOf(value) ?? {}, path }]
        : [];
  if (top === undefined) return inside(root, []);
  if ('modbus' in top) return inside(top.modbus, ['modbus']);
  const packages = Object.entries(top).flatMap(([name, value]) => {
    const modbus = sectionOf(value)?.modbus;
    return modbus === undefined ? [] : inside(modbus, [name, 'modbus']);
  });
  return packages.length > 0 ? packages : inside(top, []);
}

function isInside(path: Path, outer: Path): boolean {
  return outer.every((part, i) => path[i] === part);
}
