import { At } from '../../common/schema/at.js';
import { Findings, MOST_LISTED } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { type Problem, pathText } from '../../common/schema/problem.js';
import { inSlices, type Work } from '../../common/work.js';
import type { Device } from '../../device/device.js';
import type { Point } from '../../device/point.js';
import { notDefined } from '../../device/registers/undefined.js';
import { type Value, withoutSentinel } from '../../device/registers/value.js';
import type { TableName } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import type { AddressRange } from '../../modbus/protocol/pdu.js';
import type { Simulator } from '../simulator.js';
import { thousandths } from '../traffic/words.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import {
  type DeviceValue,
  parseChange,
  TOO_MUCH_TO_COME,
  tablesMeant,
  valueAtAddress,
  valueNamed,
  valuesBetween,
  valuesOfWords,
  whyUnchangeable,
  writeValue,
  writeWords,
} from './device-value.js';
import { type OfDevice, unknownDevice } from './devices.js';
import { openRecordings } from './recordings.js';
import { done, type Outcome, type Refusal, refusal, refusalOf } from './refusal.js';
import type {
  Change,
  RegisterView,
  SIGNAL_COMMANDS,
  VALUE_COMMANDS,
  ValueView,
  Words,
} from './schemas/value.js';
import { namesOfDevice, viewRegister, viewValue } from './shown-values.js';

/** The most values in an answer, and the most addresses in one of words. */
const MAX_VALUES = 8192;
const MAX_WORDS = 512;

/** A value, by the names of its device and of the value. */
type OfValue = DeclaredInput<(typeof VALUE_COMMANDS)['value.get']>;

/** Lists the values of a device: all, those of a table or a range of addresses, or those with names. */
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
      : done(viewsNamed(device, wanted));
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

/** Finds out whether tables have more values in a range than `limit`. */
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

/** The number of addresses without a value that are passed over before the caller may pause. */
const PASSED_OVER = 64;

/** Finds each value when it is read, so that an unread list takes no memory. */
function* viewsBetween(
  device: Device,
  tables: readonly TableName[],
  { from, to }: Range,
): Generator<RegisterView | undefined> {
  for (const table of tables)
    for (let start = from; start <= to; start += PASSED_OVER) {
      const end = Math.min(to, start + PASSED_OVER - 1);
      // A value that begins before was shown already.
      for (const value of valuesBetween(device, table, { from: start, to: end }))
        if (value.address >= start || start === from) yield viewRegister(value);
      yield undefined;
    }
}

/** The values of a device that have a name, in brief. */
function namedValues(
  { simulator }: CommandContext,
  { device: name }: OfDevice,
): Outcome<Iterable<ValueView>> {
  const device = simulator.devices.get(name);
  return device ? done(namedViews(device)) : unknownDevice(simulator, name);
}

function* namedViews(device: Device): Generator<ValueView> {
  for (const name of device.points.named.keys()) {
    const value = valueNamed(device, name);
    if (value) yield viewValue(value);
  }
}

function* viewsNamed(device: Device, names: readonly string[]): Generator<RegisterView> {
  for (const name of names) {
    const value = valueNamed(device, name);
    if (value) yield viewRegister(value);
  }
}

/** Reads a value by its name: in its unit, and as it is stored. A signal is computed for this moment. */
function getValue({ simulator }: CommandContext, of: OfValue): Outcome<ValueView> {
  const found = findValue(simulator, of);
  return 'ok' in found ? found : done(viewValue(found));
}

/**
 * Sets a value by its name, whether or not clients may write it, or makes the value available or not, or
 * both.
 */
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

/** Sets values by name, or by table and address: all of them, or none when one has a mistake. */
function changeValues(
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

/** Defines the registers of a range that are not defined yet. @returns these registers */
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
    return refusal('register.defined', 'address', `${table} ${address} to ${end - 1} are defined already`);
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

/** Gives a value a signal, which replaces its present one. */
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
  if (!point || !(await inSlices(simulator.changes.changingSignal(device, point, at, recordings))))
    return refusalOf(at.findings, 'signal.invalid');
  return done(viewRegister(found));
}

/** Restores the signal of a value without a name, or its lack of one, from the kept state. */
export function restoreSignal(
  { simulator }: CommandContext,
  device: Device,
  point: Point,
  signal: Readonly<Record<string, unknown>> | null,
): Outcome<null> {
  const at = new At(signal, new Findings());
  if (signal === null) device.points.setSignal(point, undefined);
  else if (!simulator.changes.changeSignal(device, point, at))
    return refusalOf(at.findings, 'signal.invalid');
  return done(null);
}

/** Removes the signal of a value, which keeps its present number. */
function removeSignal({ simulator }: CommandContext, of: OfValue): Outcome<RegisterView> {
  const found = findValue(simulator, of);
  if ('ok' in found) return found;
  if (found.point) simulator.devices.get(of.device)?.points.setSignal(found.point, undefined);
  return done(viewRegister(found));
}

/** Reads registers side by side as clients see them. Runs no action and counts no read. */
function readWords(
  { simulator }: CommandContext,
  {
    device: name,
    table,
    from,
    to = from + MAX_WORDS - 1,
  }: DeclaredInput<(typeof VALUE_COMMANDS)['value.words']>,
): Outcome<Words> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  if (to >= from + MAX_WORDS)
    return refusal('request.invalid', 'to', `expected at most ${MAX_WORDS} addresses`);
  const { supply, clock, tables } = device;
  const { image, base, size, bitsPerCell } = tables[table].window;
  const end = Math.min(to + 1, size);
  const found = [...valuesBetween(device, table, { from, to })];
  // Signals are computed while values are shown, so the words are taken afterwards.
  const values = found.filter(isMoreThanAWord).map(viewRegister);
  const served = image.servedWords(base + from, Math.max(0, end - from));
  const words: (number | null)[] = [];
  let access = '';
  for (let address = from; address < end; address++) {
    const isDefined = image.typeAt(base + address) !== 'invalid';
    words.push(isDefined ? (served[address - from] as number) : null);
    access += isDefined ? (image.isWritable(base + address) ? 'w' : 'r') : '-';
  }
  const isOfBits = (table === 'coils' || table === 'discrete') && bitsPerCell === 1;
  return done({
    supply: supply.state,
    clock: { time: thousandths(clock.time / 1000), ...clock.settings },
    table,
    from,
    bits: isOfBits ? 1 : 16,
    words,
    access,
    values,
  });
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

function findNamed(device: Device, name: string, at: At): DeviceValue | undefined {
  return (
    valueNamed(device, name) ??
    at.wrong(unknownName('name', name, [...device.points.named.keys()]), 'value.unknown')
  );
}

function readValue(target: DeviceValue, raw: boolean, at: At): { readonly value: Value } | undefined {
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
function readExpected(
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
  return { path: pathText(at.path), message: `expected ${expected}, but ${present} stands there` };
}

/** The refusal when other content stands there than expected, with everything that was found. */
function unexpected(others: readonly Problem[], targets: readonly DeviceValue[]): Refusal {
  return {
    ok: false,
    code: 'value.not_as_expected',
    problems: others.slice(0, MOST_LISTED).map((each) => ({ ...each, code: 'value.not_as_expected' })),
    more: Math.max(0, others.length - MOST_LISTED),
    found: targets.map(viewRegister),
  };
}

export const VALUE_FUNCTIONS = {
  'value.list': listValues,
  'device.names': namesOfDevice,
  'value.named': namedValues,
  'value.change': changeValues,
  'value.define': defineRegisters,
  'value.get': getValue,
  'value.set': setValue,
  'value.words': readWords,
  'signal.set': setSignal,
  'signal.remove': removeSignal,
} satisfies FunctionsOf<typeof VALUE_COMMANDS & typeof SIGNAL_COMMANDS>;
