import type { At } from '../../../common/schema/at.js';
import { sectionOf } from '../../../common/schema/parts.js';
import type { Path } from '../../../common/schema/problem.js';
import type { LineView } from '../../../simulator/commands/schemas/line.js';
import type { ServerSettings } from './server-request.js';

type LineSource = Readonly<Record<string, unknown>>;

/** What a line runs on, which is also the key of its settings. */
export type LineKind = 'serial' | 'tcp' | 'udp' | 'tls';

/** The kind of a line. */
export function kindOf({ settings }: Pick<LineView, 'settings'>): LineKind {
  return (['serial', 'tcp', 'udp', 'tls'] as const).find((kind) => kind in settings) ?? 'serial';
}

/** The paths of settings in a line of the native file, by the flat names of this interface. */
type Paths = ReadonlyMap<string, Path>;

const SERIAL_PATHS: Paths = new Map([
  ['port', ['serial', 'path']],
  ['baudrate', ['serial', 'baudRate']],
  ['bytesize', ['serial', 'dataBits']],
  ['parity', ['serial', 'parity']],
  ['stopbits', ['serial', 'stopBits']],
  ['framer', ['framing']],
  ['turnaround', ['timing', 'turnaround']],
  ['t3_5', ['timing', 't35']],
  ['gap', ['timing', 'gap']],
  ['units', ['units']],
]);

function pathsOf(kind: LineKind): Paths {
  if (kind === 'serial') return SERIAL_PATHS;
  return new Map([
    ['host', [kind, 'host']],
    ['port', [kind, 'port']],
    ['framer', ['framing']],
    ['units', ['units']],
  ]);
}

/** The settings of a line by their flat names; null if a line of its kind does not have the setting. */
export function flatSettings(line: LineView): (field: string) => unknown {
  const paths = pathsOf(kindOf(line));
  const settings: unknown = line.settings;
  return (field) => paths.get(field)?.reduce((at, key) => sectionOf(at, String(key)), settings) ?? null;
}

/** Converts settings to a change of the native line. Reports fields that this line can't have. */
export function nativeChange(line: LineView, settings: ServerSettings, request: At): LineSource {
  const kind = kindOf(line);
  const paths = pathsOf(kind);
  const change: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(settings)) {
    if (value === undefined) continue;
    const [section, key] = (paths.get(field) ?? []) as [section?: string, key?: string];
    const native = nativeValue(kind, request.key(field), value);
    if (section === undefined) {
      const other = kind === 'serial' ? 'with a socket' : 'on a serial port';
      request.key(field).wrong(`only a line ${other} has this`);
    } else if (key === undefined) change[section] = native;
    else change[section] = { ...(change[section] as object | undefined), [key]: native };
  }
  return withoutLeftovers(line, change);
}

/**
 * Removes the settings that only virtual lines or only real ports have, when a line changes from one to the
 * other.
 */
function withoutLeftovers({ settings }: LineView, change: LineSource): LineSource {
  const path = sectionOf(change.serial, 'path');
  if (path === undefined) return change;
  const wasVirtual = sectionOf(settings.serial, 'path') === 'virtual';
  if (wasVirtual === (path === 'virtual')) return change;
  const leftovers = wasVirtual ? { link: null, pacing: null } : { rs485: null, parityMarks: null };
  return { ...change, serial: { ...(change.serial as object), ...leftovers } };
}

/**
 * Converts form text to the value of the native file. Other text is kept, and the file's schema refuses it.
 */
function nativeValue(kind: LineKind, at: At, value: unknown): unknown {
  const [field] = at.path;
  // FramerTLS of pymodbus is its FramerSocket under another name.
  if (field === 'framer' && value === 'tls') {
    if (kind === 'tls') return 'socket';
    at.expected(kind === 'serial' ? 'rtu or ascii' : 'socket, rtu or ascii');
  }
  const isNumber = kind !== 'serial' && typeof value === 'string' && /^\s*\d{1,5}\s*$/.test(value);
  return field === 'port' && isNumber ? Number(value) : value;
}

/** The flat names of settings by their paths in the native line; messages need them. */
export function flatNames(line: LineView): ReadonlyMap<string, string> {
  return new Map(Array.from(pathsOf(kindOf(line)), ([field, path]) => [path.join('.'), field]));
}
