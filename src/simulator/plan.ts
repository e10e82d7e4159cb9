import { OK } from '../common/result.js';
import { isSameData } from '../common/schema/parts.js';
import { atOnce, inSlices, type Work } from '../common/work.js';
import type { DeviceDefinition, LineDefinition } from '../document/configuration.js';
import { isSameLine } from '../document/native/line-source.js';
import { devicesOf } from '../document/native/units.js';
import { carryingOver, carrySignals } from './carry-over.js';
import type { DeviceApart, Devices } from './devices.js';
import type { Line, LineOutcome } from './line.js';
import { type Lines, linesWith } from './lines.js';

/*
 * The only way in which a running simulator gets other devices and lines, whether from a configuration over
 * REST, a reloaded file, or the state of an earlier run. The requested setup is compared with the running
 * one, and the difference becomes a sequence of steps.
 */

/** The devices and lines of a checked configuration that are to run. */
export interface WantedSetup {
  readonly devices: readonly DeviceDefinition[];
  readonly lines: readonly LineDefinition[];
}

/**
 * What happens if a step fails: `all` undoes the earlier steps, so that nothing has changed; `each` skips
 * only that step.
 */
export type Policy = 'all' | 'each';

interface Named {
  readonly name: string;
}

/** The differences between two lists of definitions. Changed definitions are in their new form. */
export interface Differing<Definition> {
  readonly added: readonly Definition[];
  readonly changed: readonly Definition[];
  readonly gone: readonly Definition[];
}

/** The differences between the running setup and the requested one. */
export interface Difference {
  readonly devices: Differing<DeviceDefinition>;
  readonly lines: Differing<LineDefinition>;
  /** The names of devices and lines in the requested order. */
  readonly order: { readonly devices: readonly string[]; readonly lines: readonly string[] };
}

interface Running {
  readonly devices: Devices;
  readonly lines: Lines;
}

/**
 * Compares the running setup with the requested one, as work that can yield. Two devices are equal if their
 * entries and the registers defined at run time are; values that were set at run time do not matter.
 */
export function* comparing({ devices, lines }: Running, wanted: WantedSetup): Work<Difference> {
  const present = Array.from(devices.byName.keys(), (name) => devices.definitionOf(name));
  const sourcesNow = sourcesOf(present);
  const sources = sourcesOf(wanted.devices);
  const isSame = (device: DeviceDefinition) => {
    const { name, source, tables } = device;
    if (!devices.byName.has(name)) return false;
    const now = devices.definitionOf(name);
    if (now === device) return true;
    const isAsBefore = isSameData(devices.entryOf(name), source);
    return sourcesNow.get(now.tables) === sources.get(tables) && isAsBefore;
  };
  // A copy shares the tables of its source: those of the running source if it stays.
  const asCopy = (device: DeviceDefinition) => {
    const source = sources.get(device.tables) ?? device.name;
    const isCopyOfKept = source !== device.name && isSame({ ...device, name: source });
    return isCopyOfKept
      ? { ...devices.definitionOf(source), name: device.name, copyOf: devices.originalOf(source) }
      : device;
  };
  const presentLines = Array.from(lines.byName.values(), ({ definition }) => definition);
  return {
    devices: yield* differing(present, wanted.devices, (_, each) => isSame(each), asCopy),
    lines: yield* differing(presentLines, wanted.lines, isSameLine),
    order: { devices: wanted.devices.map(({ name }) => name), lines: wanted.lines.map(({ name }) => name) },
  };
}

/**
 * The names of the devices that others are copies of, by their tables. If several devices have the same
 * tables, the first one counts.
 */
function sourcesOf(all: readonly DeviceDefinition[]): ReadonlyMap<DeviceDefinition['tables'], string> {
  return new Map(all.toReversed().map(({ tables, name }) => [tables, name]));
}

/**
 * Compares two lists of definitions by name, as work that can yield.
 * @param use converts an added or changed definition for the result
 */
export function* differing<Definition extends Named>(
  present: readonly Definition[],
  wanted: readonly Definition[],
  isSame: (now: Definition, then: Definition) => boolean,
  use = (each: Definition) => each,
): Work<Differing<Definition>> {
  const before = new Map(present.map((each) => [each.name, each]));
  const after = new Set(wanted.map(({ name }) => name));
  const added: Definition[] = [];
  const changed: Definition[] = [];
  for (const each of wanted) {
    const now = before.get(each.name);
    if (!now) added.push(use(each));
    else if (!isSame(now, each)) changed.push(use(each));
    yield;
  }
  return { added, changed, gone: present.filter(({ name }) => !after.has(name)) };
}

type Undo = () => Promise<unknown>;
/** Why a step failed. `of` is the line that refused, such as `line bench`. */
export type StepFailure = Extract<LineOutcome, { ok: false }> & { readonly of?: string };

/** The reason in words. @param about what comes before it, such as `line bench` */
export function failureText({ of, error }: StepFailure, about?: string): string {
  return of === undefined || of === about ? error : `${of}: ${error}`;
}

interface Step {
  /** What it changes, such as `line bench`; several for steps that belong together. */
  readonly changes: readonly string[];
  /** Carries out the step. @returns a function that undoes it, or why it failed and left everything unchanged */
  run(): Promise<Undo | StepFailure>;
}

/** The result of a plan. With the policy `each`, `failed` says what was skipped and why. */
export type Carried = { readonly ok: true; readonly failed: ReadonlyMap<string, StepFailure> } | StepFailure;

/**
 * Carries out a difference. The order: removed lines free their ports; devices are exchanged, with the values
 * that stay; lines change; lines are added; devices that no line needs any more are removed.
 * @param isStarted true if lines are opened
 * @param built the devices that are changed or added
 */
export async function carryOut(
  { devices, lines, isStarted }: Running & { readonly isStarted: boolean },
  difference: Difference,
  built: readonly DeviceApart[],
  policy: Policy,
): Promise<Carried> {
  const { order } = difference;
  const before = { devices: [...devices.byName.keys()], lines: [...lines.byName.keys()] };
  const { gone, changed, added } = difference.lines;
  const ended: DeviceApart[] = [];
  const steps: Step[] = [
    ...gone.map(({ name }) => removal(lines, name)),
    exchange({ devices, lines }, built, ended),
    ...changesOfLines(lines, changed),
    ...added.map((definition) => addition(lines, definition, isStarted)),
    ...difference.devices.gone.map(({ name }) => retirement({ devices, lines }, name, ended)),
  ];
  const outcome = await run(steps, policy);
  if (outcome.ok) for (const each of ended) devices.end(each);
  devices.arrange(outcome.ok ? order.devices : before.devices);
  lines.arrange(outcome.ok ? order.lines : before.lines);
  return outcome;
}

/** Runs steps one at a time. With the policy `all`, a failed step undoes the earlier ones, the last one first. */
async function run(steps: readonly Step[], policy: Policy): Promise<Carried> {
  const undo: Undo[] = [];
  const failed = new Map<string, StepFailure>();
  for (const { changes, run } of steps) {
    const outcome = await run().catch(({ message }: Error): StepFailure => ({ ok: false, error: message }));
    if (typeof outcome === 'function') undo.push(outcome);
    else if (policy === 'each') for (const each of changes) failed.set(each, outcome);
    else {
      for (const back of undo.reverse()) await back();
      return outcome;
    }
  }
  return { ok: true, failed };
}

/** Combines steps that only make sense together. */
function together(steps: readonly Step[]): Step {
  return {
    changes: steps.flatMap(({ changes }) => changes),
    async run() {
      const undo: Undo[] = [];
      for (const { run } of steps) {
        const outcome = await run();
        if (typeof outcome === 'function') {
          undo.push(outcome);
          continue;
        }
        for (const back of undo.reverse()) await back();
        return outcome;
      }
      return async () => {
        for (const back of undo.reverse()) await back();
      };
    },
  };
}

/** The names of lines that have, or wait for, a port that another line is to get. */
function linesThatMeet(
  lines: ReadonlyMap<string, Line>,
  definitions: readonly LineDefinition[],
): ReadonlySet<string> {
  const meeting = definitions.flatMap(({ name }) => {
    const others = definitions.filter((other) => other.name !== name && lines.get(name)?.isInTheWayOf(other));
    return others.length === 0 ? [] : [name, ...others.map((other) => other.name)];
  });
  return new Set(meeting);
}

/**
 * The changes to lines. Lines that have, or wait for, a port that another line is to get are closed before
 * the changes and opened after them, all together.
 */
function changesOfLines(lines: Lines, definitions: readonly LineDefinition[]): Step[] {
  const meeting = linesThatMeet(lines.byName, definitions);
  const apart = definitions.filter(({ name }) => !meeting.has(name));
  const single = apart.map((definition) => change(lines, definition));
  if (meeting.size === 0) return single;
  const opened = [...lines.byName.values()].filter((line) => meeting.has(line.name) && isOpened(line));
  const waiting = new Set(opened.filter(({ state }) => state.kind === 'waiting'));
  const meet = definitions.filter(({ name }) => meeting.has(name));
  const steps: Step[] = [
    ...opened.map(
      (line): Step => ({
        changes: [],
        async run() {
          await line.stop();
          return () => line.start({ waits: true });
        },
      }),
    ),
    ...meet.map((definition) => change(lines, definition)),
    ...opened.map(
      (line): Step => ({
        changes: [],
        async run() {
          const started = await line.start({ waits: waiting.has(line) });
          return started.ok ? () => line.stop() : { ...started, of: `line ${line.name}` };
        },
      }),
    ),
  ];
  return [...single, together(steps)];
}

function removal(lines: Lines, name: string): Step {
  return {
    changes: [`line ${name}`],
    async run() {
      const line = lines.byName.get(name);
      if (!line) return async () => {};
      const wasOpen = isOpened(line);
      lines.drop(name);
      await line.stop();
      return async () => {
        lines.putBack(line);
        if (wasOpen) await line.start({ waits: true });
      };
    },
  };
}

function change(lines: Lines, definition: LineDefinition): Step {
  const { name } = definition;
  return {
    changes: [`line ${name}`],
    async run() {
      const line = lines.byName.get(name);
      if (!line) return { ok: false, error: `line ${name} has since been removed` };
      const before = line.definition;
      const changed = await line.change(() => ({ definition, served: lines.servedBy(definition) }));
      if (!changed.ok) return { ...changed, of: `line ${name}` };
      return () => line.change(() => ({ definition: before, served: lines.servedBy(before) }));
    },
  };
}

function addition(lines: Lines, definition: LineDefinition, isStarted: boolean): Step {
  const { name } = definition;
  return {
    changes: [`line ${name}`],
    async run() {
      if (lines.byName.has(name)) return { ok: false, error: `line ${name} has since been added` };
      const line = lines.add({ definition, served: lines.servedBy(definition) });
      const remove = async () => {
        lines.drop(name);
        await line.stop();
      };
      const started = isStarted ? await line.start() : OK;
      if (started.ok) return remove;
      await remove();
      return { ...started, of: `line ${name}` };
    },
  };
}

/**
 * Adds devices. A changed device replaces the running one, with the values that stay. Lines with a changed
 * device get the new one at once, and are not interrupted.
 * @param ended receives the devices that are to end once the plan is complete
 */
function exchange({ devices, lines }: Running, built: readonly DeviceApart[], ended: DeviceApart[]): Step {
  const names = built.map(({ definition: { name } }) => name);
  const serve = async () => {
    for (const line of linesWith(lines.byName.values(), new Set(names))) {
      const { definition } = line;
      await line.change(() => ({ definition, served: lines.servedBy(definition) }));
    }
  };
  return {
    changes: names.map((name) => `device ${name}`),
    async run() {
      const pairs = built.flatMap((now) => {
        const { name } = now.definition;
        return devices.byName.has(name) ? [{ before: devices.apart(name), now, seen: -1 }] : [];
      });
      await inSlices(carryingAll(pairs));
      const taken = names.filter((name) => devices.byName.has(name)).map((name) => devices.take(name));
      // A client's writes must not be lost, so there is no yield between here and the exchange.
      for (const { before, now, seen } of pairs)
        if (before.device.changes !== seen) atOnce(carryingOver(before, now));
      devices.put(built);
      for (const { before, now } of pairs) carrySignals(before, now);
      if (taken.length > 0) await serve();
      ended.push(...taken);
      return async () => {
        ended.length = 0;
        // Another request may have removed a device in the meantime.
        for (const name of names) if (devices.byName.has(name)) devices.end(devices.take(name));
        for (const each of taken) devices.putBack(each);
        devices.graph.link();
        await serve();
      };
    },
  };
}

function* carryingAll(
  pairs: readonly { readonly before: DeviceApart; readonly now: DeviceApart; seen: number }[],
): Work<void> {
  for (const pair of pairs) {
    pair.seen = pair.before.device.changes;
    yield* carryingOver(pair.before, pair.now);
  }
}

/** Takes out a device that no line uses any more. */
function retirement({ devices, lines }: Running, name: string, ended: DeviceApart[]): Step {
  return {
    changes: [`device ${name}`],
    async run() {
      if (!devices.byName.has(name)) return async () => {};
      const user = Array.from(lines.byName.values()).find(({ definition }) =>
        devicesOf(definition).includes(name),
      );
      if (user) return { ok: false, error: `line ${user.name} still has units with the device` };
      const taken = devices.take(name);
      devices.graph.link();
      ended.push(taken);
      return async () => {
        devices.putBack(taken);
        devices.graph.link();
      };
    },
  };
}

function isOpened({ state }: Line): boolean {
  return state.kind === 'open' || state.kind === 'waiting';
}
