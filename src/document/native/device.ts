import { createHash } from 'node:crypto';
import { compact } from '../../common/compact.js';
import type { At } from '../../common/schema/at.js';
import { isMapping } from '../../common/schema/parts.js';
import { atOnce, type Work } from '../../common/work.js';
import type { PointDefinition } from '../../device/point.js';
import { ACTION_NAMES, ACTIONS, type Action } from '../../device/registers/actions.js';
import { CELLS_PER_VALUE, type ValueType } from '../../device/registers/cell-type.js';
import { LayoutBuilder, type RegisterLayout } from '../../device/registers/layout.js';
import { parseValue, type Value } from '../../device/registers/value.js';
import type { TableName } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import type { DeviceDefinition, DeviceRegisters, DeviceSource, WindowDefinition } from '../configuration.js';
import { definePlaced, type PlacedValues, withoutOverlaps } from '../place-values.js';
import type { OpenRecording } from '../recording-file.js';
import { lifeOf, reportSharedNames } from './dependencies.js';
import { deviceSections, pymodbusReferenceSchema, tableSections } from './device-schema.js';
import { bitEntrySchema, type RegisterEntry, registerEntrySchema } from './entry-schema.js';
import { readExtras, readFeeds, readIdentity } from './extras.js';
import { type PlacedEntry, pointsOf, readValue } from './points.js';
import { readReal } from './real.js';

/** One table, and those of its values that have a name or a signal. */
interface NativeTable {
  readonly layout: RegisterLayout;
  readonly points: readonly PointDefinition[];
}

/**
 * Reads the registers of one table, which is only as long as its highest address requires; undefined after
 * reporting mistakes.
 */
export function nativeTable(table: TableName, at: At, recordings: OpenRecording): NativeTable | undefined {
  return atOnce(readingTable(table, at, recordings));
}

/** Does the same as `nativeTable`, as work that can pause. */
function* readingTable(table: TableName, at: At, recordings: OpenRecording): Work<NativeTable | undefined> {
  const items = at.items('a list of entries');
  return items && (yield* at.unlessWrongIn(placing(table, items, recordings)));
}

function* placing(table: TableName, items: readonly At[], recordings: OpenRecording): Work<NativeTable> {
  const isBits = table === 'coils' || table === 'discrete';
  const placed: PlacedEntry[] = [];
  for (const item of items) {
    const entry = placeEntry(item, isBits);
    if (entry) placed.push(entry);
    yield;
  }
  const entries = withoutOverlaps(placed);
  hintAtNumbers(table, placed);
  const builder = new LayoutBuilder(entries.reduce((size, { last }) => Math.max(size, last + 1), 0));
  for (const entry of entries) {
    definePlaced(builder, entry);
    yield;
  }
  const points: PointDefinition[] = [];
  for (const entry of placed) {
    for (const point of pointsOf(table, entry, recordings)) if (points.push(point) % PIECE === 0) yield;
    yield;
  }
  return { layout: builder.build(), points };
}

/** The register number of address 0 in each table, as used in manuals. */
const FIRST_NUMBER = { coils: 1, discrete: 10_001, input: 30_001, holding: 40_001 } as const;
const NUMBERS = 9999;

/**
 * Warns if the addresses look like register numbers, or one of many does. SunSpec's registers begin at 40000,
 * and a table that also has lower addresses has real addresses.
 */
function hintAtNumbers(table: TableName, entries: readonly PlacedValues[]): void {
  const number = FIRST_NUMBER[table];
  const numbers = entries.filter((each) => each.first >= number && each.last < number + NUMBERS);
  const [first] = numbers;
  // A single number among low addresses was probably overlooked when the others were converted.
  const isAlone =
    numbers.length === 1 &&
    entries.length > 2 &&
    entries.every((each) => each === first || each.last < NUMBERS);
  if (table === 'coils' || !first || (numbers.length < entries.length && !isAlone)) return;
  const what =
    table === 'discrete' ? 'a discrete input' : `${table === 'input' ? 'an' : 'a'} ${table} register`;
  first.at
    .key('address')
    .warn(
      `if ${first.first} is the number of ${what} in a manual, its address on the wire is ${first.first - number}`,
    );
}

/** Returns what an entry defines; undefined if its addresses can't be determined. */
function placeEntry(at: At, isBits: boolean): PlacedEntry | undefined {
  const schema = isBits ? bitEntrySchema : registerEntrySchema;
  const entry: RegisterEntry | undefined = at.check(schema) ?? withoutMistakes(at);
  if (!entry) return undefined;
  const type: ValueType = isBits ? 'bit' : (entry.type ?? 'uint16');
  const value = at.key('value');
  if (Array.isArray(value.value) && value.value.length === 0) {
    return value.wrong('expected at least one value, got an empty list');
  }
  const inputs = Array.isArray(value.value) ? value.value.map((_, i) => value.key(i)) : [value];
  const isRepeated = inputs.length === 1;
  const quantity = entry.quantity ?? usualQuantity(entry, inputs.length);
  if (!isRepeated && quantity !== inputs.length) {
    return at.key('quantity').wrong(`expected ${inputs.length}, the number of values, got ${quantity}`);
  }
  const fields = fieldsOf(entry);
  if (quantity % fields !== 0) {
    const expected = `a multiple of ${fields}, the number of registers of a ${entry.action}`;
    at.key('quantity').wrong(`expected ${expected}, got ${quantity}`);
  }
  if (type !== 'string' && entry.length !== undefined) {
    at.key('length').wrong('only a string has a length; quantity is the number of values');
  }
  if (type !== 'string' && entry.padding !== undefined) {
    at.key('padding').wrong('only a string has padding');
  }
  const cells = type === 'string' ? (entry.length ?? longestString(inputs)) : CELLS_PER_VALUE[type];
  const last = entry.address + quantity * cells - 1;
  if (last >= ADDRESS_SPACE) {
    return at.wrong(`ends at address ${last}, expected at most ${ADDRESS_SPACE - 1}`);
  }
  return {
    at,
    written: entry,
    first: entry.address,
    last,
    type,
    cells,
    // After a mistake, the value is 0 or empty text, so that the entry still occupies its addresses.
    values: inputs.map((input) => readValue(type, input, entry.scale, cells) ?? (type === 'string' ? '' : 0)),
    order: {
      wordOrder: entry.wordOrder ?? 'big',
      byteOrder: entry.byteOrder ?? 'big',
      padding: entry.padding,
    },
    writable: entry.write ?? false,
    action: actionOf(type, entry, at),
  };
}

/**
 * Returns the parts of an entry without reported mistakes; undefined if a mistake concerns the addresses or
 * the type.
 */
function withoutMistakes(at: At): RegisterEntry | undefined {
  const entry = at.fitting(registerEntrySchema);
  const decisive = ['type', 'quantity', 'length'] as const;
  const isPlaced = decisive.every((key) => entry[key] !== undefined || at.key(key).value === undefined);
  const { address } = entry;
  return address === undefined || !isPlaced ? undefined : { ...entry, address };
}

/**
 * Returns the number of values if the entry does not specify it. A timestamp fills seven registers, but users
 * write it as one value.
 */
function usualQuantity(entry: RegisterEntry, values: number): number {
  return values === 1 ? fieldsOf(entry) : values;
}

function fieldsOf({ action }: RegisterEntry): number {
  return action === undefined ? 1 : ACTIONS[action].fields;
}

/** Returns the number of registers of strings without a length: as many as the longest string needs. */
function longestString(inputs: readonly At[]): number {
  return inputs.reduce(
    (cells, { value }) =>
      Math.max(cells, typeof value === 'string' ? Math.ceil(Buffer.byteLength(value) / 2) : 1),
    1,
  );
}

function actionOf(type: ValueType, entry: RegisterEntry, at: At): Action | undefined {
  const { action: name, min, max } = entry;
  const kind = name && ACTIONS[name];
  for (const [key, bound] of [['min', min] as const, ['max', max] as const]) {
    if (bound === undefined) continue;
    const parsed = parseValue(type === 'string' ? 'float64' : type, bound, 1);
    if (!kind?.hasBounds) at.key(key).wrong(`only the actions ${WITH_BOUNDS.join(' and ')} have bounds`);
    else if (!parsed.ok) at.key(key).expected(parsed.error);
  }
  const replayed = readsOf(type, entry, at.key('reads'));
  if (name === undefined || kind === undefined) return undefined;
  const unfit = kind.whyUnfit(type);
  if (unfit !== undefined) at.key('action').wrong(unfit);
  if (min !== undefined && max !== undefined && min > max) {
    at.key('min').wrong(`expected at most max, which is ${max}, got ${min}`);
  }
  if (!kind.hasBounds) return compact({ name, reads: replayed });
  // Without a minimum, random numbers start at 1, so a random coil would always be on.
  const minval = min ?? (type === 'bit' ? 0 : undefined);
  return compact({ name, minval, maxval: max });
}

const MOST_REPLAYED = 16_384;

/** Returns the values of a replay, by the number of the first read that returns them; undefined without a replay. */
function readsOf(type: ValueType, { action }: RegisterEntry, at: At): Action['reads'] {
  if (action !== 'replay') {
    if (at.value !== undefined) at.wrong('only the action replay has reads');
    return undefined;
  }
  const items = at.items('a list of reads and their values, as in [[4, 7], [9, 8]]');
  if (items && items.length > MOST_REPLAYED)
    return at.wrong(`expected at most ${MOST_REPLAYED} values, got ${items.length}`);
  const reads = new Map<number, Value>();
  let before = 0;
  for (const item of items ?? []) {
    const [read, value] = Array.isArray(item.value) ? item.value : [];
    if (
      !Array.isArray(item.value) ||
      item.value.length !== 2 ||
      !Number.isSafeInteger(read) ||
      read <= before
    ) {
      item.expected(`the number of a read above ${before} and a value, as in [${before + 1}, 7]`);
      continue;
    }
    const parsed = parseValue(type === 'string' ? 'uint16' : type, value, 1);
    if (parsed.ok) reads.set(read, parsed.value);
    else item.key(1).expected(parsed.error);
    before = read;
  }
  return reads;
}

const WITH_BOUNDS = ACTION_NAMES.filter((name) => ACTIONS[name].hasBounds);

/** Finds the device of a pymodbus file that a native file refers to. `error` says why it is not available. */
export type PymodbusDevices = (file: string, device: string | undefined) => PymodbusResult;

type PymodbusResult = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly registers: DeviceRegisters }
  | { readonly ok: false; readonly error: readonly string[] }
);

/**
 * Builds the devices of one file. Equal tables become one layout, whose memory the images share until they
 * are written.
 */
export class NativeDeviceReader {
  readonly #pymodbusDevices: PymodbusDevices;
  readonly #recordings: OpenRecording;
  readonly #tables = new Map<string, NativeTable>();
  readonly #metas = new Map<string, Uint8Array>();

  constructor(pymodbusDevices: PymodbusDevices, recordings: OpenRecording) {
    this.#pymodbusDevices = pymodbusDevices;
    this.#recordings = recordings;
  }

  /** Builds the device with the entry `at`; undefined after reporting its mistakes. */
  read(name: string, at: At): DeviceDefinition | undefined {
    return atOnce(this.reading(name, at));
  }

  /** Does the same as `read`, as work that can pause. */
  *reading(name: string, at: At): Work<DeviceDefinition | undefined> {
    const isReference = isMapping(at.value) && 'pymodbus' in at.value;
    if (isReference) return at.unlessWrong(() => this.#refer(name, at));
    return yield* at.unlessWrongIn(this.#define(name, at));
  }

  *#define(name: string, at: At): Work<DeviceDefinition | undefined> {
    const parts = at.parts(deviceSections);
    const registers = at.key('registers');
    const identity = readIdentity(at.key('identity'), parts.identity);
    const extras = readExtras(at, parts);
    const real = readReal(at, parts);
    const needsRegisters = at.key('real').value === undefined;
    const isKnown = isMapping(at.value) && Object.keys(at.value).every((key) => key in deviceSections.shape);
    if (isKnown && registers.value === undefined && needsRegisters) {
      at.wrong('missing, expected registers, or pymodbus with the path of a pymodbus file');
    }
    if (registers.value === undefined && needsRegisters) return undefined;
    if (registers.value !== undefined) registers.check(tableSections);
    const coils = yield* this.#table('coils', registers.key('coils'));
    const discrete = yield* this.#table('discrete', registers.key('discrete'));
    const input = yield* this.#table('input', registers.key('input'));
    const holding = yield* this.#table('holding', registers.key('holding'));
    const points = [coils, discrete, input, holding].flatMap((read) => read?.points ?? []);
    const tables = {
      coils: windowOf('coils', coils?.layout),
      discrete: windowOf('discrete', discrete?.layout),
      input: windowOf('input', input?.layout),
      holding: windowOf('holding', holding?.layout),
    };
    reportSharedNames(points, registers);
    const source = at.value as DeviceSource;
    const life = lifeOf(parts, points, readFeeds(at, this.#recordings));
    return { name, source, identity, extras, tables, ...compact({ life, real }) };
  }

  *#table(table: TableName, at: At): Work<NativeTable | undefined> {
    if (at.value === undefined) return undefined;
    // The table's name is part of the key, because tables of a device with the same layout share their
    // registers.
    const key = `${table} ${yield* digestOf(at.value)}`;
    const known = this.#tables.get(key);
    if (known) return known;
    const built = yield* readingTable(table, at, this.#recordings);
    if (!built) return undefined;
    const { layout, points } = built;
    const shared = { layout: { ...layout, meta: this.#sharedMeta(layout.meta) }, points };
    this.#tables.set(key, shared);
    return shared;
  }

  /**
   * Shares equal type data. Devices of the same make differ in values, not in types, and each of the 988
   * tables of a full line would take 64 KiB.
   */
  #sharedMeta(meta: Uint8Array): Uint8Array {
    const digest = createHash('sha256').update(meta).digest('base64');
    const known = this.#metas.get(digest) ?? meta;
    this.#metas.set(digest, known);
    return known;
  }

  #refer(name: string, at: At): DeviceDefinition | undefined {
    const parts = at.parts(pymodbusReferenceSchema);
    const identity = readIdentity(at.key('identity'), parts.identity);
    const extras = readExtras(at, parts);
    const { pymodbus, device } = parts;
    if (pymodbus === undefined || device !== at.key('device').value) return undefined;
    const result = this.#pymodbusDevices(pymodbus, device);
    const file = at.key('pymodbus');
    for (const warning of result.warnings) file.warn(warning);
    if (!result.ok) {
      for (const message of result.error) file.wrong(message);
      return undefined;
    }
    const source = at.value as DeviceSource;
    const feeds = readFeeds(at, this.#recordings);
    const life = feeds.length > 0 && { points: [], clock: {}, seed: 0, feeds };
    return { name, source, identity, extras, ...result.registers, ...(life && { life }) };
  }
}

/** The number of values, or of entries, created without a pause. */
const PIECE = 64;

/** Returns a short text that is equal only for equal entries. */
function* digestOf(entries: unknown): Work<string> {
  const hash = createHash('sha256');
  const all = Array.isArray(entries) ? entries : [entries];
  for (let i = 0; i < all.length; i += PIECE) {
    hash.update(
      JSON.stringify(all.slice(i, i + PIECE), (_, each) => (typeof each === 'bigint' ? `${each}n` : each)),
    );
    yield;
  }
  return hash.digest('base64');
}

function windowOf(table: TableName, layout = new LayoutBuilder(0).build()): WindowDefinition {
  const bitsPerCell = table === 'coils' || table === 'discrete' ? 1 : 16;
  return { layout, bitsPerCell, base: 0, size: layout.size, wholeValues: false, countsAsPymodbus: false };
}
