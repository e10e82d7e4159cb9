import { isMapping } from '../../common/schema/parts.js';
import type { CommandContext } from '../commands/context.js';
import { removeDevice, restoreDevices } from '../commands/devices.js';
import { removeRule, replaceRule } from '../commands/faults.js';
import { addLine, changeLine, removeLine } from '../commands/lines.js';
import { problemText } from '../commands/refusal.js';
import {
  deviceFingerprint,
  type FileContent,
  type KeptState,
  lineFingerprint,
  rulesFingerprint,
} from './kept-state.js';

/** What was restored and what could not be, in words. */
export interface RestoredSimulator {
  readonly done: readonly string[];
  readonly problems: readonly string[];
  /** The names of lines whose settings are not those of the file. */
  readonly lines: ReadonlySet<string>;
}

const OTHER_FILE = 'the file defines it differently now';

/** Gives a simulator that is not started yet the devices, lines and rules of the earlier run. */
export async function restoreSimulator(
  context: CommandContext,
  file: FileContent,
  { devices, lines, faults }: KeptState,
): Promise<RestoredSimulator> {
  const { simulator } = context;
  const done: string[] = [];
  const problems: string[] = [];
  const restored = new Set<string>();
  const note = (what: string, problem: string | undefined, name?: string) => {
    if (problem !== undefined) problems.push(`${what}: ${problem}`);
    else {
      done.push(what);
      if (name !== undefined) restored.add(name);
    }
  };
  const lineInFile = new Map(file.lines.map((line) => [line.name, lineFingerprint(line)]));
  const deviceInFile = new Map(file.devices.map((device) => [device.name, deviceFingerprint(device)]));
  const known = faults && rulesFingerprint(file.faults) === faults.fingerprint;

  // Rules may name lines and devices that are removed, or that do not exist yet. So all rules are taken out
  // until lines and devices are right.
  if (known) for (const { rule } of simulator.faults.rules.list()) removeRule(context, rule);
  for (const { name, fingerprint } of lines.removed) {
    const same = lineInFile.get(name) === fingerprint;
    note(
      `removal of line ${name}`,
      same ? problemText(await removeLine(context, { line: name })) : OTHER_FILE,
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
  for (const device of [...added, ...copies])
    note(`device ${device.name}`, isPlaced(device) ? left.get(device.name) : OTHER_FILE);
  for (const { name, fingerprint, change } of lines.changed) {
    const line = simulator.lines.get(name);
    const same = line && lineInFile.get(name) === fingerprint;
    note(
      `line ${name}`,
      same ? problemText(await changeLine(context, { line: name, settings: change })) : OTHER_FILE,
      name,
    );
  }
  for (const { name, source } of lines.added) {
    note(`line ${name}`, problemText(await addLine(context, { ...source, name })), name);
  }
  release();
  const placed = new Set([...added, ...copies].map(({ name }) => name));
  const toRemove = Array.from(removed.keys()).filter((name) => !placed.has(name));
  const stay = await removeDevices(
    context,
    toRemove.filter((name) => isPlaced({ name })),
  );
  for (const name of toRemove)
    note(`removal of device ${name}`, isPlaced({ name }) ? stay.get(name) : OTHER_FILE);
  if (known) {
    for (const [i, rule] of faults.rules.entries()) {
      const written = isMapping(rule) ? rule : {};
      note(`fault rule ${written.name ?? i + 1}`, problemText(replaceRule(context, { rule: written })));
    }
  } else if (faults) problems.push('fault rules: those of the file are other ones now');
  return { done, problems, lines: restored };
}

/**
 * Removes devices in an order in which no remaining device needs a removed one.
 * @returns why some stay, by their names
 */
async function removeDevices(
  context: CommandContext,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>();
  for (const name of names) {
    // Copies are removed together with their device.
    if (!context.simulator.devices.has(name)) continue;
    const problem = problemText(await removeDevice(context, { device: name, force: false }));
    if (problem !== undefined) refused.set(name, problem);
  }
  return refused.size === 0 || refused.size === names.length
    ? refused
    : removeDevices(context, [...refused.keys()]);
}
