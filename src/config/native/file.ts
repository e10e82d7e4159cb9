import { z } from 'zod';
import { aimsAt } from '../../faults/condition.js';
import { lineProblems } from '../../faults/line-problems.js';
import { type FaultRule, ruleSchema } from '../../faults/rule.js';
import { MAX_RULES } from '../../faults/rules.js';
import type { At } from '../../schema/at.js';
import { pathText } from '../../schema/problem.js';
import { type ApiOverrides, DEFAULT_API, resolveApi } from '../api-definition.js';
import { compact } from '../compact.js';
import type { ApiDefinition, Configuration, DeviceDefinition, LineDefinition } from '../configuration.js';
import { faultLine } from '../fault-line.js';
import { isPymodbus } from '../pymodbus/file.js';
import { tellDependencies } from './dependencies.js';
import { NativeDeviceReader, type PymodbusDevices } from './device.js';
import { type LineContext, nativeLine } from './line.js';
import { apiSchema, fileSections } from './schema.js';
import { nativeTraffic } from './traffic.js';
import { DeviceNames } from './units.js';

export interface NativeContext {
  readonly pymodbusDevices: PymodbusDevices;
  readonly api: ApiOverrides;
  /** Where relative paths of files begin. */
  readonly directory: string;
}

/** The configuration in a native file's data, usable only if no mistakes were reported. Never throws. */
export function nativeConfiguration(at: At, context: NativeContext): Configuration {
  const { directory } = context;
  const nothing = { devices: [], lines: [], faults: [], api: DEFAULT_API, directory };
  if (isPymodbus(at)) {
    at.wrong('this is a file of pymodbus.simulator: use it with --json_file');
    return nothing;
  }
  if (!at.entries('a mapping with devices and lines')) return nothing;
  at.check(fileSections);
  const devices = readDevices(at.key('devices'), context);
  const names = new DeviceNames(devices.names);
  const lines = readLines(at.key('lines'), { devices: names, directory });
  const copies = copiedDevices(devices.definitions, names, at.key('devices'));
  const faults = readFaults(at.key('faults'), lines, brokenLines(at.key('lines'), lines));
  const api = readApi(at, context.api);
  const traffic = nativeTraffic(at.key('traffic'), directory);
  tellSharedPlaces(lines, api, at);
  return {
    devices: [...devices.definitions, ...copies],
    lines,
    faults,
    api,
    directory,
    ...compact({ traffic }),
  };
}

function readDevices(
  at: At,
  { pymodbusDevices, directory }: NativeContext,
): { names: string[]; definitions: DeviceDefinition[] } {
  const reader = new NativeDeviceReader(pymodbusDevices, directory);
  const entries = at.entries('devices by name') ?? [];
  const definitions = entries.flatMap(([name, content]) => {
    checkName('device', name, content);
    return reader.read(name, content) ?? [];
  });
  // The names in an unreadable device are unknown, so references are checked only when all devices were read.
  if (definitions.length === entries.length) tellDependencies(definitions, at);
  return { names: entries.map(([name]) => name), definitions };
}

function readLines(at: At, context: LineContext): LineDefinition[] {
  const entries = at.entries('lines by name') ?? [];
  return entries.flatMap(([name, content]) => {
    checkName('line', name, content);
    return nativeLine(name, content, context) ?? [];
  });
}

/** The copies that units ask for. A copy is like its source and shares its layouts. */
function copiedDevices(
  definitions: readonly DeviceDefinition[],
  { names, copies }: DeviceNames,
  devices: At,
): DeviceDefinition[] {
  return Array.from(copies).flatMap(([name, source]) => {
    if (names.includes(name)) devices.key(name).wrong(`is also the name of a copy of ${source}`);
    const definition = definitions.find((device) => device.name === source);
    return definition ? [{ ...definition, name }] : [];
  });
}

const faultList = z
  .array(z.unknown(), { error: 'a list of fault rules' })
  .max(MAX_RULES, { error: `at most ${MAX_RULES} fault rules` });

/** Names of lines in the file that could not be read. */
function brokenLines({ value }: At, lines: readonly LineDefinition[]): string[] {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return names.filter((name) => !lines.some((line) => line.name === name));
}

/** @param broken names of lines that could not be read: rules that may be for them are not checked against lines. */
function readFaults(at: At, lines: readonly LineDefinition[], broken: readonly string[]): FaultRule[] {
  const entries = at.value === undefined ? [] : (at.check(faultList) ?? []);
  const names = new Set<string>();
  return entries.flatMap((_, i) => {
    const entry = at.key(i);
    const rule = entry.check(ruleSchema);
    if (!rule) return [];
    if (names.has(rule.name)) entry.key('name').wrong(`there is a rule ${rule.name} already`);
    names.add(rule.name);
    const mayMeanBroken = broken.some((name) => aimsAt(rule.when, name));
    for (const { path, message } of mayMeanBroken ? [] : lineProblems(rule, lines.map(faultLine))) {
      entry.below(path).wrong(message);
    }
    return [rule];
  });
}

/** Device and line names appear in addresses of the REST interface, in logs and in metrics. */
function checkName(kind: string, name: string, at: At): void {
  if (/^[^\p{Cc}]{1,64}$/u.test(name)) return;
  at.wrong(`expected a ${kind} name of 1 to 64 printable characters`);
}

function readApi(file: At, overrides: ApiOverrides): ApiDefinition {
  const api = file.key('api');
  const configured = api.value === undefined ? {} : api.check(apiSchema);
  return configured ? resolveApi(configured, overrides, file) : DEFAULT_API;
}

/** Reports anything that two users would open at once: a serial port, a link, a TCP port. */
function tellSharedPlaces(lines: readonly LineDefinition[], api: ApiDefinition, file: At): void {
  const users = new Map<string, At>();
  const take = (place: string, at: At, what: string) => {
    const user = users.get(place);
    if (user) at.wrong(`${what} is used by ${pathText(user.path)} already`);
    else users.set(place, at);
  };
  const takePort = (kind: string, { host, port }: { host: string; port: number }, at: At) => {
    // Port 0 means any free port, so two of them never collide. UDP has its own ports.
    const protocol = kind === 'udp' ? 'udp' : 'tcp';
    if (port !== 0) take(`${protocol} ${host.toLowerCase()} ${port}`, at, `${host}:${port}`);
  };
  for (const line of lines) {
    const at = file.key('lines').key(line.name).key(line.kind);
    if (line.kind !== 'serial') takePort(line.kind, line, at.key('port'));
    else if (line.path !== 'virtual') take(`serial ${line.path}`, at.key('path'), line.path);
    else if (line.link !== undefined) take(`link ${line.link}`, at.key('link'), line.link);
  }
  takePort('tcp', api, file.key('api').key('port'));
}
