import type { Configuration, LineDefinition } from '../config/configuration.js';
import type { LoadResult } from '../config/load.js';
import { sourceWithCopies } from '../config/native/copies.js';
import { sourceChange } from '../config/native/line-source.js';
import { addReadDevice, removeDevice } from '../control/devices.js';
import { configureRules } from '../control/faults.js';
import { addLine, changeLine, changeLines, removeLine } from '../control/lines.js';
import { type Outcome, problemText } from '../control/refusal.js';
import type { Room } from '../control/room.js';
import { formatProblems } from '../schema/problem.js';
import { linesThatMeet } from '../simulator/changeover.js';
import { changesOf } from './changes.js';

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
 * Applies the changes in a configuration file to a running simulator: lines, fault rules, and devices that come or go.
 * Parts that are unchanged in the file are left alone, even if REST has changed them. A wrong file changes nothing.
 * @param file name of the file, for messages
 */
export async function reload(
  room: Room,
  before: Configuration,
  loaded: LoadResult,
  file: string,
): Promise<Reloaded> {
  if (!loaded.ok)
    return { configuration: before, done: [], refused: [formatProblems(file, loaded.problems)] };
  const after = loaded.configuration;
  const changes = changesOf(before, after);
  const done: string[] = [];
  const refused = changes.atRestart.map((what) => `${what}: changes at the next restart`);
  // Changes that were refused or need a restart must be found again by the next reload.
  const lines = new Map(before.lines.map((line) => [line.name, line]));
  const devices = new Map(before.devices.map((device) => [device.name, device]));
  const note = (what: string, problem: string | undefined, succeed: () => void) => {
    if (problem === undefined) {
      done.push(what);
      succeed();
    } else refused.push(`${what}: ${problem}`);
  };

  // Rules that are gone must not keep a line or a device from going. A line that goes may leave its port to another.
  if (configureRules(room, after.faults)) done.push('faults');
  for (const name of changes.goneLines) {
    const removed = room.simulator.lines.has(name) ? await removeLine(room, { line: name }) : GONE;
    note(`line ${name}`, problemText(removed), () => lines.delete(name));
  }
  for (const device of changes.newDevices) {
    const { name } = device;
    note(`device ${name}`, problemText(addReadDevice(room, device)), () => devices.set(name, device));
  }
  const meeting = linesThatMeet(
    room.simulator.lines,
    changes.lines.map((line) => line.after),
  );
  const settingsOf = (line: { readonly before: LineDefinition; readonly after: LineDefinition }) =>
    sourceChange(sourceWithCopies(before.devices, line.before), sourceWithCopies(after.devices, line.after));
  const together = changes.lines.filter((line) => meeting.has(line.after.name));
  const changed = await changeLines(
    room,
    together.map((line) => ({ line: line.after.name, settings: settingsOf(line) })),
  );
  for (const line of changes.lines) {
    const { name } = line.after;
    const outcome = meeting.has(name)
      ? changed
      : await changeLine(room, { line: name, settings: settingsOf(line) });
    note(`line ${name}`, problemText(outcome), () => lines.set(name, line.after));
  }
  for (const line of changes.newLines) {
    const { name } = line;
    const added = await addLine(room, { ...sourceWithCopies(after.devices, line), name });
    note(`line ${name}`, problemText(added), () => lines.set(name, line));
  }
  for (const name of changes.goneDevices) {
    const removed = room.simulator.devices.has(name)
      ? await removeDevice(room, { device: name, force: false })
      : GONE;
    note(`device ${name}`, problemText(removed), () => devices.delete(name));
  }
  const configuration = {
    ...before,
    lines: [...lines.values()],
    devices: [...devices.values()],
    faults: after.faults,
  };
  return { configuration, done, refused };
}

/** REST has removed it before. */
const GONE: Outcome<null> = { ok: true, value: null };
