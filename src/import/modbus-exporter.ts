import { parseText } from '../config/text/parse-text.js';
import type { TableName } from '../device/tables.js';
import type { Order, ValueType } from '../registers/cell-type.js';
import { describeFound, type Path, pathText, quote } from '../schema/problem.js';
import { Collector, type Imported } from './collected.js';
import { numberOf, type Section, sectionOf, sectionsOf, wordOf } from './parts.js';

/*
 * The configuration of modbus_exporter (https://github.com/RichiH/modbus_exporter): modules with metrics. The first digit of an
 * address is the function that reads it, and the rest is the address on the wire.
 */

const MOST_VALUES = 300_000;

const TABLES: ReadonlyMap<string, TableName> = new Map([
  ['1', 'coils'],
  ['2', 'discrete'],
  ['3', 'holding'],
  ['4', 'input'],
]);

const TYPES: ReadonlySet<string> = new Set<ValueType>([
  'int16',
  'uint16',
  'int32',
  'uint32',
  'float32',
  'int64',
  'uint64',
  'float64',
]);

/** Which word, and which byte of a word, comes first. */
const ORDERS: ReadonlyMap<string, { readonly wordOrder?: Order; readonly byteOrder?: Order }> = new Map([
  ['big', {}],
  ['little', { wordOrder: 'little', byteOrder: 'little' }],
  ['mixed', { byteOrder: 'little' }],
  ['yolo', { wordOrder: 'little' }],
]);

/** Reads a configuration of modbus_exporter. @returns what is wrong with the text, as a sentence */
export function importModbusExporter(text: string): Imported | string {
  const parsed = parseText(text, MOST_VALUES, true);
  if (!parsed.ok) return `is no YAML: ${parsed.problems[0]?.message ?? ''}`;
  const { value, locate } = parsed.source;
  const modules = sectionOf(value)?.modules;
  if (!Array.isArray(modules)) return 'expected modules: of modbus_exporter';
  const collector = new Collector();
  const locationOf = (path: Path) => {
    const line = locate([{ path, message: '' }])[0]?.line;
    return line === undefined ? pathText(path) : `line ${line}`;
  };
  for (const [i, module] of sectionsOf(modules).entries()) {
    const name = wordOf(module.name) ?? `module${i + 1}`;
    const metrics: readonly unknown[] = Array.isArray(module.metrics) ? module.metrics : [];
    for (const [j, item] of metrics.entries()) {
      const location = locationOf(['modules', i, 'metrics', j]);
      const metric = sectionOf(item) ?? {};
      const problem = addMetric(metric, name, i, collector, location);
      if (problem !== undefined) collector.note(location, `${quote(wordOf(metric.name) ?? '')}: ${problem}`);
    }
  }
  const preview = [
    'Prometheus names the unit identifier when it asks, so each module is unit 1 of a line of its own.',
  ];
  return collector.end('modbus_exporter', preview);
}

/** Adds a metric. @returns why it is left out, as a sentence */
function addMetric(
  metric: Section,
  module: string,
  number: number,
  collector: Collector,
  location: string,
): string | undefined {
  const text = wordOf(metric.address) ?? '';
  const [, digit = '', rest = ''] = /^(\d)(\d+)$/.exec(text) ?? [];
  const table = TABLES.get(digit);
  if (table === undefined)
    return `address ${describeFound(metric.address)}, expected the function 1 to 4 and an address, such as 300022`;
  const isBit = table === 'coils' || table === 'discrete';
  const written = wordOf(metric.dataType) ?? '';
  const order = ORDERS.get(wordOf(metric.endianness) ?? 'big');
  if (!isBit && written !== 'bool' && !TYPES.has(written)) return `dataType ${quote(written)} is not known`;
  if (order === undefined) return `endianness ${describeFound(metric.endianness)} is not known`;
  const name = nameOf(metric);
  const factor = numberOf(metric.factor);
  const help = wordOf(metric.help);
  const part = !isBit && written === 'bool' ? { part: `bit ${numberOf(metric.bitOffset) ?? 0}` } : {};
  collector.add(`module ${number + 1}`, 1, module, {
    table,
    address: Number(rest),
    type: isBit ? 'bit' : written === 'bool' ? 'uint16' : (written as ValueType),
    location,
    ...part,
    ...(!isBit && order),
    ...(name !== '' && { name }),
    ...(help !== undefined && { description: help }),
    ...(factor !== undefined && factor !== 0 && !isBit && { scale: factor }),
  });
  return undefined;
}

/** With the values of its labels: metrics of one name differ in those alone. */
function nameOf({ name, labels }: Section): string {
  const values = Object.values(sectionOf(labels) ?? {}).flatMap((each) => wordOf(each) ?? []);
  return [wordOf(name) ?? '', ...values].join('_');
}
