import { z } from 'zod';
import { aimsAt } from '../../faults/condition.js';
import { lineProblems } from '../../faults/line-problems.js';
import { type FaultRule, ruleSchema } from '../../faults/rule.js';
import { MAX_RULES } from '../../faults/rules.js';
import { check, namedEntries, sectionOf } from '../../schema/parts.js';
import { type Issue, type Path, pathText } from '../../schema/problem.js';
import { type ApiOverrides, DEFAULT_API, resolveApi } from '../api-definition.js';
import type { ApiDefinition, Configuration, DeviceDefinition, LineDefinition } from '../configuration.js';
import { faultLine } from '../fault-line.js';
import { isPymodbus } from '../pymodbus/file.js';
import { NativeDeviceReader, type PymodbusDevices } from './device.js';
import { type LineContext, nativeLine } from './line.js';
import { apiSchema, fileSections } from './schema.js';
import { DeviceNames } from './units.js';

export interface NativeContext {
  readonly pymodbusDevices: PymodbusDevices;
  readonly api: ApiOverrides;
  /** Where relative paths of files begin. */
  readonly directory: string;
}

/** The configuration that a native file's data describes, unless `issues` got something. Never throws. */
export function nativeConfiguration(value: unknown, context: NativeContext, issues: Issue[]): Configuration {
  const { directory } = context;
  if (isPymodbus(value)) {
    issues.push({ path: [], message: 'this is a file of pymodbus.simulator: use it with --json_file' });
    return { devices: [], lines: [], faults: [], api: DEFAULT_API, directory };
  }
  if (!namedEntries(value, 'a mapping with devices and lines', [], issues)) {
    return { devices: [], lines: [], faults: [], api: DEFAULT_API, directory };
  }
  check(fileSections, value, [], issues);
  const devices = readDevices(sectionOf(value, 'devices'), context.pymodbusDevices, issues);
  const names = new DeviceNames(devices.names);
  const lines = readLines(sectionOf(value, 'lines'), { devices: names, directory }, issues);
  const copies = copiedDevices(devices.definitions, names, issues);
  const faults = readFaults(sectionOf(value, 'faults'), lines, brokenLines(value, lines), issues);
  const api = readApi(sectionOf(value, 'api'), context.api, issues);
  for (const issue of sharedPlaces(lines, api)) issues.push(issue);
  return { devices: [...devices.definitions, ...copies], lines, faults, api, directory };
}

function readDevices(
  value: unknown,
  pymodbusDevices: PymodbusDevices,
  issues: Issue[],
): { names: string[]; definitions: DeviceDefinition[] } {
  const reader = new NativeDeviceReader(pymodbusDevices);
  const entries = namedEntries(value, 'devices by name', ['devices'], issues) ?? [];
  const definitions = entries.flatMap(([name, content]) => {
    nameIssue('device', name, ['devices', name], issues);
    return reader.read(name, content, ['devices', name], issues) ?? [];
  });
  return { names: entries.map(([name]) => name), definitions };
}

function readLines(value: unknown, context: LineContext, issues: Issue[]): LineDefinition[] {
  const entries = namedEntries(value, 'lines by name', ['lines'], issues) ?? [];
  return entries.flatMap(([name, content]) => {
    nameIssue('line', name, ['lines', name], issues);
    return nativeLine(name, content, context, ['lines', name], issues) ?? [];
  });
}

/** The copies that units ask for: like their source, which keeps its layouts for all of them. */
function copiedDevices(
  definitions: readonly DeviceDefinition[],
  { names, copies }: DeviceNames,
  issues: Issue[],
): DeviceDefinition[] {
  return Array.from(copies).flatMap(([name, source]) => {
    if (names.includes(name))
      issues.push({ path: ['devices', name], message: `is also the name of a copy of ${source}` });
    const definition = definitions.find((device) => device.name === source);
    return definition ? [{ ...definition, name }] : [];
  });
}

const faultList = z
  .array(z.unknown(), { error: 'a list of fault rules' })
  .max(MAX_RULES, { error: `at most ${MAX_RULES} fault rules` });

/** Names of lines that are there and could not be read. */
function brokenLines(value: unknown, lines: readonly LineDefinition[]): string[] {
  const all = sectionOf(value, 'lines');
  const names = typeof all === 'object' && all !== null ? Object.keys(all) : [];
  return names.filter((name) => !lines.some((line) => line.name === name));
}

/** @param broken names of lines of which nothing is known: rules that may mean them can't be judged yet. */
function readFaults(
  value: unknown,
  lines: readonly LineDefinition[],
  broken: readonly string[],
  issues: Issue[],
): FaultRule[] {
  const entries = value === undefined ? [] : (check(faultList, value, ['faults'], issues) ?? []);
  const names = new Set<string>();
  return entries.flatMap((entry, i) => {
    const path: Path = ['faults', i];
    const rule = check(ruleSchema, entry, path, issues);
    if (!rule) return [];
    if (names.has(rule.name))
      issues.push({ path: [...path, 'name'], message: `there is a rule ${rule.name} already` });
    names.add(rule.name);
    const mayMeanBroken = broken.some((name) => aimsAt(rule.when, name));
    for (const problem of mayMeanBroken ? [] : lineProblems(rule, lines.map(faultLine))) {
      issues.push({ path: [...path, ...problem.path], message: problem.message });
    }
    return [rule];
  });
}

/** Names appear in addresses of the REST interface, in logs and metrics. */
function nameIssue(kind: string, name: string, path: Path, issues: Issue[]): void {
  if (/^[^\p{Cc}]{1,64}$/u.test(name)) return;
  issues.push({ path, message: `expected a ${kind} name of 1 to 64 printable characters` });
}

function readApi(value: unknown, overrides: ApiOverrides, issues: Issue[]): ApiDefinition {
  const configured = value === undefined ? {} : check(apiSchema, value, ['api'], issues);
  return configured ? resolveApi(configured, overrides, issues) : DEFAULT_API;
}

/** Issues for what two would open at once: a serial port, a link, a TCP port. */
function sharedPlaces(lines: readonly LineDefinition[], api: ApiDefinition): Issue[] {
  const users = new Map<string, Path>();
  const issues: Issue[] = [];
  const take = (place: string, path: Path, what: string) => {
    const user = users.get(place);
    if (user) issues.push({ path, message: `${what} is used by ${pathText(user)} already` });
    else users.set(place, path);
  };
  for (const line of lines) {
    const path: Path = ['lines', line.name];
    if (line.kind !== 'serial') takePort(line.kind, line, [...path, line.kind, 'port']);
    else if (line.path !== 'virtual') take(`serial ${line.path}`, [...path, 'serial', 'path'], line.path);
    else if (line.link !== undefined) take(`link ${line.link}`, [...path, 'serial', 'link'], line.link);
  }
  takePort('tcp', api, ['api', 'port']);
  return issues;

  function takePort(kind: string, { host, port }: { host: string; port: number }, path: Path): void {
    // Port 0 is any free one, so it is never the same. UDP has ports of its own.
    const protocol = kind === 'udp' ? 'udp' : 'tcp';
    if (port !== 0) take(`${protocol} ${host.toLowerCase()} ${port}`, path, `${host}:${port}`);
  }
}
