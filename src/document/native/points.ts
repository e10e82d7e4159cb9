import { compact } from '../../common/compact.js';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { isMapping } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import { isOpen, scheduleSchema } from '../../device/faults/condition.js';
import type { PlacedSignal, PointDefinition } from '../../device/point.js';
import { REACTIONS, readReactions } from '../../device/reactions/kinds.js';
import { CELLS_PER_VALUE, type ValueType } from '../../device/registers/cell-type.js';
import {
  type BitNames,
  integerRange,
  parseValue,
  usualSentinel,
  type Value,
  withoutSentinel,
} from '../../device/registers/value.js';
import { signalSchema } from '../../device/signals/kinds.js';
import type { TableName } from '../../device/tables.js';
import type { PlacedValues } from '../place-values.js';
import type { OpenRecording } from '../recording-file.js';
import { LABELLED, NAME, NAME_TEXT, type RegisterEntry } from './entry-schema.js';

/** The keys of an entry that give a value a meaning or make it change. */
export const POINT_KEYS: readonly string[] = [
  'name',
  'unit',
  'scale',
  'description',
  'labels',
  'bits',
  'retain',
  'available',
  'unavailable',
  'notAvailable',
  'stale',
  'signal',
  'follows',
  ...REACTIONS,
];

/** An entry of a table, and what it defines. */
export interface PlacedEntry extends PlacedValues {
  /** Its valid keys. */
  readonly written: Partial<RegisterEntry>;
}

const MOVERS = ['signal', 'follows', 'action'] as const;

/** Returns the values of an entry that have a name, a signal or reactions. The entry itself was already checked. */
export function* pointsOf(
  table: TableName,
  entry: PlacedEntry,
  recordings: OpenRecording,
): Generator<PointDefinition> {
  const { at, type, cells, first, last } = entry;
  const { value } = at;
  if (!isMapping(value) || !POINT_KEYS.some((key) => value[key] !== undefined)) return;
  const quantity = (last - first + 1) / cells;
  if (value.name !== undefined && quantity > 1) {
    at.key('name').wrong(`expected no name for ${quantity} values: only a single value can have a name`);
  }
  if (type === 'string' && value.scale !== undefined) at.key('scale').wrong("text can't have a scale");
  const movedBy = MOVERS.filter((key) => value[key] !== undefined);
  const [mover] = movedBy;
  if (mover && movedBy.length > 1)
    at.key(mover).wrong('a register can have only one of action, signal and follows');
  const signal = readEntrySignal(entry, recordings);
  const labels = value.labels === undefined ? undefined : readLabels(at.key('labels'));
  const bits = value.bits === undefined ? undefined : readBits(at.key('bits'), type);
  const { name, unit, scale = 1, description, retain = false, stale } = entry.written;
  const { writable = false } = entry;
  const availability = readAvailability(entry);
  if (signal) reportStale(signal, at.key('signal'), { type, notAvailable: availability.notAvailable });
  hintAtValue(entry, scale);
  hintAtLimits(entry, scale);
  const reactions = readReactions(at, { table, type, scale, writable, movedBy: mover });
  const shared = {
    ...{ table, cells, type, scale, retain },
    ...compact({ name, unit, description, labels, bits, signal, stale }),
    ...availability,
    ...(reactions.length > 0 && { reactions }),
  };
  for (let i = 0; i < quantity; i++) yield { ...shared, address: first + i * cells };
}

/** Reads when a value is not available, and what clients then read. */
function readAvailability({ at, type, cells, written }: PlacedEntry) {
  const sentinel = at.key('notAvailable');
  const notAvailable = readValue(type, sentinel, written.scale, cells);
  const available = at.key('available');
  const unavailable = at.key('unavailable');
  const windows = unavailable.value === undefined ? undefined : unavailable.check(scheduleSchema);
  const isAtFirst = available.value === undefined || available.value === true;
  const away = isAtFirst ? windows && unavailable : available;
  if (available.value === 'whenWritten' && at.key('name').value === undefined)
    available.wrong('whenWritten needs a single value with a name');
  if (sentinel.value === undefined) {
    if (usualSentinel(type) === undefined) away?.wrong(withoutSentinel(type));
  } else if (!away && at.key('name').value === undefined) {
    sentinel.warn(
      'has no effect: the value is never unavailable. Add `unavailable`, or a `name` so that REST can make it unavailable',
    );
  }
  return {
    ...(!isAtFirst && { available: false, ...(available.value === 'whenWritten' && { appears: true }) }),
    ...(windows && { isAway: (time: number) => windows.some((window) => isOpen(window, time)) }),
    ...(notAvailable !== undefined && { notAvailable }),
  };
}

/** Reports a signal that may make a value unavailable if clients have no way to see that. */
export function reportStale(
  { definition: { kind, goesStale } }: PlacedSignal,
  at: At,
  { type, notAvailable }: { readonly type: ValueType; readonly notAvailable?: Value | undefined },
): void {
  if (!goesStale || notAvailable !== undefined || usualSentinel(type) !== undefined) return;
  at.key(kind).key('stale').wrong(withoutSentinel(type));
}

/** Reads a value at `at` in its stored form; undefined if there is none, and after reporting a mistake. */
export function readValue(type: ValueType, at: At, scale: unknown, cells: number): Value | undefined {
  if (at.value === undefined) return undefined;
  const parsed = parseValue(type, at.value, cells);
  if (parsed.ok) return parsed.value;
  const isRaw = scale === undefined ? '' : `, the stored number before the scale of ${scale}`;
  return at.expected(`${parsed.error}${isRaw}`);
}

/** Warns about a value that has no effect, or that no client could write. */
function hintAtValue({ at, values }: PlacedValues, scale: number): void {
  const value = at.key('value');
  if (value.value === undefined) return;
  if (at.key('signal').value !== undefined) value.warn('has no effect, because a signal sets the value');
  const bound = (key: 'min' | 'max', none: number) => {
    const { value } = at.key('limits').key(key);
    return typeof value === 'number' ? value : none;
  };
  const [min, max] = [bound('min', Number.NEGATIVE_INFINITY), bound('max', Number.POSITIVE_INFINITY)];
  const outside = values.map((value) => Number(value) * scale).find((value) => value < min || value > max);
  if (outside !== undefined) value.warn(`${outside} is outside the limits, ${rangeText(min, max)}`);
}

/** Warns about limits beyond the range of the type: the type then decides, and the limit is a mistake. */
function hintAtLimits({ at, type }: PlacedEntry, scale: number): void {
  const range = integerRange(type)?.map((end) => Number((Number(end) * scale).toPrecision(12)));
  if (!range || scale <= 0) return;
  const [least = 0, most = 0] = range;
  for (const key of ['min', 'max'] as const) {
    const limit = at.key('limits').key(key);
    if (typeof limit.value !== 'number' || (limit.value >= least && limit.value <= most)) continue;
    limit.warn(`${limit.value} is outside the range of ${type}, ${rangeText(least, most)}`);
  }
}

/** Returns the text of a range: `10 to 20`, `at least 10`, `at most 20`. */
function rangeText(min: number, max: number): string {
  if (min === Number.NEGATIVE_INFINITY) return `at most ${max}`;
  return max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`;
}

function readEntrySignal(
  { at, type, written: { seed } }: PlacedEntry,
  recordings: OpenRecording,
): PlacedSignal | undefined {
  const entry = at.key('signal');
  const follows = at.key('follows');
  if (follows.value !== undefined) return readFollows(follows, type, recordings);
  if (entry.value === undefined) return undefined;
  const signal = readSignal(entry, type, recordings);
  return signal && (seed === undefined ? signal : { ...signal, seed });
}

/**
 * Reads `follows` of an entry, a short form of a signal of this kind. Mistakes are reported at the path of
 * `follows`.
 */
function readFollows(at: At, type: ValueType, recordings: OpenRecording): PlacedSignal | undefined {
  const entry = new At({ follows: at.value }, fileFindings());
  const signal = readSignal(entry, type, recordings);
  for (const { path, message } of entry.findings.listed) at.below(path.slice(1)).wrong(message);
  return signal;
}

/** Reads the signal at `at`, for a register of this type; undefined after reporting mistakes. */
export function readSignal(at: At, type: ValueType, recordings: OpenRecording): PlacedSignal | undefined {
  const definition = at.check(signalSchema);
  if (!definition) return undefined;
  const { kind, fits, plays } = definition;
  if (type === 'string') return at.wrong("text can't have a signal");
  if (type === 'bit' && fits === 'numbers') return at.key(kind).wrong(`${kind} is for numbers, not for bits`);
  if (!plays) return { definition };
  const opened = recordings(plays);
  return opened.ok ? { definition, openTrack: opened.value } : at.key(kind).wrong(opened.error);
}

/** Reads the names of bits. Only whole numbers have them: their bits are the same on the wire. */
function readBits(at: At, type: ValueType): BitNames | undefined {
  const range = integerRange(type);
  if (type === 'bit' || !range)
    return at.wrong(`only types of whole numbers can have bit names, not ${type}`);
  const most = 16 * CELLS_PER_VALUE[type as Exclude<ValueType, 'string'>] - 1;
  const names = new Map<string, number>();
  for (const [key, content] of at.entries('names by bit number, such as {0: running}') ?? []) {
    const { value: name } = content;
    if (!/^\d{1,2}$/.test(key) || Number(key) > most)
      content.wrong(expectedMessage(`a bit from 0 to ${most}`, key));
    else if (typeof name !== 'string' || !NAME.test(name)) content.expected(NAME_TEXT);
    else if (names.has(name)) content.wrong(`bit ${names.get(name)} already has the name ${name}`);
    else names.set(name, Number(key));
  }
  return Array.from(names, ([name, bit]) => [bit, name] as const);
}

function readLabels(at: At): ReadonlyMap<number, string> {
  const labels = new Map<number, string>();
  for (const [key, content] of at.entries('labels by raw value, such as {0: off, 1: on}') ?? []) {
    if (!LABELLED.test(key)) content.wrong('expected a whole number as the key of a label');
    if (typeof content.value === 'string') labels.set(Number(key), content.value);
    else content.expected('text');
  }
  return labels;
}
