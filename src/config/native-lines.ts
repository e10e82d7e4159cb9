import { resolve } from 'node:path';
import { t35 } from '../protocol/timing.js';
import { check, isMapping, sectionOf } from '../schema/parts.js';
import { describeFound, expectedMessage, type Issue, type Path } from '../schema/problem.js';
import { compact } from './compact.js';
import type {
  LineDefinition,
  Rs485Definition,
  SerialLineDefinition,
  SocketLineDefinition,
  UnitNames,
} from './configuration.js';
import { serialLineSchema, tcpLineSchema, tlsLineSchema, udpLineSchema } from './native-schema.js';
import { type DeviceNames, readUnits } from './native-units.js';

/** What a line may refer to. */
export interface LineContext {
  /** Knows the names that units may have, and takes the copies they ask for. */
  readonly devices: DeviceNames;
  /** Where relative paths of files begin. */
  readonly directory: string;
}

const TRANSPORTS = ['serial', 'tcp', 'udp', 'tls'] as const;

function whatInstead(value: unknown): string {
  return isMapping(value) ? 'none of them' : describeFound(value);
}

/** Builds one line; undefined after telling its mistakes. */
export function nativeLine(
  name: string,
  value: unknown,
  { devices, directory }: LineContext,
  path: Path,
  issues: Issue[],
): LineDefinition | undefined {
  const [transport, ...others] = TRANSPORTS.filter((key) => sectionOf(value, key) !== undefined);
  if (transport === undefined || others.length > 0) {
    const found = transport ? [transport, ...others].join(' and ') : whatInstead(value);
    issues.push({ path, message: `expected one of ${TRANSPORTS.join(', ')}, got ${found}` });
    return undefined;
  }
  const framing = sectionOf(value, 'framing') ?? (transport === 'serial' ? 'rtu' : 'socket');
  const units = readUnits(
    sectionOf(value, 'units'),
    framing === 'socket',
    devices,
    [...path, 'units'],
    issues,
  );
  return transport === 'serial'
    ? serialLine(name, value, units, path, issues)
    : socketLine(name, transport, value, { units, directory }, path, issues);
}

function serialLine(
  name: string,
  value: unknown,
  units: UnitNames,
  path: Path,
  issues: Issue[],
): SerialLineDefinition | undefined {
  const parsed = check(serialLineSchema, value, path, issues);
  if (!parsed) return undefined;
  const { framing, whenBusy, echo } = parsed;
  const { path: port, pacing, rs485, dataBits = framing === 'ascii' ? 7 : 8, ...settings } = parsed.serial;
  const timing = { turnaround: 't3.5' as const, ...parsed.timing };
  if (framing === 'rtu' && dataBits !== 8) {
    issues.push({
      path: [...path, 'serial', 'dataBits'],
      message: expectedMessage('8 (7 is for framing ascii)', 7),
    });
  }
  const [only, keys] =
    port === 'virtual'
      ? (['a real port', ['rs485', 'parityMarks']] as const)
      : (['a line with path virtual', ['link', 'pacing']] as const);
  for (const key of keys) {
    if (parsed.serial[key] === undefined) continue;
    issues.push({ path: [...path, 'serial', key], message: `only ${only} can have this` });
  }
  if (pacing?.latency !== undefined && pacing.chunk !== 'usb') {
    issues.push({ path: [...path, 'serial', 'pacing', 'latency'], message: 'only chunk usb has a latency' });
  }
  if (rs485?.mode === 'kernel') kernelDelays(rs485, [...path, 'serial', 'rs485'], issues);
  const shortest = shortestGap(timing.t35 ?? t35(settings.baudRate));
  if (timing.gap !== undefined && timing.gap < shortest) {
    const message = expectedMessage(`at least t3.5, ${shortest} ms`, timing.gap);
    issues.push({ path: [...path, 'timing', 'gap'], message });
  }
  return compact({
    kind: 'serial' as const,
    name,
    framing,
    path: port,
    ...settings,
    dataBits,
    rs485: rs485 && direction(rs485),
    timing: compact(timing),
    whenBusy,
    echo,
    pacing: pacing && compact(pacing),
    units,
  });
}

/** Undefined where nothing is to be done: the adapter switches by itself. */
function direction({
  mode,
  ...rest
}: Omit<Rs485Definition, 'mode'> & { mode: 'auto' | 'kernel' | 'rts' }): Rs485Definition | undefined {
  return mode === 'auto' ? undefined : { mode, ...rest };
}

/** The longest delay that the kernel's RS-485 mode knows, in ms; it has whole ones only. */
const MAX_KERNEL_DELAY = 100;

function kernelDelays(rs485: Omit<Rs485Definition, 'mode'>, path: Path, issues: Issue[]): void {
  for (const key of ['delayBeforeSend', 'delayAfterSend'] as const) {
    const delay = rs485[key];
    if (Number.isInteger(delay) && delay <= MAX_KERNEL_DELAY) continue;
    const expected = `whole milliseconds from 0 to ${MAX_KERNEL_DELAY} in mode kernel`;
    issues.push({ path: [...path, key], message: expectedMessage(expected, delay) });
  }
}

/** t3.5 as messages tell it, in hundredths of a ms: whoever writes down what they were told is right. */
function shortestGap(t35: number): number {
  return Math.floor(100 * t35) / 100;
}

function socketLine(
  name: string,
  kind: SocketLineDefinition['kind'],
  value: unknown,
  { units, directory }: { readonly units: UnitNames; readonly directory: string },
  path: Path,
  issues: Issue[],
): SocketLineDefinition | undefined {
  if (kind !== 'tls') {
    const parsed =
      kind === 'tcp' ? check(tcpLineSchema, value, path, issues) : check(udpLineSchema, value, path, issues);
    if (!parsed) return undefined;
    const { framing, missingUnit } = parsed;
    const listening = 'tcp' in parsed ? parsed.tcp : parsed.udp;
    return { kind, name, framing, ...listening, units, missingUnit };
  }
  const parsed = check(tlsLineSchema, value, path, issues);
  if (!parsed) return undefined;
  const { framing, missingUnit } = parsed;
  const { cert, key, ca, ...listening } = parsed.tls;
  const place = (file: string) => resolve(directory, file);
  const files = compact({ cert: place(cert), key: place(key), ca: ca === undefined ? undefined : place(ca) });
  return { kind, name, framing, ...listening, files, units, missingUnit };
}
