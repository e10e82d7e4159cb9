import { t35 } from '../protocol/timing.js';
import { check, sectionOf } from '../schema/parts.js';
import { describeFound, expectedMessage, type Issue, type Path } from '../schema/problem.js';
import { compact } from './compact.js';
import type { LineDefinition, SerialLineDefinition, TcpLineDefinition, Units } from './configuration.js';
import { serialLineSchema, tcpLineSchema } from './native-schema.js';
import { type DeviceNames, readUnits } from './native-units.js';

/** Builds one line; undefined after telling its mistakes. `devices` knows the names that units may have, and takes the copies they ask for. */
export function nativeLine(
  name: string,
  value: unknown,
  devices: DeviceNames,
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
  const shortest = shortestGap(timing.t35 ?? t35(settings.baudRate));
  if (timing.gap !== undefined && timing.gap < shortest) {
    const message = expectedMessage(`at least t3.5, ${shortest} ms`, timing.gap);
    issues.push({ path: [...path, 'timing', 'gap'], message });
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

/** t3.5 as messages tell it, in hundredths of a ms: whoever writes down what they were told is right. */
function shortestGap(t35: number): number {
  return Math.floor(100 * t35) / 100;
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
