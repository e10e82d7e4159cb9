import { isDeepStrictEqual } from 'node:util';
import { formatProblems } from '../../common/schema/problem.js';
import type { Work } from '../../common/work.js';
import type { Configuration, DeviceDefinition, LineDefinition } from '../../files/config/configuration.js';
import type { LoadResult } from '../../files/config/load.js';
import { sourceChange, sourceWithCopies } from '../../files/config/native/line-source.js';
import { linesThatMeet } from '../../simulator/changeover.js';
import type { CommandContext } from '../../simulator/commands/context.js';
import { addReadDevice, removeDevice } from '../../simulator/commands/devices.js';
import { configureRules } from '../../simulator/commands/faults.js';
import { addLine, changeLine, changeLines, removeLine } from '../../simulator/commands/lines.js';
import { type Outcome, problemText } from '../../simulator/commands/refusal.js';
import { inSlices } from '../../simulator/slices.js';
import { deviceFingerprint } from '../../simulator/state/kept-state.js';

/** The result of reading the configuration again. The texts are for people. */
interface Reloaded {
  /** The configuration that now applies. The next reload compares with it. */
  readonly configuration: Configuration;
  /** What was changed, such as `line bench`. */
  readonly done: readonly string[];
  /** What was not changed, and why: the file is wrong, a port refused, or a restart is needed. */
  readonly refused: readonly string[];
}

/**
 * Applies the changes in a configuration file to a running simulator: lines, fault rules, and added or
 * removed devices. Parts that are unchanged in the file are left alone, even if REST has changed them. An
 * invalid file changes nothing.
 * @param file name of the file, for messages
 */
export async function reload(
  context: CommandContext,
  before: Configuration,
  loaded: LoadResult,
  file: string,
): Promise<Reloaded> {
  if (!loaded.ok)
    return { configuration: before, done: [], refused: [formatProblems(file, loaded.problems)] };
  const after = loaded.configuration;
  const changes = await inSlices(comparing(before, after));
  const done: string[] = [];
  const refused = changes.atRestart.map((what) => `${what}: changes at the next restart`);
  // The next reload must find the changes again that were refused or need a restart.
  const lines = new Map(before.lines.map((line) => [line.name, line]));
  const devices = new Map(before.devices.map((device) => [device.name, device]));
  const carryOut = async (what: string, change: Change, succeed: () => void) => {
    const problem = await Promise.resolve().then(change).then(problemText, defectText);
    if (problem === undefined) {
      done.push(what);
      succeed();
    } else refused.push(`${what}: ${problem}`);
  };

  // Rules first: a removed rule must not keep its line or device. Removed lines come before others that may
  // take their ports.
  if (configureRules(context, after.faults)) done.push('faults');
  for (const name of changes.goneLines) {
    const remove = () => (context.simulator.lines.has(name) ? removeLine(context, { line: name }) : GONE);
    await carryOut(`line ${name}`, remove, () => lines.delete(name));
  }
  for (const device of changes.newDevices) {
    const { name } = device;
    const add = () => addReadDevice(context, device);
    await carryOut(`device ${name}`, add, () => devices.set(name, device));
  }
  const meeting = linesThatMeet(
    context.simulator.lines,
    changes.lines.map((line) => line.after),
  );
  const settingsOf = (line: { readonly before: LineDefinition; readonly after: LineDefinition }) =>
    sourceChange(sourceWithCopies(before.devices, line.before), sourceWithCopies(after.devices, line.after));
  const together = changes.lines.filter((line) => meeting.has(line.after.name));
  let changed: Promise<Outcome<unknown>> | undefined;
  const changeAll = () => {
    const settings = together.map((line) => ({ line: line.after.name, settings: settingsOf(line) }));
    changed ??= changeLines(context, settings);
    return changed;
  };
  for (const line of changes.lines) {
    const { name } = line.after;
    const change = () =>
      meeting.has(name) ? changeAll() : changeLine(context, { line: name, settings: settingsOf(line) });
    await carryOut(`line ${name}`, change, () => lines.set(name, line.after));
  }
  for (const line of changes.newLines) {
    const { name } = line;
    const add = () => addLine(context, { ...sourceWithCopies(after.devices, line), name });
    await carryOut(`line ${name}`, add, () => lines.set(name, line));
  }
  for (const name of changes.goneDevices) {
    const remove = () =>
      context.simulator.devices.has(name) ? removeDevice(context, { device: name, force: false }) : GONE;
    await carryOut(`device ${name}`, remove, () => devices.delete(name));
  }
  const configuration = {
    ...before,
    lines: [...lines.values()],
    devices: [...devices.values()],
    faults: after.faults,
  };
  return { configuration, done, refused };
}

type Change = () => Outcome<unknown> | Promise<Outcome<unknown>>;

/** The text for an exception, which is a defect of this program. */
export function defectText({ message }: Error): string {
  return `${message} (a defect of this program)`;
}

/** The outcome of removing something that REST has removed before. */
const GONE: Outcome<null> = { ok: true, value: null };

/**
 * The differences in a configuration that was read again, except fault rules, which are compared separately.
 */
interface ConfigurationChanges {
  /** Lines whose definitions have changed. */
  readonly lines: readonly { readonly before: LineDefinition; readonly after: LineDefinition }[];
  readonly newLines: readonly LineDefinition[];
  readonly newDevices: readonly DeviceDefinition[];
  /** Names of lines that are gone. */
  readonly goneLines: readonly string[];
  readonly goneDevices: readonly string[];
  /** Changes that take effect only after a restart, in words such as `device meter`. */
  readonly atRestart: readonly string[];
}

/** Compares the contents of the old and the new file, in slices. Changes made over REST are ignored. */
export function* comparing(before: Configuration, after: Configuration): Work<ConfigurationChanges> {
  const others = new Map(after.lines.map((line) => [line.name, line]));
  const devices = yield* differentDevices(ownDevices(before), ownDevices(after));
  const lines = before.lines.flatMap((line) => {
    const now = others.get(line.name);
    return now && !isDeepStrictEqual(line, now) ? [{ before: line, after: now }] : [];
  });
  return {
    lines,
    newLines: without(after.lines, before.lines),
    newDevices: without(ownDevices(after), before.devices),
    goneLines: without(before.lines, after.lines).map(({ name }) => name),
    goneDevices: without(ownDevices(before), after.devices).map(({ name }) => name),
    atRestart: [
      ...devices.map((name) => `device ${name}`),
      ...(isDeepStrictEqual(before.api, after.api) ? [] : ['api']),
      ...(isDeepStrictEqual(before.mqtt, after.mqtt) ? [] : ['mqtt']),
      ...(isDeepStrictEqual(before.traffic, after.traffic) ? [] : ['traffic']),
    ],
  };
}

interface Named {
  readonly name: string;
}

/** The devices that the file defines itself. Copies are left out: they depend on the units of lines. */
function ownDevices({ devices }: Configuration): DeviceDefinition[] {
  return devices.filter(({ copyOf }) => copyOf === undefined);
}

/** The elements whose names are not used in `others`. */
function without<Each extends Named>(all: readonly Each[], others: readonly Named[]): Each[] {
  const names = new Set(others.map(({ name }) => name));
  return all.filter(({ name }) => !names.has(name));
}

/**
 * The devices whose definitions in the file differ. The parsed form can't be compared: parts of it, such as
 * the functions of a signal, are never equal.
 */
function* differentDevices(
  before: readonly DeviceDefinition[],
  after: readonly DeviceDefinition[],
): Work<string[]> {
  const others = new Map(after.map((device) => [device.name, device]));
  const different: string[] = [];
  for (const device of before) {
    const now = others.get(device.name);
    if (!now || now === device) continue;
    const fingerprint = deviceFingerprint(device);
    yield;
    if (fingerprint !== deviceFingerprint(now)) different.push(device.name);
    yield;
  }
  return different;
}
