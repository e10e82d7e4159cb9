import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../../common/schema/parts.js';
import { formatProblems } from '../../common/schema/problem.js';
import { inSlices, type Work } from '../../common/work.js';
import type { Configuration, DeviceDefinition, LineDefinition } from '../../files/config/configuration.js';
import type { LoadResult } from '../../files/config/load.js';
import { sourceChange, sourceWithCopies } from '../../files/config/native/line-source.js';
import { differing, linesThatMeet } from '../changeover.js';
import type { CommandContext } from '../commands/context.js';
import { addReadDevice, removeDevice, restoreDevices } from '../commands/devices.js';
import { configureRules, removeRule, replaceRule } from '../commands/faults.js';
import { addLine, changeLine, changeLines, removeLine } from '../commands/lines.js';
import { type Outcome, problemText, type Refusal, refusal } from '../commands/refusal.js';
import {
  deviceFingerprint,
  type FileContent,
  type KeptState,
  lineFingerprint,
  rulesFingerprint,
} from './kept-state.js';

/*
 * Two texts say what a running simulator is to become: the file, when it is read again, and what was kept of
 * an earlier run. Each of their changes is a command of its own, and what is refused stays as it is. A whole
 * configuration over REST is all or nothing instead: its steps are undone when one fails
 * (`../changeover.ts`).
 */

/** Makes changes one by one. The texts are for people. */
class Changes {
  /** What was changed, such as `line bench`. */
  readonly done: string[] = [];
  /** What was not changed, and why: the file is wrong, or a port refused. */
  readonly refused: string[] = [];

  /** @returns true when the change was made */
  async make(what: string, change: () => Outcome<unknown> | Promise<Outcome<unknown>>): Promise<boolean> {
    const problem = await Promise.resolve().then(change).then(problemText, defectText);
    if (problem === undefined) this.done.push(what);
    else this.refused.push(`${what}: ${problem}`);
    return problem === undefined;
  }
}

/** The text for an exception, which is a defect of this program. */
export function defectText({ message }: Error): string {
  return `${message} (a defect of this program)`;
}

/** The outcome of a change that was made before, perhaps by REST. */
const MADE: Outcome<null> = { ok: true, value: null };

/** The result of reading the configuration again. */
interface Reloaded extends Pick<Readonly<Changes>, 'done' | 'refused'> {
  /** The configuration that now applies. The next reload compares with it. */
  readonly configuration: Configuration;
  /** What a running program can't change, in words such as `device meter`. */
  readonly atRestart: readonly string[];
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
    return {
      configuration: before,
      done: [],
      refused: [formatProblems(file, loaded.problems)],
      atRestart: [],
    };
  const after = loaded.configuration;
  const wanted = await inSlices(comparing(before, after));
  const changes = new Changes();
  // The next reload must find the changes again that were refused or need a restart.
  const lines = new Map(before.lines.map((line) => [line.name, line]));
  const devices = new Map(before.devices.map((device) => [device.name, device]));

  // Rules first: a removed rule must not keep its line or device. Removed lines come before others that may
  // take their ports.
  if (configureRules(context, after.faults)) changes.done.push('faults');
  for (const { name } of wanted.goneLines) {
    const remove = () => (context.simulator.lines.has(name) ? removeLine(context, { line: name }) : MADE);
    if (await changes.make(`line ${name}`, remove)) lines.delete(name);
  }
  for (const device of wanted.newDevices) {
    const { name } = device;
    if (await changes.make(`device ${name}`, () => addReadDevice(context, device))) devices.set(name, device);
  }
  const meeting = linesThatMeet(context.simulator.lines, wanted.lines);
  const settingsOf = (line: LineDefinition) => {
    const now = sourceWithCopies(before.devices, lines.get(line.name) ?? line);
    return { line: line.name, settings: sourceChange(now, sourceWithCopies(after.devices, line)) };
  };
  const together = wanted.lines.filter(({ name }) => meeting.has(name)).map(settingsOf);
  let changed: Promise<Outcome<unknown>> | undefined;
  const changeAll = () => {
    changed ??= changeLines(context, together);
    return changed;
  };
  for (const line of wanted.lines) {
    const { name } = line;
    const change = () => (meeting.has(name) ? changeAll() : changeLine(context, settingsOf(line)));
    if (await changes.make(`line ${name}`, change)) lines.set(name, line);
  }
  for (const line of wanted.newLines) {
    const { name } = line;
    const add = () => addLine(context, { ...sourceWithCopies(after.devices, line), name });
    if (await changes.make(`line ${name}`, add)) lines.set(name, line);
  }
  const stay = await removeDevices(context, wanted.goneDevices);
  for (const { name } of wanted.goneDevices)
    if (await changes.make(`device ${name}`, () => stay.get(name) ?? MADE)) devices.delete(name);
  const { done, refused } = changes;
  const configuration = {
    ...before,
    lines: [...lines.values()],
    devices: [...devices.values()],
    faults: after.faults,
  };
  return { configuration, done, refused, atRestart: wanted.atRestart };
}

/**
 * The differences in a configuration that was read again, except fault rules, which are compared separately.
 */
interface ConfigurationChanges {
  /** The lines whose definitions have changed, as they are now. */
  readonly lines: readonly LineDefinition[];
  readonly newLines: readonly LineDefinition[];
  readonly newDevices: readonly DeviceDefinition[];
  readonly goneLines: readonly LineDefinition[];
  readonly goneDevices: readonly DeviceDefinition[];
  /** Changes that take effect only after a restart, in words such as `device meter`. */
  readonly atRestart: readonly string[];
}

/** Compares the contents of the old and the new file, in slices. Changes made over REST are ignored. */
export function* comparing(before: Configuration, after: Configuration): Work<ConfigurationChanges> {
  // Copies are left out: they depend on the units of lines.
  const isOwn = ({ copyOf }: DeviceDefinition) => copyOf === undefined;
  // Fingerprints are computed once for each definition, in slices, and compared below.
  for (const device of [...before.devices, ...after.devices].filter(isOwn)) {
    deviceFingerprint(device);
    yield;
  }
  // The parsed form can't be compared: parts of it, such as the functions of a signal, are never equal.
  const isSame = (now: DeviceDefinition, then: DeviceDefinition) =>
    !isOwn(now) || !isOwn(then) || deviceFingerprint(now) === deviceFingerprint(then);
  const devices = yield* differing(before.devices, after.devices, isSame);
  const lines = yield* differing(before.lines, after.lines, isDeepStrictEqual);
  const sections = (['api', 'mqtt', 'traffic'] as const).filter(
    (section) => !isDeepStrictEqual(before[section], after[section]),
  );
  return {
    lines: lines.changed,
    newLines: lines.added,
    newDevices: devices.added.filter(isOwn),
    goneLines: lines.gone,
    goneDevices: devices.gone.filter(isOwn),
    atRestart: [...devices.changed.map(({ name }) => `device ${name}`), ...sections],
  };
}

/** What could not be restored. */
export interface RestoredSimulator {
  /** What was not restored and why, in words. */
  readonly problems: readonly string[];
  /** The names of lines whose settings are not those of the file. */
  readonly lines: ReadonlySet<string>;
}

const OTHER_FILE = refusal('configuration.invalid', '', 'the file defines it differently now');

/** Gives a simulator that is not started yet the devices, lines and rules of the earlier run. */
export async function restoreSimulator(
  context: CommandContext,
  file: FileContent,
  { devices, lines, faults }: KeptState,
): Promise<RestoredSimulator> {
  const { simulator } = context;
  const changes = new Changes();
  const restored = new Set<string>();
  const lineInFile = new Map(file.lines.map((line) => [line.name, lineFingerprint(line)]));
  const deviceInFile = new Map(file.devices.map((device) => [device.name, deviceFingerprint(device)]));
  const known = faults && rulesFingerprint(file.faults) === faults.fingerprint;

  // Rules may name lines and devices that are removed, or that do not exist yet. So all rules are taken out
  // until lines and devices are right.
  if (known) for (const { rule } of simulator.faults.rules.list()) removeRule(context, rule);
  for (const { name, fingerprint } of lines.removed) {
    const isSame = lineInFile.get(name) === fingerprint;
    await changes.make(`removal of line ${name}`, () =>
      isSame ? removeLine(context, { line: name }) : OTHER_FILE,
    );
  }
  const removed = new Map(devices.removed.map(({ name, fingerprint }) => [name, fingerprint]));
  // A device that stands in place of one of the file is restored only if the file still defines that one in
  // the same way.
  const isPlaced = ({ name }: { readonly name: string }) =>
    !deviceInFile.has(name) || deviceInFile.get(name) === removed.get(name);
  const { added, copies = [] } = devices;
  const { left, release } = await restoreDevices(context, {
    written: new Map(added.filter(isPlaced).map(({ name, source }) => [name, source])),
    copies: new Map(copies.filter(isPlaced).map(({ name, copyOf }) => [name, copyOf])),
  });
  for (const { name } of [...added, ...copies])
    await changes.make(`device ${name}`, () => (isPlaced({ name }) ? (left.get(name) ?? MADE) : OTHER_FILE));
  const settings = new Map(
    lines.changed
      .filter(({ name, fingerprint }) => simulator.lines.has(name) && lineInFile.get(name) === fingerprint)
      .map(({ name, change }) => [name, { line: name, settings: change }]),
  );
  // Together, because lines may have exchanged their ports; one by one where one of them can't be restored.
  const areChanged = await changeLines(context, [...settings.values()]).then(
    ({ ok }) => ok,
    () => false,
  );
  for (const { name } of lines.changed) {
    const change = settings.get(name);
    const makeChange = () => (change ? (areChanged ? MADE : changeLine(context, change)) : OTHER_FILE);
    if (await changes.make(`line ${name}`, makeChange)) restored.add(name);
  }
  for (const { name, source } of lines.added)
    if (await changes.make(`line ${name}`, () => addLine(context, { ...source, name }))) restored.add(name);
  release();
  const placed = new Set([...added, ...copies].map(({ name }) => name));
  const toRemove = Array.from(removed.keys(), (name) => ({ name })).filter(({ name }) => !placed.has(name));
  const stay = await removeDevices(context, toRemove.filter(isPlaced));
  for (const { name } of toRemove)
    await changes.make(`removal of device ${name}`, () =>
      isPlaced({ name }) ? (stay.get(name) ?? MADE) : OTHER_FILE,
    );
  if (known) {
    for (const [i, rule] of faults.rules.entries()) {
      const written = isMapping(rule) ? rule : {};
      const place = () => replaceRule(context, { rule: written });
      await changes.make(`fault rule ${written.name ?? i + 1}`, place);
    }
  } else if (faults) changes.refused.push('fault rules: those of the file are other ones now');
  return { problems: changes.refused, lines: restored };
}

/**
 * Removes devices in an order in which no remaining device needs a removed one.
 * @returns why some stay, by their names
 */
async function removeDevices(
  context: CommandContext,
  devices: readonly { readonly name: string }[],
): Promise<ReadonlyMap<string, Refusal>> {
  const refused = new Map<string, Refusal>();
  for (const { name } of devices) {
    // REST may have removed it before, and copies are removed together with their device.
    if (!context.simulator.devices.has(name)) continue;
    // A defect keeps no other change from being made.
    const outcome = await removeDevice(context, { device: name, force: false }).catch((error: Error) =>
      refusal('request.failed', '', defectText(error)),
    );
    if (!outcome.ok) refused.set(name, outcome);
  }
  return refused.size === 0 || refused.size === devices.length
    ? refused
    : removeDevices(
        context,
        devices.filter(({ name }) => refused.has(name)),
      );
}
