import type { DeviceView } from '../../simulator/commands/schemas/device.js';
import type { RegisterView, Words } from '../../simulator/commands/schemas/value.js';

/** The registers of a run, for its page. */
export interface RecordedRegisters {
  readonly devices: readonly RecordedDevice[];
  /** The devices that the page does not show, and why: one sentence each. */
  readonly missing: readonly string[];
}

/** The registers of a device, from the end of a run back to the earliest time that is known. */
export interface RecordedDevice {
  readonly device: DeviceView;
  /** Newest first, and never empty. Each state lasts from its time to the time of the previous entry. */
  readonly states: readonly RecordedState[];
}

export interface RecordedState {
  /** ISO 8601, UTC, with µs, so that times can be compared as text. */
  readonly at: string;
  /** If registers were written at that time: the words that this write replaced. */
  readonly replaced?: readonly (readonly [table: string, address: number, word: number])[];
  /** The `RecordedTables`; for all entries but the first, how they differ from the previous entry. */
  readonly registers: unknown;
}

/** The registers of a device by table and address. */
export type RecordedTables = Record<string, RecordedTable>;

export interface RecordedTable {
  readonly bits: Words['bits'];
  readonly words: Record<string, number | null>;
  /** The characters of `access` in `Words`. */
  readonly access: Record<string, string>;
  /** Values with a name, a signal or an action, or of several registers. Null at times when it is not known. */
  readonly values: Record<string, RecordedValue | null>;
}

/** A value without its counters, which are not known for an earlier time. */
export type RecordedValue = Omit<RegisterView, 'reads' | 'writes' | 'lastWriter' | 'saturated'>;

/** What `merge` needs to turn one value into another; undefined if they are equal. A missing key becomes null. */
export function differenceOf(from: unknown, to: unknown): unknown {
  if (from === to) return undefined;
  if (!isObject(from) || !isObject(to))
    return from !== undefined && JSON.stringify(from) === JSON.stringify(to) ? undefined : (to ?? null);
  const changed: [string, unknown][] = [];
  for (const key of Object.keys(to)) {
    const difference = differenceOf(from[key], to[key]);
    if (difference !== undefined) changed.push([key, difference]);
  }
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) changed.push([key, null]);
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

/** Changes an object by a difference. The difference comes from a file, so it may have any keys. */
export function merge(target: Record<string, unknown>, difference: unknown): void {
  if (!isObject(difference)) return;
  for (const [key, value] of Object.entries(difference)) {
    const old = memberOf(target, key);
    // A copy of an object, so that later differences do not change this one.
    const inner = isObject(old) ? old : {};
    target[key] = isObject(value) ? inner : value;
    merge(inner, value);
  }
}

/** A member of an object that comes from a file. Its keys, or the key wanted, may be `constructor`. */
export function memberOf<Member>(object: Readonly<Record<string, Member>>, key: string): Member | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
