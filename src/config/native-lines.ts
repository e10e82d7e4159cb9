import { unknownName } from '../schema/nearest.js';
import { check, namedEntries, sectionOf } from '../schema/parts.js';
import { describeFound, expectedMessage, type Issue, type Path } from '../schema/problem.js';
import { compact } from './compact.js';
import type { LineDefinition, SerialLineDefinition, TcpLineDefinition, Units } from './configuration.js';
import { serialLineSchema, tcpLineSchema } from './native-schema.js';

/** Builds one line; undefined after telling its mistakes. `devices` are the names that units may have. */
export function nativeLine(
  name: string,
  value: unknown,
  devices: readonly string[],
  path: Path,
  issues: Issue[],
): LineDefinition | undefined {
  const isSerial = sectionOf(value, 'serial') !== undefined;
  const isTcp = sectionOf(value, 'tcp') !== undefined;
  if (isSerial === isTcp) {
    const found = isSerial ? 'both' : describeFound(value);
    issues.push({ path, message: `expected either serial or tcp, got ${found}` });
    return undefined;
  }
  const units = readUnits(sectionOf(value, 'units'), isTcp, devices, [...path, 'units'], issues);
  return isSerial ? serialLine(name, value, units, path, issues) : tcpLine(name, value, units, path, issues);
}

function serialLine(
  name: string,
  value: unknown,
  units: Units,
  path: Path,
  issues: Issue[],
): SerialLineDefinition | undefined {
  const parsed = check(serialLineSchema, value, path, issues);
  if (!parsed) return undefined;
  const { path: port, pacing, ...settings } = parsed.serial;
  const timing = { turnaround: 't3.5' as const, ...parsed.timing };
  if (port !== 'virtual') {
    for (const key of ['link', 'pacing'] as const) {
      if (parsed.serial[key] === undefined) continue;
      issues.push({ path: [...path, 'serial', key], message: 'only a line with path virtual can have this' });
    }
  }
  if (pacing?.latency !== undefined && pacing.chunk !== 'usb') {
    issues.push({ path: [...path, 'serial', 'pacing', 'latency'], message: 'only chunk usb has a latency' });
  }
  return compact({
    kind: 'serial' as const,
    name,
    path: port,
    ...settings,
    timing: compact(timing),
    whenBusy: parsed.whenBusy,
    pacing: pacing && compact(pacing),
    units,
  });
}

function tcpLine(
  name: string,
  value: unknown,
  units: Units,
  path: Path,
  issues: Issue[],
): TcpLineDefinition | undefined {
  const parsed = check(tcpLineSchema, value, path, issues);
  if (!parsed) return undefined;
  return { kind: 'tcp', name, ...parsed.tcp, units, missingUnit: parsed.missingUnit };
}

const UNIT_TEXT = /^(0|[1-9]\d{0,2})$/;

function readUnits(
  value: unknown,
  isTcp: boolean,
  devices: readonly string[],
  path: Path,
  issues: Issue[],
): Units {
  const units = new Map<number | '*', string>();
  const expected = 'unit identifiers with the names of their devices, such as {1: meter}';
  for (const [key, device] of namedEntries(value, expected, path, issues) ?? []) {
    const unit = unitOf(key, isTcp);
    if (unit === undefined) {
      const range = isTcp ? '0 to 255' : '1 to 247';
      issues.push({
        path: [...path, key],
        message: expectedMessage(`a unit identifier from ${range} or *`, key),
      });
    }
    if (typeof device !== 'string') {
      issues.push({ path: [...path, key], message: expectedMessage('the name of a device', device) });
    } else if (!devices.includes(device)) {
      issues.push({ path: [...path, key], message: unknownName('device', device, devices) });
    }
    if (unit !== undefined && typeof device === 'string') units.set(unit, device);
  }
  return units;
}

/** Serial lines know 1 to 247 (Serial Line V1.02, 2.2); over TCP 0 and 255 name the server itself, and some use more. */
function unitOf(key: string, isTcp: boolean): number | '*' | undefined {
  if (key === '*') return '*';
  if (!UNIT_TEXT.test(key)) return undefined;
  const unit = Number(key);
  const [first, last] = isTcp ? [0, 255] : [1, 247];
  return unit >= first && unit <= last ? unit : undefined;
}
