import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { inSlices, type Work } from '../../common/work.js';
import type { Device } from '../../device/device.js';
import type { Point } from '../../device/point.js';
import { withoutSentinel } from '../../device/registers/value.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import type { AddressRange } from '../../modbus/protocol/pdu.js';
import type { Simulator } from '../simulator.js';
import { thousandths } from '../traffic/words.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import {
  type DeviceValue,
  findNamed,
  readValue,
  unknownDevice,
  valueAtAddress,
  valueNamed,
  viewRegister,
  viewValue,
  writeValue,
} from './device-value.js';
import type { OfDevice } from './devices.js';
import { readExpected, unexpected } from './expected-values.js';
import { momentOf } from './past.js';
import { openRecordings } from './recordings.js';
import { done, type Outcome, type Refusal, refusal, refusalOf } from './refusal.js';
import type { RegisterView, SIGNAL_COMMANDS, VALUE_COMMANDS, ValueView, Words } from './schemas/value.js';
import { namesOfDevice, placesOfName } from './shown-values.js';
import { changeValues } from './value-changes.js';

/** Maximum number of values in an answer, and of addresses in an answer of words. */
const MAX_VALUES = 8192;
const MAX_WORDS = 512;

type OfValue = DeclaredInput<(typeof VALUE_COMMANDS)['value.get']>;

/** Lists the values of a device: all of them, those of a table, those in a range of addresses, or the given names. */
export function listValues(
  { simulator }: CommandContext,
  { device: name, table, from, to, names }: DeclaredInput<(typeof VALUE_COMMANDS)['value.list']>,
): ListedValues | Promise<ListedValues> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  const at = new At({ names }, new Findings());
  if (names !== undefined) {
    const wanted = names.split(',');
    const found = wanted.filter((each) => findNamed(device, each, at.key('names')));
    if (found.length > MAX_VALUES) at.key('names').wrong(`expected at most ${MAX_VALUES} names`);
    return at.findings.count > 0
      ? refusalOf(at.findings, 'request.invalid')
      : done(viewsNamed(device, wanted, viewRegister));
  }
  const tables = tablesMeant(table);
  const listed = done(viewsBetween(device, tables, { from, to }));
  if ((to - from + 1) * tables.length <= MAX_VALUES) return listed;
  const tooMany = refusal('request.invalid', 'to', `expected at most ${MAX_VALUES} values in the range`);
  return inSlices(areMoreThan(MAX_VALUES, device, tables, { from, to })).then((are) =>
    are ? tooMany : listed,
  );
}

type ListedValues = Outcome<Iterable<RegisterView | undefined>>;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Finds out whether tables have more than `limit` values in a range. */
function* areMoreThan(
  limit: number,
  device: Device,
  tables: readonly TableName[],
  range: Range,
): Work<boolean> {
  let sum = 0;
  for (const table of tables) {
    const { image, base, size } = device.tables[table].window;
    sum += yield* image.valuesIn(base + range.from, Math.min(range.to + 1, size) - range.from);
    if (sum > limit) return true;
  }
  return false;
}

/** How many addresses without a value are skipped before the caller may pause. */
const ADDRESSES_PASSED_OVER = 64;

/** The values of a table with an address from `from` to `to`. */
function* valuesBetween(
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
function tablesMeant(table: TableName | undefined): readonly TableName[] {
  return table === undefined ? TABLE_NAMES : [table];
}

/** Finds each value only when it is read, so that a list that is not read takes no memory. */
function* viewsBetween(
  device: Device,
  tables: readonly TableName[],
  { from, to }: Range,
): Generator<RegisterView | undefined> {
  for (const table of tables)
    for (let start = from; start <= to; start += ADDRESSES_PASSED_OVER) {
      const end = Math.min(to, start + ADDRESSES_PASSED_OVER - 1);
      // A value that begins earlier has already been shown.
      for (const value of valuesBetween(device, table, { from: start, to: end }))
        if (value.address >= start || start === from) yield viewRegister(value);
      yield undefined;
    }
}

/** The named values of a device, in short form. */
function namedValues(
  { simulator }: CommandContext,
  { device: name }: OfDevice,
): Outcome<Iterable<ValueView>> {
  const device = simulator.devices.get(name);
  return device
    ? done(viewsNamed(device, device.points.named.keys(), viewValue))
    : unknownDevice(simulator, name);
}

function* viewsNamed<View>(
  device: Device,
  names: Iterable<string>,
  view: (value: DeviceValue) => View,
): Generator<View> {
  for (const name of names) {
    const value = valueNamed(device, name);
    if (value) yield view(value);
  }
}

/** Reads a value by name, in its unit and as stored. A signal is computed first. */
function getValue({ simulator }: CommandContext, of: OfValue): Outcome<ValueView> {
  const found = findValue(simulator, of);
  return 'ok' in found ? found : done(viewValue(found));
}

/** Sets a value by name, even if clients can't write it, makes the value available or unavailable, or both. */
function setValue(
  { simulator }: CommandContext,
  { device, name, available, ...change }: DeclaredInput<(typeof VALUE_COMMANDS)['value.set']>,
): Outcome<ValueView> {
  const found = findValue(simulator, { device, value: name }, 'name');
  if ('ok' in found) return found;
  const { point } = found;
  const at = new At(change, new Findings());
  if (available === false && point && !point.sentinel)
    at.key('available').wrong(withoutSentinel(point.location.type), 'value.no_sentinel');
  const isSet = change.value !== undefined || available === undefined;
  const parsed = isSet ? readValue(found, change.raw, at.key('value')) : undefined;
  const owner = simulator.devices.get(device) as Device;
  const expectation = readExpected(owner, found, change, at.key('expected'));
  if (at.findings.count > 0) return refusalOf(at.findings, 'value.invalid');
  const other = expectation?.();
  if (other) return unexpected([other], [found]);
  if (parsed) writeValue(found, parsed.value);
  if (point && available !== undefined) owner.points.setAvailable(point, available);
  return done(viewValue(found));
}

/** Defines the undefined registers of a range. @returns these registers */
export function defineRegisters(
  { simulator }: CommandContext,
  { device: name, table, address, quantity, write }: DeclaredInput<(typeof VALUE_COMMANDS)['value.define']>,
): Outcome<readonly RegisterView[]> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  if (device.cells)
    return refusal('request.invalid', 'table', `the tables of device ${name} share their registers`);
  const end = address + quantity;
  if (end > ADDRESS_SPACE)
    return refusal(
      'request.invalid',
      'quantity',
      `expected at most ${ADDRESS_SPACE - address} from ${address} on`,
    );
  const ranges = undefinedRanges(device, table, address, end);
  if (ranges.length === 0)
    return refusal('register.defined', 'address', `${table} ${address} to ${end - 1} are already defined`);
  const spent = simulator.changes.defineRegisters(device, table, ranges, write);
  if (spent !== undefined) return refusal('memory.spent', '', spent);
  const defined = ranges.flatMap(({ address: from, quantity }) => [
    ...valuesBetween(device, table, { from, to: from + quantity - 1 }),
  ]);
  return done(defined.map(viewRegister));
}

function undefinedRanges(device: Device, table: TableName, from: number, end: number): AddressRange[] {
  const ranges: { address: number; quantity: number }[] = [];
  for (let address = from; address < end; address++) {
    if (valueAtAddress(device, table, address)) continue;
    const last = ranges.at(-1);
    if (last && last.address + last.quantity === address) last.quantity++;
    else ranges.push({ address, quantity: 1 });
  }
  return ranges;
}

/** Gives a value a signal, replacing its current one. */
async function setSignal(
  context: CommandContext,
  { signal, ...of }: DeclaredInput<(typeof SIGNAL_COMMANDS)['signal.set']>,
): Promise<Outcome<RegisterView>> {
  const { simulator } = context;
  const recordings = await openRecordings(context, signal);
  const found = findValue(simulator, of);
  if ('ok' in found) return found;
  const { point } = found;
  const device = simulator.devices.get(of.device) as Device;
  const at = new At(signal, new Findings());
  if (!point || !(await inSlices(simulator.changes.signals.changing(device, point, at, recordings))))
    return refusalOf(at.findings, 'signal.invalid');
  return done(viewRegister(found));
}

/** Restores from the saved state the signal of an unnamed value, or the absence of one. */
export function restoreSignal(
  { simulator }: CommandContext,
  device: Device,
  point: Point,
  signal: Readonly<Record<string, unknown>> | null,
): Outcome<null> {
  const at = new At(signal, new Findings());
  if (signal === null) device.points.setSignal(point, undefined);
  else if (!simulator.changes.signals.change(device, point, at))
    return refusalOf(at.findings, 'signal.invalid');
  return done(null);
}

/** Removes the signal of a value. The value keeps its current number. */
function removeSignal({ simulator }: CommandContext, of: OfValue): Outcome<RegisterView> {
  const found = findValue(simulator, of);
  if ('ok' in found) return found;
  if (found.point) simulator.devices.get(of.device)?.points.setSignal(found.point, undefined);
  return done(viewRegister(found));
}

/** Reads consecutive registers as clients see them. Does not run actions or count reads. */
function readWords(
  { simulator }: CommandContext,
  {
    device: name,
    table,
    from,
    to = from + MAX_WORDS - 1,
    at,
  }: DeclaredInput<(typeof VALUE_COMMANDS)['value.words']>,
): Outcome<Words> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  if (to >= from + MAX_WORDS)
    return refusal('request.invalid', 'to', `expected at most ${MAX_WORDS} addresses`);
  const range = { table, from, to };
  return at === undefined ? done(wordsOf(device, range)) : pastWords(simulator, device, range, at);
}

/** Consecutive registers as they were at an earlier time. @param wall the time, in ms since 1970 */
function pastWords(simulator: Simulator, device: Device, range: WordRange, wall: number): Outcome<Words> {
  // Changes that have become due also count.
  device.points.advance();
  const moment = momentOf(simulator, device, wall);
  if (!moment.ok) return moment;
  const { real, past } = moment.value;
  const { window } = device.tables[range.table];
  const unknown = new Set<Point>();
  const known = new Map<Point, boolean>();
  for (const { point } of valuesBetween(device, range.table, range))
    if (point && !device.points.isKnownAt(point, real, known)) unknown.add(point);
  const words = device.at(real, () => wordsOf(device, range, unknown));
  // The registers show what the signals were at that time.
  window.image.refresh(window.base + range.from, words.words.length);
  return done({ ...words, past: past(window, range.from, range.to) });
}

interface WordRange extends Range {
  readonly table: TableName;
}

/** @param unknown values that can't be computed for that time */
function wordsOf(
  device: Device,
  { table, from, to }: WordRange,
  unknown: ReadonlySet<Point | undefined> = new Set(),
): Words {
  const { power, clock, tables } = device;
  const { image, base, size, bitsPerCell } = tables[table].window;
  const end = Math.min(to + 1, size);
  const found = [...valuesBetween(device, table, { from, to })];
  const gaps = new Set<number>();
  for (const { point, address, location } of found)
    for (let cell = 0; unknown.has(point) && cell < location.cells; cell++) gaps.add(address + cell);
  // Signals are computed while values are shown, so the words are read afterwards.
  const values = found
    .filter((value) => isMoreThanAWord(value) && !unknown.has(value.point))
    .map(viewRegister);
  const served = image.servedWords(base + from, Math.max(0, end - from));
  const words: (number | null)[] = [];
  let access = '';
  for (let address = from; address < end; address++) {
    const isDefined = image.typeAt(base + address) !== 'invalid';
    const isKnown = isDefined && !gaps.has(address);
    words.push(isKnown ? (served[address - from] as number) : null);
    access += isKnown ? (image.isWritable(base + address) ? 'w' : 'r') : isDefined ? '?' : '-';
  }
  const isOfBits = (table === 'coils' || table === 'discrete') && bitsPerCell === 1;
  return {
    power: power.state,
    clock: { time: thousandths(clock.time / 1000), ...clock.settings },
    table,
    from,
    bits: isOfBits ? 1 : 16,
    words,
    access,
    values,
  };
}

function isMoreThanAWord({ location, point, image }: DeviceValue): boolean {
  return location.cells > 1 || point !== undefined || image.actionAt(location.address) !== undefined;
}

function findValue(
  simulator: Simulator,
  { device: name, value }: OfValue,
  path = 'value',
): DeviceValue | Refusal {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  const known = device.points.named;
  return (
    valueNamed(device, value) ?? refusal('value.unknown', path, unknownName('name', value, [...known.keys()]))
  );
}

export const VALUE_FUNCTIONS = {
  'value.list': listValues,
  'device.names': namesOfDevice,
  'value.named': namedValues,
  'value.places': placesOfName,
  'value.change': changeValues,
  'value.define': defineRegisters,
  'value.get': getValue,
  'value.set': setValue,
  'value.words': readWords,
  'signal.set': setSignal,
  'signal.remove': removeSignal,
} satisfies FunctionsOf<typeof VALUE_COMMANDS & typeof SIGNAL_COMMANDS>;
