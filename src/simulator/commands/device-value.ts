import { failure, type Result, success } from '../../common/result.js';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { quote } from '../../common/schema/problem.js';
import type { Device } from '../../device/device.js';
import type { Point } from '../../device/point.js';
import type { Write } from '../../device/registers/accesses.js';
import type { RegisterImage } from '../../device/registers/image.js';
import {
  type BitNames,
  expectedNumber,
  nearestValue,
  ofBits,
  parseValue,
  setBits,
  type Value,
  type ValueLocation,
  withBits,
} from '../../device/registers/value.js';
import type { TableName } from '../../device/tables.js';
import type { Simulator } from '../simulator.js';
import { type Refusal, refusal } from './refusal.js';
import type { RegisterView, ValueView } from './schemas/value.js';

export interface DeviceValue {
  readonly table: TableName;
  /** The first address of the value in the table. */
  readonly address: number;
  readonly image: RegisterImage;
  readonly location: ValueLocation;
  readonly point: Point | undefined;
}

export function unknownDevice({ devices }: Simulator, name: string, path = 'device'): Refusal {
  return refusal('device.unknown', path, unknownName('device', name, [...devices.keys()]));
}

export function valueNamed({ points }: Device, name: string): DeviceValue | undefined {
  const point = points.named.get(name);
  return point && { ...point.definition, image: point.image, location: point.location, point };
}

/** The value at an address of a table; undefined if nothing is defined there. */
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

/** Shows the current value. A signal is computed first. */
export function viewValue(value: DeviceValue): ValueView {
  const { image, location, point } = value;
  image.refresh(location.address, location.cells);
  const raw = image.valueAt(location);
  const { name, unit, scale = 1 } = point?.definition ?? {};
  const available = point?.isAvailable ?? true;
  return {
    name: name ?? null,
    ...storedView(raw, scale),
    ...(!available && { value: null }),
    unit: unit ?? null,
    type: location.type,
    available,
  };
}

/** Shows a stored value, both in its unit and as stored. */
export function storedView(raw: Value, scale: number): Pick<ValueView, 'value' | 'raw'> {
  const isAsStored = typeof raw === 'string' || scale === 1;
  return { value: inJson(isAsStored ? raw : tidy(Number(raw) * scale)), raw: inJson(raw) };
}

export function viewRegister(value: DeviceValue): RegisterView {
  const { table, address, image, location, point } = value;
  const view = viewValue(value);
  const { description, labels, bits } = point?.definition ?? {};
  const signal = point?.placedSignal?.definition;
  return {
    table,
    address,
    registers: location.cells,
    ...view,
    writable: image.isWritable(location.address),
    description: description ?? null,
    label: view.available
      ? (labels?.get(Number(view.raw)) ?? (bits ? setBits(bits, image.valueAt(location)) : null))
      : null,
    bits: bits ? Object.fromEntries(bits) : null,
    violates: violated(value) ?? null,
    signal: signal ? { [signal.kind]: signal.written } : null,
    trouble: point?.signal?.trouble?.() ?? null,
    saturated: point?.saturated ?? 0,
    action: image.actionAt(location.address)?.name ?? null,
    reads: image.reads.get(location.address),
    writes: image.writes.get(location.address),
    lastWriter: viewLastWriter(value),
  };
}

/**
 * The reaction that would reject this value if a client wrote it. A password is left out, because it is about
 * the writer and not the value.
 */
function violated({ image, location, point }: DeviceValue): string | undefined {
  const { reactions = [], scale } = point?.definition ?? {};
  const value = () => Number(image.valueAt(location)) * (scale ?? 1);
  return reactions.find(
    ({ kind }, i) => kind !== 'password' && point?.reactions[i]?.refusal?.(value()) !== undefined,
  )?.kind;
}

function viewLastWriter({ image, location, point }: DeviceValue): RegisterView['lastWriter'] {
  const write = latestWrite(image, location);
  // A counter continues from the written value. Any other signal has already overwritten it.
  if (point?.signal && !(write && point.signal.accumulator)) {
    return { by: 'signal', line: null, client: null, time: null };
  }
  if (!write) return null;
  const { by, line = null, client = null } = write.writer;
  return { by, line, client, time: write.at.toISOString() };
}

/** The latest write to a value. Its registers may have been written one by one. */
function latestWrite(image: RegisterImage, { address, cells }: ValueLocation): Write | undefined {
  let latest: Write | undefined;
  for (let cell = address; cell < address + cells; cell++) {
    const write = image.lastWrites.get(cell);
    if (write && (!latest || write.at >= latest.at)) latest = write;
  }
  return latest;
}

function inJson(value: Value): number | string {
  if (typeof value === 'string') return value;
  const number = Number(value);
  const isExact = typeof value === 'bigint' ? Number.isSafeInteger(number) : Number.isFinite(number);
  return isExact ? number : String(value);
}

/** Rounds to twelve digits to remove the rounding error of the scale: 2301 * 0.1 is 230.1. */
function tidy(number: number): number {
  return Number(number.toPrecision(12));
}

export function findNamed(device: Device, name: string, at: At): DeviceValue | undefined {
  return (
    valueNamed(device, name) ??
    at.wrong(unknownName('name', name, [...device.points.named.keys()]), 'value.unknown')
  );
}

export function readValue(target: DeviceValue, raw: boolean, at: At): { readonly value: Value } | undefined {
  const why = whyUnchangeable(target);
  if (why !== undefined) return at.wrong(why, 'value.moved_by_signal');
  const parsed = parseChange(target, at.value, raw);
  return parsed.ok ? parsed : at.expected(parsed.error);
}

/** Why a device does not accept more writes at the moment. */
export const TOO_MUCH_TO_COME = 'too many changes are pending in this device; try again';

/** Why a value can't be changed: its signal computes it. Undefined if it can be changed. */
export function whyUnchangeable({ image, location, point }: DeviceValue): string | undefined {
  if (point && image.live?.isFull(location.address)) return TOO_MUCH_TO_COME;
  const signal = point?.signal;
  if (!signal || signal.accumulator) return undefined;
  return 'is computed by its signal; DELETE the signal to hold the value';
}

/** Writes a value that `parseChange` accepted, for REST. Reactions act on it. */
export function writeValue({ image, location }: Pick<DeviceValue, 'image' | 'location'>, value: Value): void {
  image.write(location, value);
  image.noteWrite(location.address, location.cells, { by: 'REST' });
}

/**
 * Converts a value in its unit, a label, bit names or a raw value to the stored value.
 * @param raw true if the input is the stored number, without the scale
 * @returns the stored value, or what was expected instead
 */
export function parseChange(
  { image, location, point }: DeviceValue,
  input: unknown,
  raw: boolean,
): Result<Value> {
  const { scale = 1, labels, bits } = point?.definition ?? {};
  const { type, cells } = location;
  const set = bits && typeof input === 'string' ? withBits(bits, input, image.valueAt(location)) : undefined;
  if (set !== undefined) return success(ofBits(type, set, cells));
  const label = Array.from(labels ?? []).find(([, text]) => text === input);
  const orLabel = `${labels ? orOneOf([...labels.values()]) : ''}${bits ? `, or bit names: ${namesOf(bits)}` : ''}`;
  const parsed = parseValue(type, label ? label[0] : input, cells);
  if (raw || label || scale === 1 || type === 'string') {
    return parsed.ok ? parsed : failure(`${parsed.error}${orLabel}`);
  }
  if (typeof input !== 'number') return failure(`${expectedNumber(input)}${orLabel}`);
  const { value, fits } = nearestValue(type, input / scale);
  return fits ? success(value) : failure(`a number that ${type} can hold with a scale of ${scale}${orLabel}`);
}

const MOST_LABELS = 20;

/** The first bit names, as in `running, overload`. */
function namesOf(bits: BitNames): string {
  return `${bits
    .slice(0, MOST_LABELS)
    .map(([, name]) => name)
    .join(', ')}${bits.length > MOST_LABELS ? ', …' : ''}`;
}

/** The labels that are valid for a value, as the end of an "expected" message. */
function orOneOf(labels: readonly string[]): string {
  const listed = labels.slice(0, MOST_LABELS).map((label) => `, or ${quote(label)}`);
  return `${listed.join('')}${labels.length > MOST_LABELS ? ', …' : ''}`;
}
