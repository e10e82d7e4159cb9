import { failure, type Result, success } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';
import type { ValueType } from '../../device/registers/cell-type.js';
import { isOfBits } from '../../device/tables.js';
import type { ImportedValue } from '../../document/register-map.js';
import {
  Collector,
  type Imported,
  listOf,
  middleOf,
  numberOf,
  readYaml,
  type Section,
  sectionOf,
  sectionsOf,
  tableReadBy,
  wordOf,
} from './collected.js';

/**
 * Inverter definitions for ha-solarman and home_assistant_solarman: `requests` and `parameters`, as described
 * in the latter's customization.md. The first register in a list is the low word (its parser.py).
 */

const UNIT = 1;
/** The types of values by rule. For other rules, the plain registers are served. */
const RULES: ReadonlyMap<number, 'uint' | 'int' | 'string'> = new Map([
  [1, 'uint'],
  [2, 'int'],
  [3, 'uint'],
  [4, 'int'],
  [5, 'string'],
  [6, 'uint'],
]);
/** Home Assistant platforms that write. */
const WRITING = /^(?:number|select|switch|button|text|time|datetime)$/;

interface Reader {
  readonly collector: Collector;
  readonly device: string;
  /** The function code for reading a register, if its entry does not give one. */
  codeOf(register: number): number;
}

/** Reads an inverter definition. */
export function importSolarman(text: string, device: string): Result<Imported> {
  const read = readYaml(text);
  if (!read.ok) return read;
  const file = read.value;
  const root = sectionOf(file.value);
  if (root?.parameters === undefined)
    return failure('expected a Solarman inverter definition with parameters:');
  const requests = sectionsOf(root.requests);
  const usual = readingCode(sectionOf(root.default)?.code) ?? 3;
  const codeOf = (register: number) => {
    const request = requests.find(
      ({ start, end }) => register >= (numberOf(start) ?? Infinity) && register <= (numberOf(end) ?? -1),
    );
    return readingCode(request?.mb_functioncode ?? request?.code) ?? usual;
  };
  const reader: Reader = { collector: new Collector(), device, codeOf };
  for (const [i, group] of listOf(root.parameters).entries()) {
    for (const [n, item] of listOf(sectionOf(group)?.items).entries()) {
      const entry = sectionOf(item);
      if (entry) readItem(reader, entry, file.locationOf(['parameters', i, 'items', n]));
    }
  }
  return reader.collector.end('a Solarman inverter definition');
}

/** The function code for reading: a plain code, or the one in `{read: 3, write: 16}`. */
function readingCode(code: unknown): number | undefined {
  return numberOf(sectionOf(code)?.read ?? code);
}

function readItem(reader: Reader, item: Section, location: string): void {
  const { collector } = reader;
  const name = wordOf(item.name) ?? '';
  const sensors = sectionsOf(item.sensors).filter(({ registers }) => registers !== undefined);
  if (sensors.length > 0)
    collector.note(location, `${quote(name)}: computed from several sensors, which are served separately`);
  const sources = sensors.length > 0 ? sensors : item.registers === undefined ? [] : [item];
  for (const source of sources) {
    const problem = addValue(reader, { ...item, ...source }, name, location);
    collector.noteOf(location, name, problem);
  }
}

/** Adds a value. @returns what was converted to a different form */
function addValue(
  { collector, device, codeOf }: Reader,
  item: Section,
  name: string,
  location: string,
): string | undefined {
  const registers = listOf(item.registers).map(numberOf);
  const [first] = registers;
  const rule = numberOf(item.rule) ?? 1;
  if (first === undefined || registers.some((each) => each === undefined || !Number.isInteger(each)))
    return 'its registers are not a list of numbers';
  const addresses = registers as number[];
  const code = readingCode(item.code) ?? codeOf(first);
  const table = tableReadBy(code);
  if (table === undefined) return `function ${code} reads no registers`;
  const isBit = isOfBits(table);
  const write = WRITING.test(wordOf(item.platform) ?? '') || item.configurable !== undefined;
  const common = { table, location, write: write && table !== 'input' && table !== 'discrete' };
  const what = isBit ? success({ type: 'bit' as const }) : registersOf(rule, addresses);
  if (!what.ok) {
    for (const [i, address] of addresses.entries())
      collector.add('', UNIT, device, {
        ...common,
        address,
        type: 'uint16',
        name: i === 0 ? name : undefined,
      });
    return `${what.error}, so its registers are served as plain registers`;
  }
  const scale = numberOf(item.scale);
  const { min, max } = sectionOf(item.validation) ?? {};
  collector.add('', UNIT, device, {
    ...common,
    ...what.value,
    address: Math.min(...addresses),
    part: partOf(item),
    name,
    unit: wordOf(item.uom),
    scale,
    value: middleOf(what.value.type, numberOf(min), numberOf(max), scale),
    description: labelsOf(item.lookup),
  });
  const offset = numberOf(item.offset);
  return offset
    ? `its offset ${offset} is ignored: the value is (stored - ${offset}) × ${scale ?? 1}`
    : undefined;
}

type Registers = Pick<ImportedValue, 'type' | 'length' | 'wordOrder'>;

/** The type of a value by its rule number. @returns why it is unknown */
function registersOf(rule: number, addresses: readonly number[]): Result<Registers> {
  const kind = RULES.get(rule);
  if (kind === undefined) return failure(`rule ${rule} is not supported`);
  const { length } = addresses;
  const rises = addresses.every((each, i) => i === 0 || each === (addresses[i - 1] as number) + 1);
  const falls = addresses.every((each, i) => i === 0 || each === (addresses[i - 1] as number) - 1);
  if (!rises && !falls) return failure('its registers are not consecutive');
  if (kind === 'string')
    return rises ? success({ type: 'string', length }) : failure('its text is stored backwards');
  if (length !== 1 && length !== 2 && length !== 4)
    return failure(`a number in ${length} registers is not supported`);
  const type = `${kind}${16 * length}` as ValueType;
  return success({ type, ...(rises && length > 1 && { wordOrder: 'little' as const }) });
}

function partOf({ mask, bit }: Section): string | undefined {
  if (numberOf(bit) !== undefined) return `bit ${numberOf(bit)}`;
  const bits = numberOf(mask);
  return bits === undefined ? undefined : `mask 0x${bits.toString(16)}`;
}

/** Formats labels as one line: `0: Standby, 1: Self-check`. */
function labelsOf(lookup: unknown): string {
  const labels = sectionsOf(lookup).flatMap(({ key, value }) => {
    const [number, label] = [wordOf(key), wordOf(value)];
    return number === undefined || label === undefined ? [] : [`${number}: ${label}`];
  });
  return labels.join(', ');
}
