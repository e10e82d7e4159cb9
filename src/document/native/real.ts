import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { compact } from '../../common/compact.js';
import type { At } from '../../common/schema/at.js';
import { flag, oneOf, section, text, wholeNumber } from '../../common/schema/parts.js';
import { type Issue, quote } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';
import { oneOfKeys } from '../../common/schema/written-as.js';
import type {
  DeviceDefinition,
  LineDefinition,
  RealDefinition,
  RealTarget,
  SocketLineDefinition,
} from '../configuration.js';
import { readPort } from './line.js';
import { ABOUT_PORT, serialLineSchema } from './line-schema.js';

/** The longest timeout, in ms: longer than any device takes, but short enough that the line does not seem dead. */
const LONGEST_TIMEOUT = 60_000;

const { path, baudRate, dataBits, parity, stopBits, rs485 } = serialLineSchema.shape.serial.shape;

const targetShape = {
  serial: section({ path, baudRate, dataBits, parity, stopBits, rs485 }, ABOUT_PORT).optional(),
  tcp: section(
    {
      host: text('a host name or an address'),
      port: wholeNumber(1, 65535).default(502),
    },
    { host: 'Its host name or address.', port: 'Its TCP port.' },
  ).optional(),
  framing: oneOf(['rtu', 'ascii', 'socket']).optional(),
};

/** How to reach a server: `real` of a device, without the settings for requests. */
export const realTargetSchema = section(targetShape);

export const realSchema = section(
  {
    ...targetShape,
    unit: wholeNumber(0, 255, 'a unit identifier').optional(),
    timeout: duration(1, LONGEST_TIMEOUT).default(1000),
  },
  {
    serial: 'The serial port of the device.',
    tcp: 'The TCP address of the device.',
    framing: 'Its framing. Default: rtu on a port, socket on TCP.',
    unit: 'Its unit identifier. Default: the unit of the request.',
    timeout: 'The maximum time for a reply, in ms.',
  },
  oneOfKeys('serial', 'tcp'),
);

/** The keys allowed next to `real`. */
export const besideReal = {
  writes: flag.default(false),
  whenSilent: oneOf(['silence', 'exception']).default('silence'),
  fallback: text('the name of a device').optional(),
  pause: duration(0, LONGEST_TIMEOUT).default(0),
  shadow: flag.default(true),
};

/** The keys that need registers of this program. A real device has its own. */
const SIMULATED = ['identity', 'exceptionStatus', 'serverId', 'files', 'queues'];

/**
 * Reads the real device behind the device `device`; undefined if there is none, and after reporting its
 * mistakes.
 * @param written the valid parts of the device's entry
 */
export function readReal(
  device: At,
  written: Partial<z.output<z.ZodObject<typeof besideReal>>> & {
    readonly real?: z.output<typeof realSchema> | undefined;
  },
): RealDefinition | undefined {
  const at = device.key('real');
  if (at.value === undefined) {
    for (const key of Object.keys(besideReal))
      if (device.key(key).value !== undefined) device.key(key).wrong('needs `real`, which is missing');
    return undefined;
  }
  for (const key of SIMULATED)
    if (device.key(key).value !== undefined) device.key(key).wrong('the real device answers this itself');
  const { real, writes, whenSilent, pause, shadow, fallback } = written;
  const target = real && readTarget(at, real);
  if (!target) return undefined;
  const { unit, timeout } = real;
  // Invalid parts have no value here, but then the device is left out.
  const definition = { target, unit, timeout, pause, writes, whenSilent, fallback, shadow };
  return compact(definition) as RealDefinition;
}

/** Reads how to reach a server. Undefined after reporting the mistake. */
export function readTarget(
  at: At,
  { serial, tcp, framing }: z.output<typeof realTargetSchema>,
): RealTarget | undefined {
  if (serial && tcp) return at.wrong('expected one of serial, tcp, got both');
  if (tcp) return { kind: 'tcp', ...tcp, framing: framing ?? 'socket' };
  if (!serial) return at.wrong('expected one of serial, tcp, got neither');
  if (framing === 'socket') return at.key('framing').expected('rtu or ascii on a serial line');
  if (serial.path === 'virtual')
    return at
      .key('serial')
      .key('path')
      .expected('the path of a port: a virtual line has no real device at its other end');
  const port = compact(readPort(at.key('serial'), serial, framing ?? 'rtu'));
  return { kind: 'serial', ...port, framing: framing ?? 'rtu' };
}

/** Returns what is wrong with the real devices of a simulator, each with the path in the entry of its device. */
export function realProblems(
  devices: readonly DeviceDefinition[],
  lines: readonly LineDefinition[],
): { readonly device: string; readonly issue: Issue }[] {
  const byName = new Map(devices.map((each) => [each.name, each]));
  const targets = new Map<string, RealTarget>();
  return devices.flatMap(({ name, real }) => {
    if (!real) return [];
    const { target, fallback } = real;
    const issues: Issue[] = [];
    const wrong = (path: string[], message: string) => issues.push({ path, message });
    const other = fallback === undefined ? undefined : byName.get(fallback);
    if (fallback !== undefined && !other) wrong(['fallback'], `unknown device ${quote(fallback)}`);
    if (other?.real) wrong(['fallback'], `expected a simulated device, but ${fallback} is a real one`);
    const before = targets.get(keyOf(target)) ?? target;
    targets.set(keyOf(target), before);
    if (!isDeepStrictEqual(before, target))
      wrong(['real', target.kind], 'another device has different settings for this port');
    const used =
      target.kind === 'serial' && lines.find((line) => line.kind === 'serial' && isAt(line, target.path));
    if (used) wrong(['real', 'serial', 'path'], `${target.path} is already used by line ${used.name}`);
    if (leadsBackTo(name, target, byName, lines))
      wrong(['real', target.kind], 'leads back to this device: a request would circulate forever');
    return issues.map((issue) => ({ device: name, issue }));
  });
}

/** Returns a key that is equal for devices that share a port or a connection. */
export function keyOf(target: RealTarget): string {
  return target.kind === 'serial' ? target.path : `${target.host.toLowerCase()}:${target.port}`;
}

function isAt(line: Extract<LineDefinition, { kind: 'serial' }>, path: string): boolean {
  return line.path === path || line.link === path;
}

const OWN_HOST = /^(localhost|127(\.\d{1,3}){3}|::1|0\.0\.0\.0|::)$/i;

/** Addresses that mean all addresses of the machine. A connection to one of them uses the loopback. */
const ANY = ['0.0.0.0', '::'];
const LOOPBACK = ['127.0.0.1', '::1'];

/** Reports whether a line accepts connections to `host`, an address or a name of this machine. */
function listensAt({ host, hosts = [host] }: SocketLineDefinition, to: string): boolean {
  const addressesOf = (each: string) =>
    ANY.includes(each) || each.toLowerCase() === 'localhost' ? LOOPBACK : [each];
  const wanted = addressesOf(to);
  return hosts.some((each) => ANY.includes(each) || addressesOf(each).some((at) => wanted.includes(at)));
}

/** Reports whether a request to `target` would come back to device `name` through lines of this program. */
function leadsBackTo(
  name: string,
  target: RealTarget,
  devices: ReadonlyMap<string, DeviceDefinition>,
  lines: readonly LineDefinition[],
  seen: ReadonlySet<string> = new Set(),
): boolean {
  if (target.kind !== 'tcp' || !OWN_HOST.test(target.host) || seen.has(keyOf(target))) return false;
  const line = lines.find(
    (each) => each.kind === 'tcp' && each.port === target.port && listensAt(each, target.host),
  );
  return Array.from(line?.units.values() ?? []).some((each) => {
    const next = devices.get(each)?.real?.target;
    return (
      each === name || (next && leadsBackTo(name, next, devices, lines, new Set([...seen, keyOf(target)])))
    );
  });
}
