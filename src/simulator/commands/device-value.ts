import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { Findings, MOST_LISTED } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { type Problem, pathText, quote } from '../../common/schema/problem.js';
import type { Device } from '../../device/device.js';
import type { Point } from '../../device/point.js';
import type { Write } from '../../device/registers/accesses.js';
import type { RegisterImage } from '../../device/registers/image.js';
import { notDefined } from '../../device/registers/undefined.js';
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
import type { CommandContext } from './context.js';
import type { DeclaredInput } from './declared.js';
import { type Code, done, type Outcome, type Refusal, refusal, refusalOf } from './refusal.js';
import type { Change, RegisterView, VALUE_COMMANDS, ValueView } from './schemas/value.js';

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

/** Shows the present value. A signal is computed first. */
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

/** Shows a stored value in its unit and as it is stored. */
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

/** The reaction that would refuse this value to a client. A password judges the writer, not the value. */
function violated({ image, location, point }: DeviceValue): string | undefined {
  const { reactions = [], scale } = point?.definition ?? {};
  const value = () => Number(image.valueAt(location)) * (scale ?? 1);
  return reactions.find(
    ({ kind }, i) => kind !== 'password' && point?.reactions[i]?.refusal?.(value()) !== undefined,
  )?.kind;
}

function viewLastWriter({ image, location, point }: DeviceValue): RegisterView['lastWriter'] {
  const write = latestWrite(image, location);
  // A counter continues from what was written; any other signal has replaced it by now.
  if (point?.signal && !(write && point.signal.accumulator)) {
    return { by: 'signal', line: null, client: null, time: null };
  }
  if (!write) return null;
  const { by, line = null, client = null } = write.writer;
  return { by, line, client, time: write.at.toISOString() };
}

/** The latest write to a value, whose registers may have been written one by one. */
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

/** Rounds to twelve digits to remove the error of the multiplication by the scale: 2301 * 0.1 is 230.1. */
function tidy(number: number): number {
  return Number(number.toPrecision(12));
}

/** Sets values by name, or by table and address: all of them, or none when one has a mistake. */
export function changeValues(
  { simulator }: CommandContext,
  { device: name, ...request }: DeclaredInput<(typeof VALUE_COMMANDS)['value.change']>,
): Outcome<readonly RegisterView[]> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  const at = new At(request, new Findings());
  const ready = request.changes.flatMap(
    (change, i) => readyChange(device, change, at.key('changes').key(i)) ?? [],
  );
  if (at.findings.count > 0) return refusalOf(at.findings, 'value.invalid');
  const targets = ready.flatMap(({ targets }) => targets);
  const others = ready.flatMap(({ unmet }) => unmet?.() ?? []);
  if (others.length > 0) return unexpected(others, targets);
  if (!device.points.haveRoom(targets.flatMap(({ point }) => point ?? [])))
    return refusal('value.moved_by_signal', 'changes', TOO_MUCH_TO_COME);
  for (const { carryOut } of ready) carryOut();
  return done(targets.map(viewRegister));
}

/** A change without mistakes that is not carried out yet. */
interface ReadyChange {
  readonly targets: readonly DeviceValue[];
  readonly carryOut: () => void;
  /** Finds what stands in place of the expected content; undefined when everything is as expected. */
  readonly unmet: (() => Problem | undefined) | undefined;
}

/** Prepares a change; undefined after reporting its mistakes. */
function readyChange(device: Device, change: Change, at: At): ReadyChange | undefined {
  if (change.words) return readyWords(device, change, change.words, at);
  const target = findTarget(device, change, at);
  const parsed = target && readValue(target, change.raw, at.key('value'));
  if (!target || !parsed) return undefined;
  const unmet = readExpected(device, target, change, at.key('expected'));
  return { targets: [target], carryOut: () => writeValue(target, parsed.value), unmet };
}

function readyWords(
  device: Device,
  change: Change,
  words: readonly number[],
  at: At,
): ReadyChange | undefined {
  const { name, table, address, value } = change;
  if (table === undefined || address === undefined || name !== undefined || value !== undefined)
    return at.wrong('expected words with a table and an address', 'request.invalid');
  const found = valuesOfWords(device, table, address, words);
  if ('wrong' in found) return at.key(found.key).wrong(found.wrong, found.code);
  const unmet = readExpected(device, { table, address }, change, at.key('expected'));
  return { targets: found.targets, carryOut: () => writeWords(device, table, address, words), unmet };
}

function findTarget(device: Device, { name, table, address }: Change, at: At): DeviceValue | undefined {
  const isByName = name !== undefined && table === undefined && address === undefined;
  if (isByName) return findNamed(device, name, at.key('name'));
  if (name !== undefined || table === undefined || address === undefined)
    return at.wrong('expected a name, or a table and an address', 'request.invalid');
  const found = valueAtAddress(device, table, address);
  if (!found) return at.key('address').wrong(notDefined(`${table} ${address}`), 'register.undefined');
  if (found.address === address) return found;
  return at
    .key('address')
    .wrong(
      `expected ${found.address}, where this ${found.location.type} begins, got ${address}`,
      'register.inside_value',
    );
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

/**
 * Reads `expected` of a change: what a client wants to find where it writes, so that it does not overwrite
 * the write of another. It is a list of registers as clients see them, or a value. Undefined when there is
 * none, and after reporting that nothing like it could stand there.
 * @returns a function that says what stands there instead
 */
export function readExpected(
  device: Device,
  where: { readonly table: TableName; readonly address: number },
  { expected, raw }: Pick<Change, 'expected' | 'raw'>,
  at: At,
): (() => Problem | undefined) | undefined {
  if (expected === undefined) return undefined;
  return Array.isArray(expected)
    ? expectedWords(device, where, expected, at)
    : expectedValue(device, where, { expected, raw }, at);
}

function expectedWords(
  device: Device,
  { table, address }: { readonly table: TableName; readonly address: number },
  words: readonly unknown[],
  at: At,
): (() => Problem | undefined) | undefined {
  const { image, base } = device.tables[table].window;
  if (words.length === 0 || !words.every(isWord)) return at.wrong('expected a value, or a list of registers');
  const values = words.map((_, i) => valueAtAddress(device, table, address + i));
  const missing = values.indexOf(undefined);
  if (missing >= 0) return at.wrong(notDefined(`${table} ${address + missing}`), 'register.undefined');
  return () => {
    for (const value of values) if (value) value.image.refresh(value.location.address, value.location.cells);
    const present = image.servedWords(base + address, words.length);
    if (present.every((word, i) => word === words[i])) return undefined;
    return other(at, words.join(' '), present.join(' '));
  };
}

function expectedValue(
  device: Device,
  { table, address }: { readonly table: TableName; readonly address: number },
  { expected, raw }: Pick<Change, 'expected' | 'raw'>,
  at: At,
): (() => Problem | undefined) | undefined {
  const found = valueAtAddress(device, table, address);
  if (found?.address !== address)
    return at.wrong(`no value begins at ${table} ${address}, expected registers`, 'register.undefined');
  const parsed = parseChange(found, expected, raw);
  if (!parsed.ok) return at.expected(parsed.error);
  const { image, location } = found;
  return () => {
    const present = viewValue(found);
    // NaN is taken for equal to NaN.
    if (Object.is(image.valueAt(location), parsed.value) || image.valueAt(location) === parsed.value)
      return undefined;
    return other(at, String(expected), String(raw ? present.raw : (present.value ?? present.raw)));
  };
}

function isWord(word: unknown): word is number {
  return typeof word === 'number' && Number.isInteger(word) && word >= 0 && word <= 0xffff;
}

function other(at: At, expected: string, present: string): Problem {
  return { path: pathText(at.path), message: `expected ${expected}, found ${present}` };
}

/** The refusal when other content stands there than expected, with everything that was found. */
export function unexpected(others: readonly Problem[], targets: readonly DeviceValue[]): Refusal {
  return {
    ok: false,
    code: 'value.not_as_expected',
    problems: others.slice(0, MOST_LISTED).map((each) => ({ ...each, code: 'value.not_as_expected' })),
    more: Math.max(0, others.length - MOST_LISTED),
    found: targets.map(viewRegister),
  };
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
function valuesOfWords(
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
function writeWords({ tables }: Device, table: TableName, address: number, words: readonly number[]): void {
  const { image, base } = tables[table].window;
  image.setWords(base + address, words);
  image.noteWrite(base + address, words.length, { by: 'REST' });
  image.live?.written(base + address, words.length);
}

/**
 * Converts a value in its unit, a label, names of bits or a raw value to the stored value.
 * @param raw true when the input is the stored number, without the scale
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
  const orLabel = `${labels ? orOneOf([...labels.values()]) : ''}${bits ? `, or names of bits: ${namesOf(bits)}` : ''}`;
  const parsed = parseValue(type, label ? label[0] : input, cells);
  if (raw || label || scale === 1 || type === 'string') {
    return parsed.ok ? parsed : failure(`${parsed.error}${orLabel}`);
  }
  if (typeof input !== 'number') return failure(`${expectedNumber(input)}${orLabel}`);
  const { value, fits } = nearestValue(type, input / scale);
  return fits ? success(value) : failure(`a number that ${type} can hold with a scale of ${scale}${orLabel}`);
}

const MOST_LABELS = 20;

/** The first names of bits, as in `running, overload`. */
function namesOf(bits: BitNames): string {
  return `${bits
    .slice(0, MOST_LABELS)
    .map(([, name]) => name)
    .join(', ')}${bits.length > MOST_LABELS ? ', …' : ''}`;
}

/** The labels that may stand for a value, as the end of an "expected" message. */
function orOneOf(labels: readonly string[]): string {
  const listed = labels.slice(0, MOST_LABELS).map((label) => `, or ${quote(label)}`);
  return `${listed.join('')}${labels.length > MOST_LABELS ? ', …' : ''}`;
}
