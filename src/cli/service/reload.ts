import { formatProblems } from '../../common/schema/problem.js';
import type { Configuration, LineDefinition } from '../../files/config/configuration.js';
import type { LoadResult } from '../../files/config/load.js';
import { sourceWithCopies } from '../../files/config/native/copies.js';
import { sourceChange } from '../../files/config/native/line-source.js';
import { linesThatMeet } from '../../simulator/changeover.js';
import type { CommandContext } from '../../simulator/commands/context.js';
import { addReadDevice, removeDevice } from '../../simulator/commands/devices.js';
import { configureRules } from '../../simulator/commands/faults.js';
import { addLine, changeLine, changeLines, removeLine } from '../../simulator/commands/lines.js';
import { type Outcome, problemText } from '../../simulator/commands/refusal.js';
import { inSlices } from '../../simulator/slices.js';
import { comparing } from './changes.js';

/** The result of reading the configuration again. The texts are for people. */
export interface Reloaded {
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
