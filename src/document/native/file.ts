import { resolve } from 'node:path';
import type { z } from 'zod';
import { compact } from '../../common/compact.js';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping, sectionOf } from '../../common/schema/parts.js';
import { type Path, pathText } from '../../common/schema/problem.js';
import { atOnce, type Work } from '../../common/work.js';
import { aimsAt, hintAtQuantities } from '../../device/faults/condition.js';
import { type FaultRule, namesIn, ruleSchema, usableRule } from '../../device/faults/rule.js';
import { type ApiOverrides, DEFAULT_API, resolveApi } from '../api-definition.js';
import { findMisbehaviour, rulesOf, type Target } from '../catalogue.js';
import {
  type ApiDefinition,
  type Configuration,
  type DeviceDefinition,
  faultLine,
  type LineDefinition,
} from '../configuration.js';
import { isPymodbus } from '../pymodbus/file.js';
import { networkOf, pointsByName, pointsOf, reportingDependencies, valueFinder } from './dependencies.js';
import type { NativeDeviceReader } from './device.js';
import { type Endpoint, endpointsOf, portEndpoints } from './endpoints.js';
import { type LineContext, nativeLine } from './line.js';
import { mergedSource, transportOf } from './line-source.js';
import { mannersProblems } from './manners-schema.js';
import { nativeMqtt } from './mqtt.js';
import { reportingReactionUses } from './reaction-uses.js';
import { realProblems } from './real.js';
import { fileSections, nativeTraffic } from './schema.js';
import { withSunspec } from './sunspec.js';
import { checkName, DeviceNames } from './units.js';

export interface NativeContext {
  readonly devices: NativeDeviceReader;
  readonly api: ApiOverrides;
  /** The base directory of relative paths. */
  readonly directory: string;
  /** Maximum points of the SunSpec models of a device; if absent, only the addresses limit them. */
  readonly mostModelPoints?: number;
}

/**
 * Builds the configuration of a native file from its data. The result is usable only if no mistakes were
 * reported. Never throws.
 */
export function nativeConfiguration(at: At, context: NativeContext): Configuration {
  return atOnce(readingConfiguration(at, context));
}

/** Does the same as `nativeConfiguration`, as work that can pause, so that lines are served in between. */
export function* readingConfiguration(at: At, context: NativeContext): Work<Configuration> {
  const { directory } = context;
  const nothing = { devices: [], lines: [], faults: [], api: DEFAULT_API, directory };
  if (isPymodbus(at)) {
    at.wrong('this is a pymodbus.simulator file: use it with --json_file');
    return nothing;
  }
  if (at.key('steps').value !== undefined) {
    at.wrong('this is a scenario: run it with modbus-sim test');
    return nothing;
  }
  if (!at.entries('a mapping with devices and lines')) return nothing;
  const parts = at.parts(fileSections);
  const devices = needsDevices(at)
    ? yield* readDevices(at.key('devices'), context)
    : { names: [], definitions: [], at: at.key('devices') };
  const names = new DeviceNames(devices.names);
  const lines = yield* readLines(at.key('lines'), { devices: names, directory }, parts.start);
  const copies = [
    ...copiedDevices(devices.definitions, names),
    ...(yield* readingValuedCopies(devices, names, context.devices)),
  ];
  const sourceAt = (device: string) => at.key('devices').key(names.sourceOf(device) ?? device);
  yield;
  for (const { device, issue } of realProblems([...devices.definitions, ...copies], lines))
    sourceAt(device).below(issue.path).wrong(issue.message);
  yield;
  reportManners([...devices.definitions, ...copies], lines, sourceAt);
  const configured = { devices: [...devices.definitions, ...copies], lines };
  const faults = yield* readFaults(
    parts.faults ? at.key('faults') : at.key('faults').with([]),
    configured,
    likesOf(devices.definitions, at.key('lines')),
    {
      lines: brokenLines(at.key('lines'), lines),
      devices: devices.definitions.length < devices.names.length,
    },
  );
  const api = readApi(at, parts.api, context);
  const traffic = parts.traffic && nativeTraffic(parts.traffic, at.key('traffic'), directory);
  reportSharedEndpoints(lines, api, at);
  yield;
  const mqtt = parts.mqtt && nativeMqtt(parts.mqtt, at.key('mqtt'), directory);
  if (!mqtt && at.key('mqtt').value === undefined) warnOfInlets(configured.devices, at.key('devices'));
  return {
    ...configured,
    faults,
    api,
    directory,
    ...compact({ mqtt, traffic }),
    ...(parts.state === 'keep' && { keepsState: true }),
  };
}

/** Warns if signals wait for values from a broker but the file does not name one. */
function warnOfInlets(devices: readonly DeviceDefinition[], at: At): void {
  for (const { name, life } of devices) {
    const waiting = life?.points.filter(({ signal }) => signal?.definition.kind === 'mqtt').length ?? 0;
    if (waiting > 0)
      at.key(name).warn(`has a signal that takes values from a broker, but there is no mqtt section`);
  }
}

/** Reports whether to read devices: not if the file has none and all its lines only listen. */
function needsDevices(file: At): boolean {
  const lines = file.key('lines').value;
  const onlyListens =
    isMapping(lines) && Object.values(lines).every((line) => sectionOf(line, 'mode') === 'monitor');
  return file.key('devices').value !== undefined || !onlyListens;
}

/** The devices of a file, and their entries with the registers of models filled in. */
interface ReadDevices {
  readonly names: readonly string[];
  readonly definitions: readonly DeviceDefinition[];
  readonly at: At;
}

function* readDevices(file: At, { devices: reader, mostModelPoints }: NativeContext): Work<ReadDevices> {
  const written = file.entries('devices by name') ?? [];
  const values: [string, unknown][] = [];
  for (const [name, content] of written) {
    values.push([name, (yield* withSunspec(content, mostModelPoints)).value]);
    yield;
  }
  const at = file.with(Object.fromEntries(values));
  const entries = written.map(([name]) => [name, at.key(name)] as const);
  const definitions: DeviceDefinition[] = [];
  for (const [name, content] of entries) {
    checkName('device', name, content);
    const definition = yield* reader.reading(name, content);
    if (definition) definitions.push(definition);
    yield;
  }
  // The names in a device that could not be read are unknown, so references are checked only if all devices
  // were read.
  if (definitions.length === entries.length) {
    const network = networkOf(definitions);
    yield* reportingDependencies(definitions.flatMap(pointsOf), network, (device) => at.key(device));
    yield* reportingReactionUses(definitions, network, (device) => at.key(device));
  }
  return { names: entries.map(([name]) => name), definitions, at };
}

/** @param start the `start` of lines that do not set it */
function* readLines(at: At, context: LineContext, start: unknown): Work<LineDefinition[]> {
  const lines: LineDefinition[] = [];
  for (const [name, content] of at.entries('lines by name') ?? []) {
    checkName('line', name, content);
    const entry = likeEntry(content);
    const isComplete = start === undefined || !isMapping(entry.value) || 'start' in entry.value;
    const whole = isComplete ? entry : entry.with({ ...(entry.value as object), start });
    const line = nativeLine(name, whole, context);
    if (line) lines.push(line);
    yield;
  }
  return lines;
}

/**
 * Returns the settings of a line together with the settings of the catalogue entry named in its `like`.
 * Reports an entry that does not fit.
 */
function likeEntry(content: At): At {
  const at = content.key('like');
  if (!isMapping(content.value) || at.value === undefined) return content;
  const { like, ...own } = content.value;
  const found = typeof like === 'string' ? findMisbehaviour(like) : undefined;
  const entry = found?.ok ? found.value : undefined;
  if (!found) at.expected('an entry of the catalogue');
  else if (!found.ok) at.wrong(found.error);
  else if (!entry?.line) at.wrong(`${like} is for devices: put like on the device`);
  else if (transportOf(entry.line) !== transportOf(own))
    at.wrong(`${entry.id} is for ${transportOf(entry.line)} lines`);
  else return content.with(mergedSource(entry.line, own));
  return content.with(own);
}

/** Returns the copies that units request. A copy has the settings of its source and shares its layouts. */
function copiedDevices(definitions: readonly DeviceDefinition[], names: DeviceNames): DeviceDefinition[] {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  return Array.from(names.copies).flatMap(([name, source]) => {
    const definition = byName.get(source);
    return definition ? [{ ...definition, name, copyOf: source }] : [];
  });
}

/** Reads the copies with values of their own: devices with the entry of their source, except for values. */
function* readingValuedCopies(
  { definitions, at }: ReadDevices,
  { valued }: DeviceNames,
  reader: NativeDeviceReader,
): Work<DeviceDefinition[]> {
  const right = new Set(definitions.map(({ name }) => name));
  const copies: DeviceDefinition[] = [];
  for (const [name, { source, unit, values }] of valued) {
    if (!right.has(source)) continue;
    const changed = withValues(at.key(source).value, values, unit);
    if (!changed) continue;
    const entry = new At(changed, fileFindings());
    const definition = yield* reader.reading(name, entry);
    const valueAt = (path: Path) => values.key(String(entry.below(path.slice(0, 3)).key('name').value));
    for (const { path, message } of entry.findings.listed) valueAt(path).wrong(message);
    // The other warnings belong to the source.
    for (const { path, message } of entry.findings.warnings)
      if (path[3] === 'value' && valueAt(path).value !== undefined) valueAt(path).warn(message);
    if (definition) copies.push(definition);
    yield;
  }
  return copies;
}

/** Returns the entry of a device with other values; undefined after reporting names that the device does not have. */
function withValues(device: unknown, values: At, unit: number): object | undefined {
  const left = new Set(Object.keys(values.value as object));
  const known: string[] = [];
  const tables = Object.entries((sectionOf(device, 'registers') ?? {}) as object).map(([table, entries]) => {
    const changed = (entries as unknown[]).map((entry) => {
      const name = sectionOf(entry, 'name');
      if (typeof name !== 'string') return entry;
      known.push(name);
      if (!left.delete(name)) return entry;
      const value = inUnit(values.key(name).value, unit);
      return { ...(entry as object), value };
    });
    return [table, changed];
  });
  for (const name of left) values.key(name).wrong(unknownName('name', name, known));
  return left.size > 0 ? undefined : { ...(device as object), registers: Object.fromEntries(tables) };
}

/** Returns a value with `{unit}` in its strings replaced by the unit identifier. */
function inUnit(value: unknown, unit: number): unknown {
  if (Array.isArray(value)) return value.map((each) => inUnit(each, unit));
  return typeof value === 'string' ? value.replaceAll('{unit}', String(unit)) : value;
}

function reportManners(
  devices: readonly DeviceDefinition[],
  lines: readonly LineDefinition[],
  at: (device: string) => At,
): void {
  for (const { name, extras, real } of devices) {
    const device = { name, isReal: real !== undefined };
    for (const { path, message } of mannersProblems(extras.manners ?? {}, device, lines))
      at(name).key('manners').below(path).wrong(message);
  }
}

/** Returns the names of the lines in the file that could not be read. */
function brokenLines({ value }: At, lines: readonly LineDefinition[]): string[] {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return names.filter((name) => !lines.some((line) => line.name === name));
}

/** The names of the lines that could not be read, and whether a device could not be read. */
interface Broken {
  readonly lines: readonly string[];
  readonly devices: boolean;
}

/**
 * Reads the fault rules. A rule for a line that could not be read is not checked against lines, and names of
 * values are not checked if a device could not be read.
 */
function* readFaults(
  at: At,
  { devices, lines }: Pick<Configuration, 'devices' | 'lines'>,
  likes: readonly Like[],
  broken: Broken,
): Work<FaultRule[]> {
  const byName = new Map(devices.map((device) => [device.name, device]));
  const values = new Map<string, ReturnType<typeof pointsByName>>();
  // A rule names values of few devices, and all devices together may have a million values, so values are
  // indexed per device on demand.
  const find = valueFinder([...byName.keys()], (name) => {
    const device = byName.get(name);
    const known = device && (values.get(name) ?? pointsByName(device.life?.points ?? []));
    if (known) values.set(name, known);
    return known;
  });
  const written = (at.value as readonly unknown[]).map((_, i) => at.key(i));
  const names = new Set<string>();
  const rules: FaultRule[] = [];
  for (const entry of [...written, ...rulesOfLikes(likes, written, at)]) {
    yield;
    const checked = entry.check(ruleSchema);
    if (checked && names.has(checked.name))
      entry.key('name').wrong(`a rule named ${checked.name} already exists`);
    if (checked) names.add(checked.name);
    const rule = checked ?? namesIn(entry);
    hintAtQuantities(rule.when.quantity, entry.key('when').key('quantity'));
    const mayMeanBroken = broken.lines.some((name) => aimsAt(rule.when, name));
    const usable = usableRule(rule, {
      lines: mayMeanBroken ? undefined : lines.map(faultLine),
      find: broken.devices ? undefined : find,
    });
    if (usable.ok && checked) rules.push(usable.value);
    if (usable.ok) continue;
    for (const { path, message } of usable.error) entry.below(path).wrong(message);
  }
  return rules;
}

/** Returns the rules from `like` of devices and lines, except those whose names the file uses for its own rules. */
function rulesOfLikes(likes: readonly Like[], written: readonly At[], at: At): At[] {
  const names = new Set(written.map((each) => each.key('name').value));
  return likes.flatMap(([like, target]) => {
    const entry = typeof like === 'string' ? findMisbehaviour(like) : undefined;
    if (!entry?.ok) return [];
    return rulesOf(entry.value, target).flatMap((rule) => (names.has(rule.name) ? [] : [at.with(rule)]));
  });
}

/** The value of `like`, and the device or line that has it. */
type Like = readonly [unknown, Target];

function likesOf(devices: readonly DeviceDefinition[], lines: At): Like[] {
  return [
    ...devices.map(({ name, source }): Like => [source?.like, { device: name }]),
    ...Object.entries(isMapping(lines.value) ? lines.value : {}).map(
      ([line, content]): Like => [sectionOf(content, 'like'), { line }],
    ),
  ];
}

function readApi(
  file: At,
  written: z.output<typeof fileSections>['api'],
  { api: overrides, directory }: NativeContext,
): ApiDefinition {
  const given = file.key('api').value === undefined ? { insecure: false } : written;
  if (!given) return DEFAULT_API;
  const { tls, ...settings } = given;
  const files = tls && { cert: resolve(directory, tls.cert), key: resolve(directory, tls.key) };
  return resolveApi({ ...settings, files }, overrides, file);
}

/** Reports everything that would be opened twice: a serial port, a link, a TCP port. */
function reportSharedEndpoints(lines: readonly LineDefinition[], api: ApiDefinition, file: At): void {
  const users = new Map<string, At>();
  const take = (endpoints: readonly Endpoint[], entry: At) => {
    const taken = endpoints.find(({ key }) => users.has(key));
    const user = taken && users.get(taken.key);
    if (user) entry.below(taken.path).wrong(`${taken.what} is already used by ${pathText(user.path)}`);
    for (const { key, path } of endpoints) if (!users.has(key)) users.set(key, entry.below(path));
  };
  for (const line of lines) take(endpointsOf(line), file.key('lines').key(line.name));
  take(portEndpoints('tcp', api, ['port']), file.key('api'));
}
