import { parse } from 'smol-toml';
import { failure, type Result } from '../../common/result.js';
import { DEEPEST } from '../../common/schema/parts.js';
import { describeFound, quote } from '../../common/schema/problem.js';
import { isOfBits, type TableName } from '../../device/tables.js';
import {
  Collector,
  type Imported,
  numberOf,
  type Section,
  sectionOf,
  sectionsOf,
  wordOf,
} from './collected.js';
import { byWord, NUMBER_TYPES, orderOf } from './data-types.js';

/**
 * The configuration of Telegraf's inputs.modbus plugin in its three styles, as described in the plugin's
 * documentation and its configuration_register.go, configuration_request.go and configuration_metric.go.
 */

export function importTelegraf(text: string): Result<Imported> {
  let root: Section;
  try {
    root = parse(text, { maxDepth: DEEPEST, integersAsBigInt: 'asNeeded' });
  } catch (error) {
    return failure(`not TOML: ${(error instanceof Error ? error.message : String(error)).split('\n')[0]}`);
  }
  const plugins = sectionsOf(sectionOf(root.inputs)?.modbus);
  if (plugins.length === 0) return failure('expected a Telegraf configuration with [[inputs.modbus]]');
  const collector = new Collector();
  for (const [i, plugin] of plugins.entries()) readPlugin(plugin, `inputs.modbus[${i}]`, collector);
  return collector.end('Telegraf inputs.modbus', []);
}

/** The settings that the fields in a list share. */
interface Scope {
  readonly collector: Collector;
  readonly line: string;
  readonly device: string;
  readonly unit: number;
  readonly location: string;
}

function readPlugin(plugin: Section, location: string, collector: Collector): void {
  const line = wordOf(plugin.controller) ?? '';
  const device = wordOf(plugin.name) ?? '';
  const style = wordOf(plugin.configuration_type) ?? 'register';
  const scope = (unit: unknown, at: string): Scope | undefined => {
    const number = unit === undefined ? 0 : numberOf(unit);
    if (number !== undefined) return { collector, line, device, unit: number, location: at };
    collector.note(`${at}.slave_id`, `${describeFound(unit)}: expected a number`);
    return undefined;
  };
  switch (style) {
    case 'register': {
      const common = scope(plugin.slave_id, location);
      if (common) readRegisterStyle(plugin, common);
      break;
    }
    case 'request':
    case 'metric':
      for (const [i, group] of sectionsOf(plugin[style]).entries()) {
        const at = `${location}.${style}[${i}]`;
        const common = scope(group.slave_id, at);
        if (common) readGroup(group, style, common);
      }
      break;
    default:
      collector.note(
        `${location}.configuration_type`,
        `${quote(style)}: expected register, request or metric`,
      );
  }
  for (const other of ['request', 'metric', ...REGISTER_LISTS.keys()]) {
    const isUsed = style === 'register' ? REGISTER_LISTS.has(other) : other === style;
    if (plugin[other] !== undefined && !isUsed) {
      collector.note(`${location}.${other}`, `Telegraf does not use it with configuration_type "${style}"`);
    }
  }
}

const REGISTER_LISTS = byWord<TableName>({
  coils: 'coils',
  discrete: 'discrete_inputs',
  holding: 'holding_registers',
  input: 'input_registers',
});

/** Reads the style with one list of fields per table. An address is a list of consecutive registers. */
function readRegisterStyle(plugin: Section, scope: Scope): void {
  if (
    [...REGISTER_LISTS.keys()].some((key) =>
      sectionsOf(plugin[key]).some((field) => field.data_type === 'FLOAT32'),
    )
  ) {
    const message =
      'data_type FLOAT32 is an unsigned integer in Telegraf and here; FLOAT32-IEEE is the float';
    scope.collector.note(scope.location, message);
  }
  for (const [key, table] of REGISTER_LISTS) {
    for (const [i, field] of sectionsOf(plugin[key]).entries()) {
      const location = `${scope.location}.${key}[${i}]`;
      const addresses = (Array.isArray(field.address) ? field.address : [field.address]).map(numberOf);
      const [first] = addresses;
      if (first === undefined || addresses.some((each, n) => each !== first + n)) {
        scope.collector.note(location, `${called(field)}: expected consecutive addresses`);
        continue;
      }
      add(scope, { ...field, address: first }, table, {
        location,
        type: registerType(wordOf(field.data_type) ?? '', addresses.length),
        typeText: wordOf(field.data_type) ?? '',
        order: orderIn(wordOf(field.byte_order) ?? ''),
        length: addresses.length,
      });
    }
  }
}

/** Completes type names that only this style has: the number of addresses gives the size. */
function registerType(type: string, words: number): string {
  const bits = 16 * words;
  if (type === 'FIXED') return `INT${bits}`;
  if (type === 'UFIXED' || type === 'FLOAT32') return `UINT${bits}`;
  return type.replace(/-IEEE$/, '');
}

/** Reads the fields of a request or a metric, which have one unit and one byte order. */
function readGroup(group: Section, style: 'request' | 'metric', scope: Scope): void {
  const order = orderIn(wordOf(group.byte_order) || 'ABCD');
  const optimization = wordOf(group.optimization) ?? 'none';
  if (optimization === 'aggressive' || optimization === 'max_insert') {
    const message = `${quote(optimization)} also reads addresses between fields; manners: {holes: {fill: 0}} answers them`;
    scope.collector.note(`${scope.location}.optimization`, message);
  }
  for (const [i, field] of sectionsOf(group.fields).entries()) {
    const location = `${scope.location}.fields[${i}]`;
    const register = wordOf((style === 'request' ? group : field).register) ?? 'holding';
    const table = GROUP_TABLES.get(register);
    if (table === undefined) {
      scope.collector.note(
        location,
        `register ${quote(register)}: expected coil, discrete, holding or input`,
      );
      continue;
    }
    const type = wordOf(field.type) ?? '';
    const length = numberOf(field.length);
    add(scope, field, table, { location, type, typeText: type, order, ...(length && { length }) });
  }
}

const GROUP_TABLES = byWord<TableName>({
  coils: 'coil',
  discrete: 'discrete',
  holding: 'holding',
  input: 'input',
});

const TYPES = new Map([...NUMBER_TYPES].map(([word, type]) => [word.toUpperCase(), type]));

/** Types that are part of a register. */
const PARTS: ReadonlyMap<string, string> = new Map([
  ['INT8L', 'low byte, signed'],
  ['INT8H', 'high byte, signed'],
  ['UINT8L', 'low byte'],
  ['UINT8H', 'high byte'],
  ['FLOAT16', 'a 16-bit float'],
]);

interface TelegrafField {
  readonly location: string;
  /** The type under its name in the other two styles; `typeText` is the text in the file. */
  readonly type: string;
  readonly typeText: string;
  readonly order: ReturnType<typeof orderOf>;
  readonly length?: number;
}

function add(scope: Scope, field: Section, table: TableName, read: TelegrafField): void {
  const { collector, line, unit, device } = scope;
  const { location, type: word, order } = read;
  const address = numberOf(field.address);
  if (address === undefined) {
    collector.note(location, `${called(field)}: address ${describeFound(field.address)}, expected a number`);
    return;
  }
  const base = { table, address, location, name: wordOf(field.name) };
  if (isOfBits(table)) {
    collector.add(line, unit, device, { ...base, type: 'bit' });
    return;
  }
  const part = word === 'BIT' ? `bit ${numberOf(field.bit) ?? 0}` : PARTS.get(word);
  const whole = word === 'STRING' ? 'string' : TYPES.get(word);
  const type = part === undefined ? whole : 'uint16';
  if (type === undefined) {
    collector.note(location, `${called(field)}: unknown type ${quote(read.typeText)}`);
    return;
  }
  if (order === undefined) {
    collector.note(location, `${called(field)}: unknown byte order, so the high byte comes first`);
  }
  collector.add(line, unit, device, {
    ...base,
    type,
    ...order,
    length: type === 'string' ? Math.max(1, read.length ?? 1) : undefined,
    part,
    // In Telegraf, 0 means no scale.
    scale: numberOf(field.scale) || undefined,
  });
}

/** In Telegraf, `LSW` alone also means the low byte first. */
function orderIn(text: string) {
  return orderOf(text === 'LSW' ? 'LSW-LE' : text);
}

function called(field: Section): string {
  return wordOf(field.name) === undefined ? 'a field without a name' : quote(wordOf(field.name) ?? '');
}
