import { failure, type Result } from '../../common/result.js';
import { describeFound, quote } from '../../common/schema/problem.js';
import type { Order } from '../../device/registers/cell-type.js';
import { isOfBits } from '../../device/tables.js';
import {
  Collector,
  type Imported,
  listOf,
  numberOf,
  readYaml,
  type Section,
  sectionOf,
  sectionsOf,
  tableReadBy,
  wordOf,
} from './collected.js';
import { NUMBER_TYPES } from './data-types.js';

/**
 * The configuration of modbus_exporter (https://github.com/RichiH/modbus_exporter): modules with metrics. The
 * first digit of an address is the function code for reading it, and the rest is the address on the wire.
 */

/** The word and byte that come first, for each name of an order. */
const ORDERS: ReadonlyMap<string, { readonly wordOrder?: Order; readonly byteOrder?: Order }> = new Map([
  ['big', {}],
  ['little', { wordOrder: 'little', byteOrder: 'little' }],
  ['mixed', { byteOrder: 'little' }],
  ['yolo', { wordOrder: 'little' }],
]);

export function importModbusExporter(text: string): Result<Imported> {
  const read = readYaml(text);
  if (!read.ok) return read;
  const file = read.value;
  const modules = sectionOf(file.value)?.modules;
  if (!Array.isArray(modules)) return failure('expected a modbus_exporter configuration with modules:');
  const collector = new Collector();
  for (const [i, module] of sectionsOf(modules).entries()) {
    const name = wordOf(module.name) ?? `module${i + 1}`;
    for (const [j, item] of listOf(module.metrics).entries()) {
      const location = file.locationOf(['modules', i, 'metrics', j]);
      const metric = sectionOf(item) ?? {};
      const problem = addMetric(metric, name, i, collector, location);
      collector.noteOf(location, wordOf(metric.name) ?? '', problem);
    }
  }
  const preview = [
    'Prometheus sends the unit identifier with each scrape, so each module is unit 1 on a line of its own.',
  ];
  return collector.end('modbus_exporter', preview);
}

/** Adds a metric. @returns a message saying why it is left out */
function addMetric(
  metric: Section,
  module: string,
  number: number,
  collector: Collector,
  location: string,
): string | undefined {
  const text = wordOf(metric.address) ?? '';
  const [, digit = '', rest = ''] = /^(\d)(\d+)$/.exec(text) ?? [];
  const table = tableReadBy(Number(digit));
  if (table === undefined)
    return `address ${describeFound(metric.address)}: expected a function from 1 to 4 followed by an address, such as 300022`;
  const isBit = isOfBits(table);
  const written = wordOf(metric.dataType) ?? '';
  const order = ORDERS.get(wordOf(metric.endianness) ?? 'big');
  const isPart = !isBit && written === 'bool';
  const type = isBit ? 'bit' : isPart ? 'uint16' : NUMBER_TYPES.get(written);
  if (type === undefined) return `unknown dataType ${quote(written)}`;
  if (order === undefined) return `unknown endianness ${describeFound(metric.endianness)}`;
  collector.add(`module ${number + 1}`, 1, module, {
    table,
    address: Number(rest),
    type,
    location,
    ...(!isBit && order),
    part: isPart ? `bit ${numberOf(metric.bitOffset) ?? 0}` : undefined,
    name: nameOf(metric),
    description: wordOf(metric.help),
    scale: numberOf(metric.factor) || undefined,
  });
  return undefined;
}

/** The name of a metric with the values of its labels: metrics of the same name differ only in these. */
function nameOf({ name, labels }: Section): string {
  const values = Object.values(sectionOf(labels) ?? {}).flatMap((each) => wordOf(each) ?? []);
  return [wordOf(name) ?? '', ...values].join('_');
}
