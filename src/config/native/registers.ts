import type { TableName } from '../../device/tables.js';
import type { Action } from '../../registers/action.js';
import { CELLS_PER_VALUE, type ValueType } from '../../registers/cell-type.js';
import { LayoutBuilder, type RegisterLayout } from '../../registers/layout.js';
import { parseValue } from '../../registers/parse-value.js';
import { TIMESTAMP_FIELDS } from '../../registers/run-action.js';
import type { Value } from '../../registers/value.js';
import { check } from '../../schema/parts.js';
import { expectedMessage, type Issue, type Path } from '../../schema/problem.js';
import { compact } from '../compact.js';
import { definePlaced, type PlacedValues, withoutOverlaps } from '../place-values.js';
import { ADDRESSES, bitEntrySchema, type RegisterEntry, registerEntrySchema } from './schema.js';

/**
 * The registers of one table, only as long as its highest address needs.
 * Undefined when the list has mistakes; they are then in `issues`.
 */
export function nativeTable(
  table: TableName,
  list: unknown,
  path: Path,
  issues: Issue[],
): RegisterLayout | undefined {
  if (!Array.isArray(list)) {
    issues.push({ path, message: expectedMessage('a list of entries', list) });
    return undefined;
  }
  const found = issues.length;
  const isBits = table === 'coils' || table === 'discrete';
  const entries = withoutOverlaps(
    list.flatMap((entry, i) => placeEntry(entry, isBits, [...path, i], issues) ?? []),
    issues,
  );
  if (issues.length > found) return undefined;
  const builder = new LayoutBuilder(entries.reduce((size, { last }) => Math.max(size, last + 1), 0));
  for (const entry of entries) definePlaced(builder, entry);
  return builder.build();
}

/** What an entry defines; undefined when not even its addresses are certain. */
function placeEntry(input: unknown, isBits: boolean, path: Path, issues: Issue[]): PlacedValues | undefined {
  const entry: RegisterEntry | undefined = check(
    isBits ? bitEntrySchema : registerEntrySchema,
    input,
    path,
    issues,
  );
  if (!entry) return undefined;
  const type: ValueType = isBits ? 'bit' : (entry.type ?? 'uint16');
  if (Array.isArray(entry.value) && entry.value.length === 0) {
    issues.push({ path: [...path, 'value'], message: 'expected at least one value, got an empty list' });
    return undefined;
  }
  const inputs: unknown[] = Array.isArray(entry.value) ? entry.value : [entry.value];
  const isRepeated = !Array.isArray(entry.value) || inputs.length === 1;
  const quantity = entry.quantity ?? usualQuantity(entry, inputs);
  if (!isRepeated && quantity !== inputs.length) {
    issues.push({
      path: [...path, 'quantity'],
      message: `expected ${inputs.length}, the number of values, got ${quantity}`,
    });
    return undefined;
  }
  if (entry.action === 'timestamp' && quantity % TIMESTAMP_FIELDS !== 0) {
    issues.push({
      path: [...path, 'quantity'],
      message: `expected a multiple of ${TIMESTAMP_FIELDS}, the registers of a timestamp, got ${quantity}`,
    });
  }
  if (type !== 'string' && entry.length !== undefined) {
    issues.push({
      path: [...path, 'length'],
      message: 'only a string has a length; quantity is a number of values',
    });
  }
  const cells = type === 'string' ? (entry.length ?? longestString(inputs)) : CELLS_PER_VALUE[type];
  const last = entry.address + quantity * cells - 1;
  if (last >= ADDRESSES) {
    issues.push({ path, message: `ends at address ${last}, expected at most ${ADDRESSES - 1}` });
    return undefined;
  }
  const values = isRepeated
    ? [
        readValue(
          type,
          inputs[0],
          cells,
          [...path, 'value', ...(Array.isArray(entry.value) ? [0] : [])],
          issues,
        ),
      ]
    : inputs.map((each, i) => readValue(type, each, cells, [...path, 'value', i], issues));
  const action = actionOf(type, entry, path, issues);
  const order = { wordOrder: entry.wordOrder ?? 'big', byteOrder: entry.byteOrder ?? 'big' } as const;
  return {
    path,
    first: entry.address,
    last,
    type,
    cells,
    values,
    order,
    writable: entry.write ?? false,
    action,
  };
}

/** A timestamp fills seven registers; what is one value to the person who writes it is defined as a whole. */
function usualQuantity({ action }: RegisterEntry, values: readonly unknown[]): number {
  return action === 'timestamp' && values.length === 1 ? TIMESTAMP_FIELDS : values.length;
}

/** Registers of a string without a length: as many as the longest one needs. */
function longestString(inputs: readonly unknown[]): number {
  return inputs.reduce<number>(
    (cells, each) => Math.max(cells, typeof each === 'string' ? Math.ceil(Buffer.byteLength(each) / 2) : 1),
    1,
  );
}

/** A value, or after an issue a harmless one, so that the entry still takes its addresses. */
function readValue(type: ValueType, input: unknown, cells: number, path: Path, issues: Issue[]): Value {
  const none = type === 'string' ? '' : 0;
  if (input === undefined) return none;
  const parsed = parseValue(type, input, cells);
  if (parsed.ok) return parsed.value;
  issues.push({ path, message: expectedMessage(parsed.expected, input) });
  return none;
}

function actionOf(type: ValueType, entry: RegisterEntry, path: Path, issues: Issue[]): Action | undefined {
  const { action: name, min, max } = entry;
  const counts = name === 'increment' || name === 'random';
  for (const [key, bound] of [['min', min] as const, ['max', max] as const]) {
    if (bound === undefined) continue;
    const parsed = parseValue(type === 'string' ? 'float64' : type, bound, 1);
    if (!counts)
      issues.push({ path: [...path, key], message: 'only the actions increment and random have bounds' });
    else if (!parsed.ok)
      issues.push({ path: [...path, key], message: expectedMessage(parsed.expected, bound) });
  }
  if (name === undefined) return undefined;
  const unfit = whyUnfit(name, type);
  if (unfit !== undefined) issues.push({ path: [...path, 'action'], message: unfit });
  if (min !== undefined && max !== undefined && min > max) {
    issues.push({ path: [...path, 'min'], message: `expected at most max, which is ${max}, got ${min}` });
  }
  if (!counts) return { name };
  // Without a bound random numbers begin with 1, which would leave a random coil always on.
  const minval = min ?? (type === 'bit' ? 0 : undefined);
  return compact({ name, minval, maxval: max });
}

const SIXTEEN_BITS: readonly ValueType[] = ['bits', 'uint16', 'int16'];

function whyUnfit(name: Action['name'], type: ValueType): string | undefined {
  if (name === 'timestamp' && !SIXTEEN_BITS.includes(type)) {
    return `timestamp fills seven registers, expected type ${SIXTEEN_BITS.join(', ')}, got ${type}`;
  }
  if (name === 'uptime' && type === 'bit') return 'uptime counts seconds, which one bit can not hold';
  if (name !== 'reset' && type === 'string')
    return `${name} needs a number, a string can only have the action reset`;
  return undefined;
}
