import { unknownName } from '../../schema/nearest.js';
import { check, namedEntries, section, text } from '../../schema/parts.js';
import { expectedMessage, type Issue, type Path } from '../../schema/problem.js';
import type { UnitNames } from '../configuration.js';

/** Names that units may have for their devices, and the copies that units ask for: `meter-17` is one of `meter`. */
export class DeviceNames {
  readonly names: readonly string[];
  /** Source of each copy by the name of the copy. */
  readonly copies = new Map<string, string>();

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** A device like `name` with registers of its own; the same one wherever it is asked for. */
  copy(name: string, unit: number): string {
    const copy = `${name}-${unit}`;
    this.copies.set(copy, name);
    return copy;
  }
}

const UNIT_TEXT = /^(?:0|[1-9]\d{0,2})$/;
const RANGE_TEXT = /^(\d{1,3})-(\d{1,3})$/;

/** Either all units share the registers of a device, or each gets a copy of it. */
const copySchema = section({ copyOf: text('the name of a device') });

const NO_COPIES =
  'expected the name of a device; copies are for units that are listed, such as 1-247: {copyOf: meter}';

/**
 * `units` of a line: `{1: meter, 2-9: meter, 10-247: {copyOf: meter}, "*": other}`. A range stands for each of its
 * unit identifiers; what is listed alone goes before a range.
 */
export function readUnits(
  value: unknown,
  isSocket: boolean,
  devices: DeviceNames,
  path: Path,
  issues: Issue[],
): UnitNames {
  const expected = 'unit identifiers with the names of their devices, such as {1: meter}';
  const single = new Map<number | '*', string>();
  const ranged = new Map<number | '*', string>();
  for (const [key, content] of namedEntries(value, expected, path, issues) ?? []) {
    const place = [...path, key];
    const units = unitsOf(key, isSocket);
    if (units.length === 0) {
      const allowed = isSocket ? '0 to 255' : '1 to 247';
      issues.push({
        path: place,
        message: expectedMessage(`a unit identifier from ${allowed}, a range or *`, key),
      });
    }
    const device = readDevice(content, devices, place, issues);
    if (!device) continue;
    const known = units.length > 1 ? ranged : single;
    const twice = units.find((unit) => known.has(unit));
    if (twice !== undefined) {
      issues.push({ path: place, message: `unit identifier ${twice} is in another entry already` });
    }
    for (const unit of units) {
      if (unit !== '*') known.set(unit, device.copy ? devices.copy(device.name, unit) : device.name);
      else if (device.copy) issues.push({ path: place, message: NO_COPIES });
      else known.set(unit, device.name);
    }
  }
  return new Map([...ranged, ...single]);
}

function readDevice(
  content: unknown,
  { names }: DeviceNames,
  path: Path,
  issues: Issue[],
): { readonly name: string; readonly copy: boolean } | undefined {
  const isCopy = typeof content === 'object' && content !== null;
  const name = isCopy ? check(copySchema, content, path, issues)?.copyOf : content;
  if (isCopy && name === undefined) return undefined;
  const place = isCopy ? [...path, 'copyOf'] : path;
  if (typeof name !== 'string') {
    issues.push({ path: place, message: expectedMessage('the name of a device', name) });
  } else if (!names.includes(name)) {
    issues.push({ path: place, message: unknownName('device', name, names) });
  } else {
    return { name, copy: isCopy };
  }
  return undefined;
}

/** RTU and ASCII know 1 to 247 (Serial Line V1.02, 2.2); with MBAP 0 and 255 name the server itself, and some use more. */
function unitsOf(key: string, isSocket: boolean): (number | '*')[] {
  if (key === '*') return ['*'];
  const range = RANGE_TEXT.exec(key);
  if (!range && !UNIT_TEXT.test(key)) return [];
  const [from, to] = range ? [Number(range[1]), Number(range[2])] : [Number(key), Number(key)];
  const [first, last] = isSocket ? [0, 255] : [1, 247];
  if (from < first || to > last || from > to) return [];
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
