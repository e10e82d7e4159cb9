import { compact } from '../../common/compact.js';
import { isMapping, isSameData } from '../../common/schema/parts.js';
import { pathText, quote } from '../../common/schema/problem.js';
import type { Device } from '../../device/device.js';
import type { FaultLine } from '../../device/faults/kind.js';
import { type FindValue, usableRule } from '../../device/faults/rule.js';
import type { RuleStatus } from '../../device/faults/rules.js';
import { THEN } from '../../device/faults/then.js';
import type { Point } from '../../device/point.js';
import { TABLE_NAMES } from '../../device/tables.js';
import type {
  ApiDefinition,
  DeviceDefinition,
  LineDefinition,
  MqttDefinition,
  TrafficDefinition,
} from '../../document/configuration.js';
import { mannersProblems, usableManners } from '../../document/native/manners-schema.js';
import { copiesMadeBy, devicesNamedIn } from '../../document/native/units.js';
import { Block, type BlockPart, flow, printed } from '../../document/print.js';
import { sourceWith } from '../devices.js';
import { nativeEntries } from './native-registers.js';
import { plainEntries, sharesCells } from './plain-registers.js';

/** What to write. The lists and definitions are from one moment; values are read while they are being written. */
export interface RunningConfiguration {
  readonly devices: readonly WrittenDevice[];
  readonly lines: readonly { readonly definition: LineDefinition; readonly state: string }[];
  readonly rules: readonly RuleStatus[];
  readonly faultLines: readonly FaultLine[];
  readonly findValue: FindValue;
  readonly api: ApiDefinition;
  readonly mqtt: MqttDefinition | undefined;
  readonly traffic: TrafficDefinition | undefined;
  readonly keepsState: boolean;
  readonly directory: string;
}

/** Yields a native file (YAML) that would start what is running now, in pieces that each take little time. */
export function configurationText(running: RunningConfiguration): Generator<string> {
  return printed(new Block(sections(running)));
}

function* sections(running: RunningConfiguration): Generator<BlockPart> {
  const { directory, lines, rules, faultLines, findValue } = running;
  yield 'The configuration that was running when this file was made. Clocks, counts and the times of fault rules start from zero.';
  yield `Relative paths start in ${quote(directory)}: keep this file there.`;
  yield ['devices', new Block(devices(running))];
  yield [
    'lines',
    new Block(lines.map(({ definition, state }) => [definition.name, lineBlock(definition, state)])),
  ];
  const shown = rules.map((status) => {
    const why = whyUnusable(status, faultLines, findValue);
    return why === undefined ? ruleSource(status) : `${why}: ${flow(ruleSource(status))}`;
  });
  if (shown.some(isMapping)) yield ['faults', new Block(shown)];
  else if (shown.length > 0) yield* [['faults', []] as const, ...shown];
  const { api, mqtt, ...others } = sectionsOf(running);
  yield ['api', new Block([...secretsLeftOut(running), ...Object.entries(api)])];
  const password =
    'The password is left out: set it here as `password`, or in the environment as MODBUS_SIM_MQTT_PASSWORD.';
  const hasPassword = running.mqtt?.password !== undefined || mqtt?.username !== undefined;
  if (mqtt) yield ['mqtt', new Block([...(hasPassword ? [password] : []), ...Object.entries(mqtt)])];
  yield* Object.entries(others);
}

function* secretsLeftOut({ api: { token, readTokens } }: RunningConfiguration): Generator<string> {
  if (token !== undefined)
    yield 'The token is left out: set it here as `token`, or in the environment as MODBUS_SIM_TOKEN.';
  if (readTokens !== undefined) yield 'The read-only tokens are left out: set them here as `readTokens`.';
}

function lineBlock({ source }: LineDefinition, state: string): Block {
  const remarks = state === 'stopped' ? ['This line was stopped.'] : [];
  return new Block([...remarks, ...Object.entries(source)]);
}

function* devices(running: RunningConfiguration): Generator<BlockPart> {
  const lines = running.lines.map(({ definition }) => definition);
  const copies = new Map(lines.flatMap((line) => [...copiesMadeBy(line)]));
  const named = new Set(lines.flatMap(({ source }) => devicesNamedIn(source)));
  const untouched = new Set<string>();
  for (const written of running.devices) {
    if (isUntouched(written) && mannersLeftOut(written, lines).length === 0)
      untouched.add(written.definition.name);
    yield undefined;
  }
  for (const device of running.devices) {
    const { name, copyOf } = device.definition;
    const original = copies.get(name) ?? '';
    // Its line makes the copy again, from the source device as it is then.
    const isMadeAgain = copyOf !== undefined && untouched.has(name) && untouched.has(original);
    yield isMadeAgain && !named.has(name) ? undefined : [name, new Block(deviceParts(device, lines))];
  }
}

/** True for a device whose present state is its initial state. */
function isUntouched({ definition, device }: WrittenDevice): boolean {
  if (hasSums(device)) return false;
  const { changes, points, clock, manners, defined } = device;
  if (changes === 0) return true;
  const clockAtFirst = { speed: 1, paused: false, ...definition.life?.clock };
  return (
    defined.length === 0 &&
    isAsConfigured(device) &&
    isSameData(manners, definition.extras.manners) &&
    isSameData(clock.settings, clockAtFirst) &&
    points.all.every(
      (point) => point.placedSignal === point.definition.signal && point.isSwitchedOn === startsOn(point),
    )
  );
}

function startsOn({ definition: { available = true } }: Point): boolean {
  return available;
}

function hasSums({ points }: WrittenDevice['device']): boolean {
  return points.all.some(({ signal }) => signal?.accumulator !== undefined);
}

/** Why a rule can't be used; undefined if it can. Lines and devices may have changed since the rule was made. */
export function whyUnusable(
  { rule }: RuleStatus,
  faultLines: readonly FaultLine[],
  findValue: FindValue,
): string | undefined {
  const usable = usableRule(rule, { lines: faultLines, find: findValue });
  return usable.ok ? undefined : usable.error[0]?.message;
}

/** A rule in the form of a file, with the seed of its random values. */
export function ruleSource({
  rule: { name, enabled, when, schedule, faults, becomes },
  seed,
}: Pick<RuleStatus, 'rule' | 'seed'>) {
  return {
    name,
    ...(enabled === false && { enabled }),
    ...(Object.keys(when).length > 0 && { when }),
    schedule,
    ...(faults.length > 0 && { do: faults.map(({ kind, written }) => ({ [kind]: written })) }),
    ...(becomes && { [THEN]: becomes }),
    seed,
  };
}

/** The sections about the program in the form of a file, without secrets. */
export function sectionsOf({
  api: { token, readTokens, files: tls, ...api },
  mqtt,
  traffic,
  keepsState,
}: Pick<RunningConfiguration, 'api' | 'mqtt' | 'traffic' | 'keepsState'>) {
  return compact({
    api: compact({ ...api, tls }),
    mqtt: mqtt && mqttSection(mqtt),
    traffic: traffic && trafficSection(traffic),
    state: keepsState ? 'keep' : undefined,
  });
}

function mqttSection({ password, files, publish, ...mqtt }: MqttDefinition) {
  return { ...mqtt, ...files, publish };
}

function trafficSection({ events, bytes, file }: TrafficDefinition) {
  const toFile = file && {
    file: file.directory,
    format: file.format,
    rotate: { size: file.size, files: file.files },
  };
  return { events, bytes, ...toFile };
}

interface WrittenDevice {
  readonly definition: DeviceDefinition;
  readonly device: Device;
}

/** Yields the current entry of a device in a native file. */
function* deviceParts(written: WrittenDevice, lines: readonly LineDefinition[]): Generator<BlockPart> {
  const { definition, device } = written;
  const source = definition.source ?? identitySource(definition);
  const { defined } = device;
  // `like` is left out, because the file contains its manners and rules as they are now.
  const { registers, clock, pymodbus, manners, like, device: deviceInFile, ...others } = source;
  const isUnchanged = pymodbus !== undefined && defined.length === 0 && isAsConfigured(device);
  if (isUnchanged) yield* Object.entries(compact({ pymodbus, device: deviceInFile }));
  yield* Object.entries(others);
  yield* mannersLeftOut(written, lines);
  const shown = mannersShown(written, lines);
  if (shown) yield ['manners', shown];
  const { settings } = device.clock;
  const isUsual = settings.speed === 1 && !settings.paused;
  if (!isUsual || clock !== undefined) yield ['clock', settings];
  if (isUnchanged) return;
  const entries = sourceWith(source, defined)?.registers;
  if (!isMapping(entries)) yield* differences(definition, device);
  const tables = TABLE_NAMES.map((table) => {
    const isNative = isMapping(entries);
    const all = isNative ? nativeEntries(device, table, entries[table]) : plainEntries(device, table);
    return [table, new Block(all)] as const;
  });
  yield ['registers', new Block(tables, '{}')];
}

function mannersShown({ device }: WrittenDevice, lines: readonly LineDefinition[]) {
  const { name, manners, real } = device;
  return manners && usableManners(manners, { name, isReal: real !== undefined }, lines);
}

/** Explains why manners of a device are left out. */
function mannersLeftOut({ device }: WrittenDevice, lines: readonly LineDefinition[]): string[] {
  const { name, manners = {}, real } = device;
  return mannersProblems(manners, { name, isReal: real !== undefined }, lines).map(
    ({ path, message }) => `manners.${pathText(path)} ${message}: ${flow(manners)}`,
  );
}

/** The comments on what a native file can't express about the device of a pymodbus file. */
function* differences({ tables }: DeviceDefinition, device: Device): Generator<string> {
  const windows = Object.values(tables);
  yield 'From a pymodbus file. Clients use the same addresses as for a native device.';
  if (sharesCells(device)) yield 'Its tables were one list of registers; here each table has its own.';
  if (windows.some(({ wholeValues }) => wholeValues))
    yield 'It refused to read or write part of a value; a native device does not.';
}

function identitySource({ identity }: DeviceDefinition): Readonly<Record<string, unknown>> {
  const { extended, ...names } = identity;
  if (!extended && Object.keys(names).length === 0) return {};
  return { identity: { ...names, ...(extended && { extended: Object.fromEntries(extended) }) } };
}

function isAsConfigured({ tables }: Device): boolean {
  return Object.values(tables).every(({ window: { image } }) => image.isAsConfigured(0, image.size));
}
