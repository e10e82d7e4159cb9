import { resolve } from 'node:path';
import type { z } from 'zod';
import { compact } from '../../common/compact.js';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { isMapping } from '../../common/schema/parts.js';
import { describeFound } from '../../common/schema/problem.js';
import { t35 } from '../../modbus/protocol/timing.js';
import type { Rs485Settings } from '../../modbus/transport/settings.js';
import type {
  Configuration,
  LineDefinition,
  LineSource,
  SerialLineDefinition,
  SocketLineDefinition,
  UnitNames,
  UnsolicitedDefinition,
} from '../configuration.js';
import { type Hosts, readHosts, usualClients } from './endpoints.js';
import {
  LINE_SCHEMAS,
  MOST_UNSOLICITED,
  type rs485Schema,
  serialLineSchema,
  type startSchema,
  TRANSPORTS,
  tcpLineSchema,
  type tlsLineSchema,
  type udpLineSchema,
  unsolicitedSchema,
} from './line-schema.js';
import { mergedSource } from './line-source.js';
import { DeviceNames, readEach, readUnits } from './units.js';

/** What is needed to read a line, in addition to its entry. */
export interface LineContext {
  /** Knows the names that units may use, and collects the copies that they request. */
  readonly devices: DeviceNames;
  /** The base directory of relative paths. */
  readonly directory: string;
}

function whatInstead(value: unknown): string {
  return isMapping(value) ? 'none of them' : describeFound(value);
}

/** Builds one line; undefined after reporting its mistakes. */
export function nativeLine(name: string, at: At, context: LineContext): LineDefinition | undefined {
  const [transport, ...others] = TRANSPORTS.filter((key) => at.key(key).value !== undefined);
  if (transport === undefined || others.length > 0) {
    const found = transport ? [transport, ...others].join(' and ') : whatInstead(at.value);
    return at.wrong(`expected one of ${TRANSPORTS.join(', ')}, got ${found}`);
  }
  return transport === 'serial' ? serialLine(name, at, context) : socketLine(name, transport, at, context);
}

/** Returns a line of a configuration with other settings, which are known to be valid (see `mergedSource`). */
export function lineWith(
  change: LineSource,
  { name, source }: LineDefinition,
  { devices, directory }: Pick<Configuration, 'devices' | 'directory'>,
): LineDefinition {
  const at = new At(mergedSource(source, change), new Findings());
  const line = nativeLine(name, at, {
    devices: new DeviceNames(devices.map((each) => each.name)),
    directory,
  });
  if (!line) throw new Error(`line ${name}: ${at.findings.listed[0]?.message}`);
  return line;
}

/** Returns why a line can't send unsolicited bytes; undefined if it can. */
export function whyNothingUnsolicited(
  transport: LineDefinition['kind'],
  isMonitor: boolean,
): string | undefined {
  if (isMonitor) return 'a line with mode monitor never sends a byte';
  if (transport !== 'udp') return undefined;
  return "a UDP line only answers requests and can't send unsolicited messages; use tcp";
}

/** Reads `unsolicited`: one entry or a list. Undefined if there is none, and after reporting mistakes. */
function readUnsolicited(
  at: At,
  transport: LineDefinition['kind'],
  isMonitor: boolean,
): readonly UnsolicitedDefinition[] | undefined {
  if (at.value === undefined) return undefined;
  const why = whyNothingUnsolicited(transport, isMonitor);
  if (why !== undefined) return at.wrong(why);
  if (!Array.isArray(at.value)) return readOneUnsolicited(at);
  const { length } = at.value;
  if (length > MOST_UNSOLICITED)
    return at.wrong(`expected at most ${MOST_UNSOLICITED} messages, got ${length}`);
  const all = at.items() ?? [];
  return length === 0 ? undefined : all.flatMap(readOneUnsolicited);
}

function readOneUnsolicited(at: At): UnsolicitedDefinition[] {
  const parsed = at.check(unsolicitedSchema);
  if (!parsed) return [];
  const { bytes, frame, before, every, jitter } = parsed;
  if ((bytes === undefined) === (frame === undefined)) at.wrong('expected either bytes or frame');
  if ((before === undefined) === (every === undefined)) at.wrong('expected either every or before');
  if (jitter !== undefined && jitter > (every ?? 0)) {
    at.key('jitter').wrong(
      every === undefined
        ? 'only a repeated message (every) has jitter'
        : 'expected at most the interval (every)',
    );
  }
  return [compact(parsed)];
}

/** Returns the units of a line that only listens: none. */
function noUnits(at: At): UnitNames {
  const isEmpty = isMapping(at.value) && Object.keys(at.value).length === 0;
  if (at.value !== undefined && !isEmpty)
    at.wrong('a line with mode monitor answers no request, so it has no units');
  return new Map();
}

/** Returns the parts of a line's entry that its definition contains unchanged; `required` is the default of `start`. */
function asWritten(name: string, { value }: At, start: z.output<typeof startSchema> | undefined) {
  return { name, source: value as LineSource, ...(start === 'waiting' && { start }) };
}

function serialLine(name: string, at: At, { devices }: LineContext): SerialLineDefinition | undefined {
  const parsed = at.check(serialLineSchema);
  const isMonitor = (parsed ?? at.fitting(serialLineSchema)).mode === 'monitor';
  const units = isMonitor ? noUnits(at.key('units')) : readUnits(at.key('units'), false, devices);
  const unsolicited = readUnsolicited(at.key('unsolicited'), 'serial', isMonitor);
  if (!parsed) return undefined;
  const serial = at.key('serial');
  const { framing, mode, whenBusy, echo } = parsed;
  const { pacing, ...written } = parsed.serial;
  const port = readPort(serial, written, framing);
  const timing = { turnaround: 't3.5' as const, ...parsed.timing };
  const [only, keys] =
    port.path === 'virtual'
      ? (['a real port', ['rs485', 'parityMarks']] as const)
      : (['a line with path virtual', ['link', 'pacing']] as const);
  for (const key of keys) {
    if (parsed.serial[key] !== undefined) serial.key(key).wrong(`only ${only} can have this`);
  }
  if (pacing?.latency !== undefined && pacing.chunk !== 'usb') {
    serial.key('pacing').key('latency').wrong('only chunk usb has latency');
  }
  const shortest = shortestGap(timing.t35 ?? t35(port.baudRate));
  if (timing.gap !== undefined && timing.gap < shortest) {
    at.key('timing').key('gap').expected(`at least t3.5, ${shortest} ms`);
  }
  return compact({
    kind: 'serial' as const,
    ...asWritten(name, at, parsed.start),
    framing,
    mode,
    ...port,
    timing: compact(timing),
    whenBusy,
    echo,
    pacing: pacing && compact(pacing),
    unsolicited,
    units,
  });
}

/** Completes the settings of a port for this framing. Their form was already checked, at `at`. */
export function readPort<
  Settings extends Pick<z.output<typeof serialLineSchema>['serial'], 'dataBits' | 'rs485'>,
>(at: At, { rs485, dataBits: written, ...settings }: Settings, framing: 'rtu' | 'ascii') {
  const dataBits = written ?? (framing === 'ascii' ? 7 : 8);
  if (framing === 'rtu' && dataBits !== 8) at.key('dataBits').expected('8 (7 is for framing ascii)');
  const direction = rs485 && directionOf(rs485);
  if (direction?.mode === 'kernel') checkKernelDelays(direction, at.key('rs485'));
  return { ...settings, dataBits, rs485: direction };
}

/** Returns the settings for direction switching; undefined for an adapter that switches by itself. */
function directionOf({ mode, ...rest }: z.output<typeof rs485Schema>): Rs485Settings | undefined {
  return mode === 'auto' ? undefined : { mode, ...compact(rest) };
}

/** The longest delay of the kernel's RS-485 mode, in ms. It supports whole milliseconds only. */
const MAX_KERNEL_DELAY = 100;

function checkKernelDelays(rs485: Rs485Settings, at: At): void {
  for (const key of ['delayBeforeSend', 'delayAfterSend'] as const) {
    const delay = rs485[key];
    if (Number.isInteger(delay) && delay <= MAX_KERNEL_DELAY) continue;
    at.key(key).expected(`whole milliseconds from 0 to ${MAX_KERNEL_DELAY} in mode kernel`);
  }
}

/** Returns t3.5 for messages: rounded down to hundredths of a ms, so that the value from a message is accepted. */
function shortestGap(t35: number): number {
  return Math.floor(100 * t35) / 100;
}

function severalHosts(at: At, maxClients: number): (Hosts & { readonly maxClients: number }) | undefined {
  const hosts = at.key('hosts');
  if (hosts.value === undefined) return undefined;
  if (at.key('host').value !== undefined) return hosts.wrong('expected either host or hosts');
  const read = readHosts(hosts);
  if (!read || at.key('maxClients').value !== undefined) return read && { ...read, maxClients };
  return { ...read, maxClients: usualClients(read.hosts) };
}

type SocketEntry = z.output<typeof tcpLineSchema | typeof udpLineSchema | typeof tlsLineSchema>;

function socketLine(
  name: string,
  kind: SocketLineDefinition['kind'],
  at: At,
  { devices, directory }: LineContext,
): SocketLineDefinition | undefined {
  const parsed = at.check<SocketEntry>(LINE_SCHEMAS[kind]);
  // The three kinds have the same framings.
  const { framing } = parsed ?? at.fitting(tcpLineSchema);
  const units = readUnits(at.key('units'), framing === 'socket', devices);
  const unsolicited = readUnsolicited(at.key('unsolicited'), kind, false);
  if (!parsed) return undefined;
  const { hosts: _, ...settings } =
    'tls' in parsed ? withFiles(parsed.tls, directory) : compact('tcp' in parsed ? parsed.tcp : parsed.udp);
  const several = severalHosts(at.key(kind), settings.maxClients);
  const areBroken = several === undefined && at.key(kind).key('hosts').value !== undefined;
  const each = areBroken ? undefined : readEach(at.key('each'), units, several?.hosts, devices);
  return {
    ...{ kind, ...asWritten(name, at, parsed.start), framing: parsed.framing },
    ...settings,
    ...several,
    ...{ units, missingUnit: parsed.missingUnit },
    ...compact({ unsolicited, each }),
  };
}

/** Returns the settings of a TLS socket, with the absolute paths of its files. */
function withFiles(
  { cert, key, ca, ...listening }: z.output<typeof tlsLineSchema>['tls'],
  directory: string,
) {
  const absolute = (file: string) => resolve(directory, file);
  const files = { cert: absolute(cert), key: absolute(key), ca: ca === undefined ? undefined : absolute(ca) };
  return { ...compact(listening), files: compact(files) };
}
