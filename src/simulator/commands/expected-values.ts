import type { At } from '../../common/schema/at.js';
import { MOST_LISTED } from '../../common/schema/findings.js';
import { type Problem, pathText } from '../../common/schema/problem.js';
import type { Device } from '../../device/device.js';
import { notDefined } from '../../device/registers/undefined.js';
import type { TableName } from '../../device/tables.js';
import { type DeviceValue, parseChange, valueAtAddress, viewRegister, viewValue } from './device-value.js';
import type { Refusal } from './refusal.js';
import type { Change } from './schemas/value.js';

/**
 * Reads `expected` of a change: what a client expects to be there before it writes, so that it does not
 * overwrite another client's write. It is a list of registers as clients see them, or a value. Undefined if
 * it is absent, and after reporting a value that can't be there.
 * @returns a function that says what is there instead
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
    // NaN equals NaN here.
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

/** The refusal if the content differs from the expected one, with everything that was found. */
export function unexpected(others: readonly Problem[], targets: readonly DeviceValue[]): Refusal {
  return {
    ok: false,
    code: 'value.not_as_expected',
    problems: others.slice(0, MOST_LISTED).map((each) => ({ ...each, code: 'value.not_as_expected' })),
    more: Math.max(0, others.length - MOST_LISTED),
    found: targets.map(viewRegister),
  };
}
