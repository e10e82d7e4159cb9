import { isDeepStrictEqual } from 'node:util';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { isMapping } from '../../common/schema/parts.js';
import { pathText } from '../../common/schema/problem.js';
import { inSlices, type Work } from '../../common/work.js';
import { type FaultRule, ruleSchema } from '../../device/faults/rule.js';
import type {
  Configuration,
  DeviceDefinition,
  LineDefinition,
  LineSource,
} from '../../document/configuration.js';
import { nativeLine } from '../../document/native/line.js';
import { isSameLine, mergedSource, sourceChange } from '../../document/native/line-source.js';
import { checkName, DeviceNames } from '../../document/native/units.js';
import { recordingsIn } from '../../document/recording-file.js';
import type { CommandContext } from '../commands/context.js';
import { costOf } from '../memory-budget.js';
import { networkNow, readNewDevices } from '../new-device.js';
import { differing } from '../plan.js';
import { isSameRule, type Simulator } from '../simulator.js';
import { type Edit, type Made, makeEdits, type Outline } from '../wanted.js';
import {
  deviceFingerprint,
  type FileContent,
  type KeptState,
  lineFingerprint,
  rulesFingerprint,
} from './kept-state.js';

/*
 * Two sources say what a running simulator should become: a reloaded file, and the saved state of an earlier
 * run. Each is converted into edits of the running setup, and one plan carries them out (`../plan.ts`). An
 * edit that does not fit, or whose port refuses, is skipped.
 */

/** The text for an exception, which is a bug in this program. */
export function defectText({ message }: Error): string {
  return `${message} (a defect of this program)`;
}

/** The result of reading the configuration again. */
interface Reloaded extends Readonly<Made> {
  /** The configuration that now applies. The next reload is compared with it. */
  readonly configuration: Configuration;
  /** What a running program can't change, in words such as `api`. */
  readonly atRestart: readonly string[];
}

/**
 * Applies the changes in a configuration file to a running simulator: lines, devices and fault rules. Parts
 * that have not changed in the file are left alone, even if REST has changed them.
 * @param before the content of the file that currently applies
 * @param after its new content, without mistakes
 * @param how with `preview`, nothing is changed
 */
export async function reload(
  context: CommandContext,
  before: Configuration,
  after: Configuration,
  how: { readonly preview: boolean } = { preview: false },
): Promise<Reloaded> {
  const changes = await inSlices(comparing(before, after));
  const { simulator } = context;
  const edits = [
    ...changes.goneLines.map(({ name }) => withoutLine(name)),
    ...changes.devices.map((device) => withDevice(device)),
    ...changes.lines.map((line) => withLine(simulator, line.name, settingsOf(before, line))),
    ...changes.goneDevices.map(({ name }) => withoutDevice(name)),
    ...changes.goneRules.map(({ name }) => withoutRule(name)),
    ...changes.rules.map((rule) => withRule(rule)),
  ];
  const { done, refused } = await makeEdits(simulator, edits, {
    ...how,
    file: after.devices,
    configured: after.faults,
    counts: false,
  });
  const isDone = (what: string) => done.includes(what);
  return {
    // Changes that were refused or need a restart must be found again by the next reload.
    configuration: {
      ...before,
      lines: merged(before.lines, after.lines, ({ name }) => isDone(`line ${name}`)),
      devices: merged(
        before.devices,
        after.devices,
        ({ name, copyOf }) => copyOf !== undefined || isDone(`device ${name}`),
      ),
      faults: after.faults,
    },
    done,
    refused,
    atRestart: changes.atRestart,
  };
}

/** The earlier definitions, except those replaced by the later ones or removed in them. */
function merged<Definition extends { readonly name: string }>(
  before: readonly Definition[],
  after: readonly Definition[],
  isTaken: (definition: Definition) => boolean,
): Definition[] {
  const now = new Map(before.map((each) => [each.name, each]));
  const then = new Set(after.map(({ name }) => name));
  for (const each of before) if (!then.has(each.name) && isTaken(each)) now.delete(each.name);
  for (const each of after) if (isTaken(each)) now.set(each.name, each);
  return [...now.values()];
}

/** How a line of the file has changed: a change to the running line, or the whole line. */
function settingsOf(before: Configuration, { name, source: whole }: LineDefinition) {
  const was = before.lines.find((line) => line.name === name);
  return { whole, change: was && sourceChange(was.source, whole) };
}

/** The differences in a configuration that was read again. Definitions are the new ones, except for removed ones. */
interface ConfigurationChanges {
  readonly lines: readonly LineDefinition[];
  readonly devices: readonly DeviceDefinition[];
  readonly rules: readonly FaultRule[];
  readonly goneLines: readonly LineDefinition[];
  readonly goneDevices: readonly DeviceDefinition[];
  readonly goneRules: readonly FaultRule[];
  /** Changes that take effect only after a restart, in words such as `api`. */
  readonly atRestart: readonly string[];
}

/** Compares the old and new content of the file, in slices. Changes made over REST are ignored. */
export function* comparing(before: Configuration, after: Configuration): Work<ConfigurationChanges> {
  // Copies are left out, because they depend on the units of lines.
  const isOwn = ({ copyOf }: DeviceDefinition) => copyOf === undefined;
  // Fingerprints are computed once per definition, in slices, and compared below.
  for (const device of [...before.devices, ...after.devices].filter(isOwn)) {
    deviceFingerprint(device);
    yield;
  }
  // The parsed form can't be compared: some of its parts, such as a signal's functions, are never equal.
  const isSame = (now: DeviceDefinition, then: DeviceDefinition) =>
    deviceFingerprint(now) === deviceFingerprint(then);
  const devices = yield* differing(before.devices.filter(isOwn), after.devices.filter(isOwn), isSame);
  const lines = yield* differing(before.lines, after.lines, isSameLine);
  const rules = yield* differing(before.faults, after.faults, isSameRule);
  const sections = (['api', 'mqtt', 'traffic'] as const).filter(
    (section) => !isDeepStrictEqual(before[section], after[section]),
  );
  return {
    lines: [...lines.changed, ...lines.added],
    devices: [...devices.changed, ...devices.added],
    rules: [...rules.changed, ...rules.added],
    goneLines: lines.gone,
    goneDevices: devices.gone,
    goneRules: rules.gone,
    atRestart: sections,
  };
}

/** What could not be restored. */
export interface RestoredSimulator {
  /** Sentences that say what was not restored and why. */
  readonly problems: readonly string[];
  /** The names of lines whose settings differ from the file. */
  readonly lines: ReadonlySet<string>;
}

const OTHER_FILE = 'the file defines it differently now';

/** Restores the devices, lines and rules of an earlier run, in a simulator that has not started yet. */
export async function restoreSimulator(
  context: CommandContext,
  file: FileContent,
  { devices, lines, faults }: KeptState,
): Promise<RestoredSimulator> {
  const { simulator } = context;
  const lineInFile = new Map(file.lines.map((line) => [line.name, lineFingerprint(line)]));
  const deviceInFile = new Map(file.devices.map((device) => [device.name, deviceFingerprint(device)]));
  const removed = new Map(devices.removed.map(({ name, fingerprint }) => [name, fingerprint]));
  const { added, copies = [] } = devices;
  const placed = new Set([...added, ...copies].map(({ name }) => name));
  const isAsKept = (name: string) => deviceInFile.get(name) === removed.get(name);
  // A device that replaces one of the file is restored only if the file's definition of that one has not
  // changed.
  const isPlaced = ({ name }: { readonly name: string }) => !deviceInFile.has(name) || isAsKept(name);
  const read = readDevices(simulator, added.filter(isPlaced));
  const isSameLine = ({ name, fingerprint }: { readonly name: string; readonly fingerprint: string }) =>
    lineInFile.get(name) === fingerprint;
  const lineEdits = [
    ...lines.changed.map((each) => {
      const { name, change } = each;
      return isSameLine(each)
        ? withLine(simulator, name, { change, whole: {} })
        : refusedEdit(`line ${name}`, OTHER_FILE);
    }),
    ...lines.added.map(({ name, source }) => withLine(simulator, name, { whole: source })),
  ];
  const known = faults && rulesFingerprint(file.faults) === faults.fingerprint;
  const edits = [
    // Rules may name lines and devices that are being removed or do not exist yet.
    ...(known ? simulator.faults.rules.list().map(({ rule }) => withoutRule(rule.name)) : []),
    ...lines.removed.map((each) =>
      withoutLine(each.name, `removal of line ${each.name}`, isSameLine(each) ? undefined : OTHER_FILE),
    ),
    ...added.map((each) => read.get(each.name) ?? refusedEdit(`device ${each.name}`, OTHER_FILE)),
    ...copies.map((each) =>
      isPlaced(each) ? withCopy(each) : refusedEdit(`device ${each.name}`, OTHER_FILE),
    ),
    ...lineEdits,
    ...[...removed.keys()]
      .filter((name) => !placed.has(name))
      .map((name) =>
        withoutDevice(name, `removal of device ${name}`, isPlaced({ name }) ? undefined : OTHER_FILE),
      ),
    ...(known ? faults.rules.map(readRule) : []),
  ];
  const { done, refused } = await makeEdits(simulator, edits, { file: file.devices, counts: true });
  for (const rule of known ? faults.rules : [])
    if (typeof rule.name === 'string') simulator.changes.budget.countRule(rule.name, costOf(rule).bytes);
  return {
    problems: [...refused, ...(faults && !known ? ['fault rules: the rules in the file have changed'] : [])],
    lines: new Set(
      [...lines.changed, ...lines.added].flatMap(({ name }) => (done.includes(`line ${name}`) ? [name] : [])),
    ),
  };
}

/** Edits that add the devices of an earlier run, by name. */
function readDevices(simulator: Simulator, kept: KeptState['devices']['added']): ReadonlyMap<string, Edit> {
  const entries = new Map(kept.map(({ name, source }) => [name, new At(source, new Findings())]));
  const others = new Map(Array.from(simulator.devices).filter(([name]) => !entries.has(name)));
  const recordings = recordingsIn(simulator.directory);
  const read = readNewDevices(entries, { network: networkNow(others), recordings });
  const edits = new Map(read.map((definition) => [definition.name, withDevice(definition)]));
  for (const [name, { findings }] of entries)
    if (findings.count > 0) edits.set(name, refusedEdit(`device ${name}`, mistakeIn(findings)));
  return edits;
}

function mistakeIn({ listed: [first] }: Findings): string {
  return first ? `${pathText(first.path)}: ${first.message}` : '';
}

function refusedEdit(what: string, why: string): Edit {
  return { what, step: what, make: () => why };
}

function withoutLine(name: string, what = `line ${name}`, problem?: string): Edit {
  return {
    what,
    step: `line ${name}`,
    make({ lines }) {
      if (problem === undefined) lines.delete(name);
      return problem;
    },
  };
}

function withoutDevice(name: string, what = `device ${name}`, problem?: string): Edit {
  return {
    what,
    step: `device ${name}`,
    make({ devices }) {
      if (problem === undefined) devices.delete(name);
      return problem;
    },
  };
}

function withDevice(definition: DeviceDefinition): Edit {
  const what = `device ${definition.name}`;
  return {
    what,
    step: what,
    make({ devices }) {
      devices.set(definition.name, definition);
      return undefined;
    },
  };
}

function withCopy({ name, copyOf }: { readonly name: string; readonly copyOf: string }): Edit {
  const what = `device ${name}`;
  return {
    what,
    step: what,
    make({ devices }) {
      const source = devices.get(copyOf);
      if (!source) return `there is no device ${copyOf}`;
      devices.set(name, { ...source, name, copyOf });
      return undefined;
    },
  };
}

/**
 * Changes the settings of a line, or adds the line.
 * @param how the change to the running line, in the form of a `PUT`, and the whole line in case there is none
 */
function withLine(
  { directory }: Simulator,
  name: string,
  { change, whole }: { readonly change?: LineSource | undefined; readonly whole: LineSource },
): Edit {
  const what = `line ${name}`;
  return {
    what,
    step: what,
    make({ devices, lines }: Outline) {
      const now = lines.get(name);
      const at = new At(now && change ? mergedSource(now.source, change) : whole, new Findings());
      checkName('line', name, at.key('name'));
      const names = new DeviceNames([...devices.keys()]);
      const definition = nativeLine(name, at, { devices: names, directory });
      if (!definition || at.findings.count > 0) return mistakeIn(at.findings);
      for (const [copy, copyOf] of names.copies) {
        const source = devices.get(copyOf);
        const original = source?.copyOf ?? copyOf;
        if (source && !devices.has(copy)) devices.set(copy, { ...source, name: copy, copyOf: original });
      }
      lines.set(name, definition);
      return undefined;
    },
  };
}

function withoutRule(name: string): Edit {
  const what = `fault rule ${name}`;
  return {
    what,
    step: what,
    make(wanted) {
      wanted.rules = wanted.rules.filter((rule) => rule.name !== name);
      return undefined;
    },
  };
}

/** Puts a rule in force, replacing the one with its name or after all others. */
function withRule(rule: FaultRule): Edit {
  const what = `fault rule ${rule.name}`;
  return {
    what,
    step: what,
    make(wanted) {
      const isThere = wanted.rules.some(({ name }) => name === rule.name);
      wanted.rules = isThere
        ? wanted.rules.map((each) => (each.name === rule.name ? rule : each))
        : [...wanted.rules, rule];
      return undefined;
    },
  };
}

function readRule(written: Readonly<Record<string, unknown>>, i: number): Edit {
  const findings = new Findings();
  const rule = new At(isMapping(written) ? written : {}, findings).check(ruleSchema);
  return rule ? withRule(rule) : refusedEdit(`fault rule ${written.name ?? i + 1}`, mistakeIn(findings));
}
