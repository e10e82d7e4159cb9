import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { hasControls, isMapping, NO_CONTROLS, readApart, section, text } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import { documentAs, having } from '../../common/schema/written-as.js';
import { HIGHEST_UNIT } from '../../modbus/protocol/limits.js';
import type { LineDefinition, LineSource, SocketLineDefinition, UnitNames } from '../configuration.js';
import { valueForm } from './entry-schema.js';

/** The names that units may use for devices, and the copies that units request: `meter-17` is a copy of `meter`. */
export class DeviceNames {
  readonly names: readonly string[];
  /** The source of each copy, by the name of the copy. */
  readonly copies = new Map<string, string>();
  /** The copies with values of their own, which are separate devices, by name. */
  readonly valued = new Map<string, ValuedCopy>();
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.names = names;
    this.#names = new Set(names);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /**
   * Names the copy of device `name` for a unit. The copy has its own registers and is the same on every line
   * that requests it. If a device already has that name, it is used instead.
   * @param values the values of the copy that differ from those of the device
   */
  copy(name: string, unit: number, values: At): string {
    const copy = `${name}-${unit}`;
    if (this.has(copy)) return copy;
    const before = this.valued.get(copy);
    const isNew = before === undefined && !this.copies.has(copy);
    if (!isNew && !isDeepStrictEqual(before?.values.value, values.value))
      values.wrong(`${copy} has different values on another line`);
    else if (values.value === undefined) this.copies.set(copy, name);
    else if (isNew) this.valued.set(copy, { source: name, unit, values });
    return copy;
  }

  /** Returns the device that a copy was made of; undefined for a device that is not a copy. */
  sourceOf(copy: string): string | undefined {
    return this.copies.get(copy) ?? this.valued.get(copy)?.source;
  }

  /**
   * Adds a copy of device `name` for an address of a line. If a device already has the name of the copy, it
   * is used instead.
   */
  copyAt(name: string, copy: string): void {
    if (!this.has(copy)) this.copies.set(copy, name);
  }
}

interface ValuedCopy {
  readonly source: string;
  readonly unit: number;
  /** Values by name; `{unit}` in a text stands for the unit identifier. */
  readonly values: At;
}

const UNIT_TEXT = /^(?:0|[1-9]\d{0,2})$/;
const RANGE_TEXT = /^(\d{1,3})-(\d{1,3})$/;

/** Units with this value each get a copy of the device; with a plain name, they share its registers. */
export const copySchema = section(
  { copyOf: text('the name of a device') },
  { copyOf: 'The device that each of these units gets a copy of.' },
);

const valuesSchema = z.record(z.string(), z.unknown(), { error: 'values by name' });
documentAs(valuesSchema, () => z.record(z.string(), valueForm));

/** The same for units, whose copies may have values of their own. */
const unitCopySchema = section(
  {
    copyOf: copySchema.shape.copyOf,
    values: valuesSchema.optional(),
  },
  {
    copyOf: 'The device that each of these units gets a copy of.',
    values: 'Values of the copies by name; `{unit}` in a text is the unit identifier.',
  },
);

/**
 * Unit identifiers. Serial lines have 1 to 247: 0 is the broadcast address, and those above are reserved
 * (Serial Line V1.02, 2.2). Sockets also have the others.
 */
const SERIAL_UNIT = '(24[0-7]|2[0-3]\\d|1\\d\\d|[1-9]\\d?)';
const SOCKET_UNIT = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';

const unitForm = z.union([z.string().describe('The name of a device.'), unitCopySchema]);

const unitsForm = (unit: string) =>
  having(z.record(z.string().regex(new RegExp(`^(\\*|${unit}(-${unit})?)$`)), unitForm), {
    examples: [{ 1: 'meter' }],
  });

/** The key `units` of a serial line, and of a socket. `readUnits` reads it. */
export const serialUnitsSchema = readApart(() => unitsForm(SERIAL_UNIT));
export const socketUnitsSchema = readApart(() => unitsForm(SOCKET_UNIT));

const NO_COPIES =
  'expected the name of a device; copies are for units that are listed, such as 1-247: {copyOf: meter}';

/**
 * Reads `units` of a line: `{1: meter, 2-9: meter, 10-247: {copyOf: meter}, "*": other}`. A range stands for
 * each of its unit identifiers. A single unit identifier takes precedence over a range.
 */
export function readUnits(at: At, isSocket: boolean, devices: DeviceNames): UnitNames {
  const single = new Map<number | '*', string>();
  const ranged = new Map<number | '*', string>();
  const entries = at.entries('unit identifiers with the names of their devices, such as {1: meter}');
  for (const [key, content] of entries ?? []) {
    const units = unitsOf(key, isSocket);
    if (units.length === 0) {
      const expected = `a unit identifier from ${isSocket ? '0 to 255' : '1 to 247'}, a range or *`;
      const isBroadcast = !isSocket && /^0(?:-|$)/.test(key);
      content.wrong(
        `${isBroadcast ? '0 is the broadcast address, which no device answers: ' : ''}${expectedMessage(expected, key)}`,
      );
    }
    const device = readDevice(content, devices);
    if (!device) continue;
    const known = units.length > 1 ? ranged : single;
    const twice = units.find((unit) => known.has(unit));
    if (twice !== undefined) content.wrong(`unit identifier ${twice} is already in another entry`);
    for (const unit of units) {
      if (unit !== '*')
        known.set(unit, device.values ? devices.copy(device.name, unit, device.values) : device.name);
      else if (device.values) content.wrong(NO_COPIES);
      else known.set(unit, device.name);
    }
  }
  return new Map([...ranged, ...single]);
}

function readDevice(
  content: At,
  devices: DeviceNames,
): { readonly name: string; readonly values?: At } | undefined {
  const copy = typeof content.value === 'object' && content.value !== null;
  if (copy && !content.check(unitCopySchema)) return undefined;
  const at = copy ? content.key('copyOf') : content;
  const name = at.value;
  if (typeof name !== 'string') return at.expected('the name of a device');
  if (!devices.has(name)) return at.wrong(unknownName('device', name, devices.names));
  return { name, ...(copy && { values: content.key('values') }) };
}

/**
 * Returns the unit identifiers in a key. RTU and ASCII allow 1 to 247 (Serial Line V1.02, 2.2). With MBAP, 0
 * and 255 address the server itself, and values above 247 are in use.
 */
function unitsOf(key: string, isSocket: boolean): (number | '*')[] {
  if (key === '*') return ['*'];
  const range = RANGE_TEXT.exec(key);
  if (!range && !UNIT_TEXT.test(key)) return [];
  const [from, to] = range ? [Number(range[1]), Number(range[2])] : [Number(key), Number(key)];
  const [first, last] = isSocket ? [0, 255] : [1, HIGHEST_UNIT];
  if (from < first || to > last || from > to) return [];
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Checks the name of a device or a line. The name appears in REST URLs, in logs and in metrics. */
export function checkName(kind: string, name: string, at: At): void {
  // In a URL, the segments `.` and `..` refer to other segments (RFC 3986, 5.2.4).
  const isUsable = /^.{1,64}$/su.test(name) && name !== '.' && name !== '..';
  if (hasControls(name)) at.wrong(NO_CONTROLS);
  // UTF-8 can't encode it, so neither URLs nor files can contain it (RFC 3629, 3).
  else if (/\p{Cs}/u.test(name))
    at.wrong('half a character (an unpaired surrogate) is not allowed in a name');
  else if (!isUsable) at.wrong(`expected a ${kind} name of 1 to 64 characters, not "." or ".."`);
}

/** The longest name, in characters; `checkName` checks the names in a file. */
export const LONGEST_NAME = 64;

const NO_HOSTS = 'expected hosts: a line needs several addresses before each can have its own device';

/** Returns the name of the copy of a device at one address of a line: `meter@127.1.0.5`. */
export function nameAt(device: string, host: string): string {
  return `${device}@${host}`;
}

/**
 * Reads `each` of a line: the name of the device of which each address has its own copy. Undefined if there
 * is none, and after reporting mistakes.
 */
export function readEach(
  at: At,
  units: UnitNames,
  hosts: readonly string[] | undefined,
  names: DeviceNames,
): string | undefined {
  if (at.value === undefined) return undefined;
  if (hosts === undefined) return at.wrong(NO_HOSTS);
  const device = at.check(copySchema)?.copyOf;
  if (device === undefined) return undefined;
  const name = at.key('copyOf');
  if (!names.has(device)) return name.wrong(unknownName('device', device, names.names));
  if (![...units.values()].includes(device)) return name.wrong(`no unit of the line has device ${device}`);
  const copies = hosts.map((host) => nameAt(device, host));
  const tooLong = copies.find(({ length }) => length > LONGEST_NAME);
  if (tooLong !== undefined)
    return name.wrong(`the name of a copy is too long: ${tooLong} has more than ${LONGEST_NAME} characters`);
  for (const copy of copies) names.copyAt(device, copy);
  return device;
}

/** Returns the units of a line at one of its addresses. */
export function unitsAt(
  { units, each }: Pick<SocketLineDefinition, 'units' | 'each'>,
  host: string,
): UnitNames {
  if (each === undefined) return units;
  return new Map(
    Array.from(units, ([unitId, device]) => [unitId, device === each ? nameAt(device, host) : device]),
  );
}

/** Returns the names of the copies at the addresses of a line; none if all addresses have the same devices. */
export function copiesAt(line: LineDefinition): string[] {
  if (line.kind === 'serial') return [];
  const { each, hosts = [] } = line;
  return each === undefined ? [] : hosts.map((host) => nameAt(each, host));
}

/** Returns the devices named in the entry of a line, directly or as the source of copies. */
export function devicesNamedIn({ units, each }: LineSource): string[] {
  return [...Object.values(isMapping(units) ? units : {}), each].flatMap((device) => {
    const name = isMapping(device) ? device.copyOf : device;
    return typeof name === 'string' ? [name] : [];
  });
}

/** Returns the copies that the entry of a line creates, each with its source. */
export function copiesMadeBy(line: LineDefinition): ReadonlyMap<string, string> {
  const { units } = line.source;
  const copies = Object.entries(isMapping(units) ? units : {}).flatMap(([key, device]) => {
    if (!isMapping(device)) return [];
    const { copyOf } = device as z.output<typeof unitCopySchema>;
    return unitsOf(key, true).map((unit) => [`${copyOf}-${unit}`, copyOf] as const);
  });
  const each = line.kind === 'serial' ? undefined : line.each;
  return new Map([...copies, ...copiesAt(line).map((copy) => [copy, each ?? ''] as const)]);
}

/**
 * Returns the names of all devices that a line needs: those of its units and its entry, and the copies at
 * each address.
 */
export function devicesOf(line: LineDefinition): string[] {
  return [...line.units.values(), ...copiesAt(line), ...devicesNamedIn(line.source)];
}
