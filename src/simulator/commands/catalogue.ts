import { isDeepStrictEqual } from 'node:util';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import type { Device } from '../../device/device.js';
import type { FaultRule } from '../../device/faults/rule.js';
import type { Manners } from '../../device/manners.js';
import { settingsAt, type Target } from '../../document/catalogue.js';
import type { LineSource } from '../../document/configuration.js';
import { lineSettings, sourceChange, transportOf } from '../../document/native/line-source.js';
import { mannersProblems } from '../../document/native/manners-schema.js';
import type { Line } from '../line.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { accept, checkedRule } from './faults.js';
import { changeLine } from './lines.js';
import { done, type Outcome, type Refusal, refusal, refusalOfIssues } from './refusal.js';
import type { CATALOGUE_COMMANDS } from './schemas/catalogue.js';

/** A catalogue entry for a target, with its fault rules in the form of a native file. */
type Arming = DeclaredInput<(typeof CATALOGUE_COMMANDS)['misbehaviour.arm']>;

/**
 * What was armed or disarmed: the names of devices whose manners changed, of lines whose settings changed,
 * and of rules. The library publishes this type.
 */
export interface Armed {
  readonly devices: readonly string[];
  readonly lines: readonly string[];
  readonly rules: readonly string[];
}

/** Makes a device, or all devices of a line, misbehave as a catalogue entry describes, all or nothing. */
export async function armMisbehaviour(context: CommandContext, arming: Arming): Promise<Outcome<Armed>> {
  const lines = linesFor(context, arming);
  if (!lines.ok) return lines;
  const changed: LineChange[] = [];
  for (const line of lines.value) {
    const { name, definition: before } = line;
    const result = await changeLine(context, { line: name, settings: arming.line ?? {} });
    if (!result.ok) return refused(context, changed, result);
    changed.push({ line: name, settings: sourceChange(line.definition.source, before.source) });
  }
  const armed = armDevices(context, arming);
  return armed.ok
    ? done({ ...armed.value, lines: changed.map(({ line }) => line) })
    : refused(context, changed, armed);
}

interface LineChange {
  readonly line: string;
  readonly settings: LineSource;
}

/** Restores the previous settings of lines. */
async function refused(
  context: CommandContext,
  changed: readonly LineChange[],
  why: Refusal,
): Promise<Refusal> {
  for (const change of changed) await changeLine(context, change);
  return why;
}

/** The lines whose settings change. An entry with line settings needs at least one. */
function linesFor(context: CommandContext, { line: settings, target }: Arming): Outcome<Line[]> {
  const devices = devicesOf(context, target);
  if (!devices.ok) return devices;
  if (settings === undefined) return done([]);
  const kind = transportOf(settings);
  const lines = Array.from(context.simulator.lines.values()).filter(
    ({ name, bus, definition }) =>
      definition.kind === kind &&
      ('line' in target ? name === target.line : devices.value.some((device) => bus.stations.has(device))),
  );
  if (lines.length > 0) return done(lines);
  return refusal('line.invalid', Object.keys(target)[0] ?? '', `the entry is for ${kind} lines`);
}

function armDevices(
  context: CommandContext,
  { manners, rules, target }: Arming,
): Outcome<Omit<Armed, 'lines'>> {
  const { simulator } = context;
  const meant = devicesOf(context, target);
  if (!meant.ok) return meant;
  const devices = manners ? meant.value : [];
  const lines = Array.from(simulator.lines.values(), ({ definition }) => definition);
  const issues = devices.flatMap(({ name, real }) =>
    mannersProblems(manners ?? {}, { name, isReal: real !== undefined }, lines),
  );
  if (issues.length > 0) return refusalOfIssues(issues, 'manners.no_connection');
  const checked: [FaultRule, Readonly<Record<string, unknown>>][] = [];
  for (const written of rules) {
    const rule = checkedRule(simulator, written);
    if (!rule.ok) return rule;
    checked.push([rule.value, written]);
  }
  for (const device of devices) device.manners = { ...device.manners, ...manners };
  simulator.changes.lineRevision++;
  for (const [rule, written] of checked) accept(context, rule, written);
  return done({ devices: devices.map(({ name }) => name), rules: checked.map(([{ name }]) => name) });
}

/**
 * Undoes an entry on all targets: removes its rules, its manners on devices that still have them, and its
 * settings on lines that still have them. These settings return to their defaults.
 */
async function disarmMisbehaviour(
  context: CommandContext,
  { id, manners = {}, line: settings }: DeclaredInput<(typeof CATALOGUE_COMMANDS)['misbehaviour.disarm']>,
): Promise<Outcome<Armed>> {
  const { simulator } = context;
  const lines: string[] = [];
  for (const { name, definition } of settings ? [...simulator.lines.values()] : []) {
    const isAsWanted = isDeepStrictEqual(settingsAt(lineSettings(definition), settings ?? {}), settings);
    if (!isAsWanted) continue;
    const changed = await changeLine(context, { line: name, settings: defaultsOf(settings ?? {}) });
    if (!changed.ok) return changed;
    lines.push(name);
  }
  const { rules } = simulator.faults;
  const names = rules.list().flatMap(({ rule: { name } }) => (name.startsWith(`${id}.`) ? [name] : []));
  for (const name of names) rules.remove(name);
  const changed: string[] = [];
  for (const device of simulator.devices.values()) {
    const left = Object.entries(device.manners ?? {}).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(manners[key as keyof Manners]),
    );
    if (left.length === Object.keys(device.manners ?? {}).length) continue;
    device.manners = left.length > 0 ? Object.fromEntries(left) : undefined;
    changed.push(device.name);
  }
  simulator.changes.lineRevision++;
  return done({ devices: changed, lines, rules: names });
}

/** The change that restores the default of each setting of a line. */
function defaultsOf(settings: LineSource): LineSource {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, isMapping(value) ? defaultsOf(value) : null]),
  );
}

function devicesOf({ simulator: { devices, lines } }: CommandContext, target: Target): Outcome<Device[]> {
  if ('device' in target) {
    const device = devices.get(target.device);
    if (device) return done([device]);
    return refusal('device.unknown', 'device', unknownName('device', target.device, [...devices.keys()]));
  }
  const line = lines.get(target.line);
  return line
    ? done([...line.bus.stations.devices])
    : refusal('line.unknown', 'line', unknownName('line', target.line, [...lines.keys()]));
}

export const CATALOGUE_FUNCTIONS = {
  'misbehaviour.arm': armMisbehaviour,
  'misbehaviour.disarm': disarmMisbehaviour,
} satisfies FunctionsOf<typeof CATALOGUE_COMMANDS>;
