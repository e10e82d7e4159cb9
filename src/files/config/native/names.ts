import type { At } from '../../../common/schema/at.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { hasControls, NO_CONTROLS } from '../../../common/schema/parts.js';
import type { LineDefinition, SocketLineDefinition, UnitNames } from '../configuration.js';
import { copySchema, type DeviceNames } from './units.js';

/** Checks the name of a device or a line. The name appears in addresses of REST, in logs and in metrics. */
export function checkName(kind: string, name: string, at: At): void {
  // In an address, the segments `.` and `..` stand for other segments (RFC 3986, 5.2.4).
  const isUsable = /^.{1,64}$/su.test(name) && name !== '.' && name !== '..';
  if (hasControls(name)) at.wrong(NO_CONTROLS);
  // UTF-8 has no form for it, so neither addresses nor files can contain it (RFC 3629, 3).
  else if (/\p{Cs}/u.test(name))
    at.wrong('half a character (an unpaired surrogate) is not allowed in a name');
  else if (!isUsable) at.wrong(`expected a ${kind} name of 1 to 64 characters, not "." or ".."`);
}

/** The longest name, in characters; `names.ts` checks the names of a file. */
const LONGEST_NAME = 64;

const NO_HOSTS = 'expected hosts: each address of a line has a device of its own only where it has several';

/** The name of the copy that stands for a device at an address of a line: `meter@127.1.0.5`. */
export function nameAt(device: string, host: string): string {
  return `${device}@${host}`;
}

/**
 * Reads `each` of a line: the name of the device of which each address has a copy of its own. Undefined when
 * there is none, and after reporting mistakes.
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
    return name.wrong(`its name is too long: ${tooLong} has more than ${LONGEST_NAME} characters`);
  for (const copy of copies) names.copyAt(device, copy);
  return device;
}

/** The units of a line at one of its addresses. */
export function unitsAt(
  { units, each }: Pick<SocketLineDefinition, 'units' | 'each'>,
  host: string,
): UnitNames {
  if (each === undefined) return units;
  return new Map(
    Array.from(units, ([unitId, device]) => [unitId, device === each ? nameAt(device, host) : device]),
  );
}

/** The names of the copies at the addresses of a line; none when all addresses have the same devices. */
export function copiesAt(line: LineDefinition): string[] {
  if (line.kind === 'serial') return [];
  const { each, hosts = [] } = line;
  return each === undefined ? [] : hosts.map((host) => nameAt(each, host));
}

/** The names of all devices that a line needs: those of its units, and the copies at each address. */
export function devicesOf(line: LineDefinition): string[] {
  return [...line.units.values(), ...copiesAt(line)];
}
