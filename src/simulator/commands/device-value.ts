import { failure, type Result, success } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';
import type { Device } from '../../device/device.js';
import type { Point } from '../../device/point.js';
import type { RegisterImage } from '../../device/registers/image.js';
import { notDefined } from '../../device/registers/undefined.js';
import { nearestValue, parseValue, type Value, type ValueLocation } from '../../device/registers/value.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import type { Code } from './refusal.js';

/** One value of a device, whether or not it has a name. */
export interface DeviceValue {
  readonly table: TableName;
  /** The first address of the value in the table. */
  readonly address: number;
  readonly image: RegisterImage;
  /** The location of the value in the image. */
  readonly location: ValueLocation;
  readonly point: Point | undefined;
}

/** Finds a value by its name. */
export function valueNamed({ points }: Device, name: string): DeviceValue | undefined {
  const point = points.named.get(name);
  return point && { ...point.definition, image: point.image, location: point.location, point };
}

/** The value that has an address of a table; undefined when nothing is defined there. */
export function valueAtAddress(
  { tables, points }: Device,
  table: TableName,
  address: number,
): DeviceValue | undefined {
  const { image, base, size } = tables[table].window;
  const location = address < size ? image.valueSpan(base + address) : undefined;
  if (!location || location.address < base) return undefined;
  const first = location.address - base;
  return { table, address: first, image, location, point: points.at(image, location.address) };
}

/** The values of a table with an address from `from` to `to`. */
export function* valuesBetween(
  device: Device,
  table: TableName,
  { from, to }: { readonly from: number; readonly to: number },
): Generator<DeviceValue> {
  const { size } = device.tables[table].window;
  for (let address = from; address <= Math.min(to, size - 1); ) {
    const value = valueAtAddress(device, table, address);
    if (value) yield value;
    address = value ? value.address + value.location.cells : address + 1;
  }
}

/** The given table, or all tables if none is given. */
export function tablesMeant(table: TableName | undefined): readonly TableName[] {
  return table === undefined ? TABLE_NAMES : [table];
}

/** Why a device accepts no more writes for now. */
export const TOO_MUCH_TO_COME = 'has to wait: too many changes are to come in this device';

/** Why a value can't be changed: its signal computes it. Undefined when the value can be changed. */
export function whyUnchangeable({ image, location, point }: DeviceValue): string | undefined {
  if (point && image.live?.isFull(location.address)) return TOO_MUCH_TO_COME;
  const signal = point?.signal;
  if (!signal || signal.accumulator) return undefined;
  return 'is moved by its signal; DELETE of the signal makes it stay';
}

/** Writes a value that `parseChange` accepted, for REST. The value reacts. */
export function writeValue({ image, location }: Pick<DeviceValue, 'image' | 'location'>, value: Value): void {
  image.write(location, value);
  image.noteWrite(location.address, location.cells, { by: 'REST' });
}

/**
 * Finds the values that have the registers from an address on, if all of these may be written over REST.
 * @returns otherwise what is wrong, and with which key of the change
 */
export function valuesOfWords(
  device: Device,
  table: TableName,
  address: number,
  words: readonly number[],
):
  | { readonly targets: readonly DeviceValue[] }
  | { readonly key: 'address' | 'words'; readonly wrong: string; readonly code: Code } {
  const targets: DeviceValue[] = [];
  const end = address + words.length;
  for (let next = address; next < end; ) {
    const found = valueAtAddress(device, table, next);
    if (!found) return { key: 'address', wrong: notDefined(`${table} ${next}`), code: 'register.undefined' };
    const why = whyUnchangeable(found);
    if (why !== undefined)
      return { key: 'address', wrong: `${table} ${next} ${why}`, code: 'value.moved_by_signal' };
    if (found.location.type === 'bit' && (words[next - address] as number) > 1)
      return { key: 'words', wrong: `expected 0 or 1 for ${table} ${next}`, code: 'value.invalid' };
    targets.push(found);
    next = found.address + found.location.cells;
  }
  return { targets };
}

/**
 * Writes registers for REST as clients do: only a part of a value may be written. Must be called after
 * `valuesOfWords`.
 */
export function writeWords(
  { tables }: Device,
  table: TableName,
  address: number,
  words: readonly number[],
): void {
  const { image, base } = tables[table].window;
  image.setWords(base + address, words);
  image.noteWrite(base + address, words.length, { by: 'REST' });
  image.live?.written(base + address, words.length);
}

/**
 * Converts a value in its unit, a label or a raw value to the stored value.
 * @param raw true when the input is the stored number, without the scale
 * @returns the stored value, or what was expected instead
 */
export function parseChange({ location, point }: DeviceValue, input: unknown, raw: boolean): Result<Value> {
  const { scale = 1, labels } = point?.definition ?? {};
  const label = Array.from(labels ?? []).find(([, text]) => text === input);
  const orLabel = labels ? orOneOf([...labels.values()]) : '';
  const parsed = parseValue(location.type, label ? label[0] : input, location.cells);
  if (raw || label || scale === 1 || location.type === 'string') {
    return parsed.ok ? parsed : failure(`${parsed.error}${orLabel}`);
  }
  if (typeof input !== 'number') return failure(`a number${orLabel}`);
  const { value, fits } = nearestValue(location.type, input / scale);
  return fits
    ? success(value)
    : failure(`a number that ${location.type} can hold with a scale of ${scale}${orLabel}`);
}

const MOST_LABELS = 20;

/** The labels that may stand for a value, as the end of an "expected" message. */
function orOneOf(labels: readonly string[]): string {
  const listed = labels.slice(0, MOST_LABELS).map((label) => `, or ${quote(label)}`);
  return `${listed.join('')}${labels.length > MOST_LABELS ? ', …' : ''}`;
}
