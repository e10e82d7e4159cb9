import { isDeepStrictEqual } from 'node:util';
import type { Work } from '../common/work.js';
import type { DeviceDefinition, LineDefinition } from '../files/config/configuration.js';
import type { DeviceApart, Devices } from './devices.js';
import type { Line, LineOutcome } from './line.js';
import { type Lines, linesWith } from './lines.js';

/** The devices and lines of a checked configuration that are to run. */
export interface WantedSetup {
  readonly devices: readonly DeviceDefinition[];
  readonly lines: readonly LineDefinition[];
}

interface Named {
  readonly name: string;
}

/** What two lists of definitions have different. A definition that has changed is as it is wanted. */
export interface Differing<Definition> {
  readonly added: readonly Definition[];
  readonly changed: readonly Definition[];
  readonly gone: readonly Definition[];
}

/** The differences between what runs and what is wanted. */
export interface Difference {
  readonly devices: Differing<DeviceDefinition>;
  readonly lines: Differing<LineDefinition>;
  /** The names of the lines in the order in which they are wanted. */
  readonly order: readonly string[];
}

interface Running {
  readonly devices: Devices;
  readonly lines: Lines;
}

/**
 * Compares what runs with what is wanted, as work that can pause. Devices are equal when their entries are,
 * together with the registers that were defined at run time; values that were set since do not matter.
 */
export function* comparing({ devices, lines }: Running, wanted: WantedSetup): Work<Difference> {
  const present = Array.from(devices.byName.keys(), (name) => devices.definitionOf(name));
  const sourcesNow = sourcesOf(present);
  const sources = sourcesOf(wanted.devices);
  const isSame = ({ name, source, tables }: DeviceDefinition) => {
    if (!devices.byName.has(name)) return false;
    const now = devices.definitionOf(name);
    const isAsBefore = isDeepStrictEqual(devices.entryOf(name), source);
    return sourcesNow.get(now.tables) === sources.get(tables) && isAsBefore;
  };
  // A copy shares the tables of its source: those of the running one, when that stays.
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
    lines: yield* differing(presentLines, wanted.lines, isDeepStrictEqual),
    order: wanted.lines.map(({ name }) => name),
  };
}

/**
 * The names of the devices that others are copies of, by their tables: of devices with the same tables, the
 * first.
 */
function sourcesOf(all: readonly DeviceDefinition[]): ReadonlyMap<DeviceDefinition['tables'], string> {
  return new Map(all.toReversed().map(({ tables, name }) => [tables, name]));
}

/**
 * Compares two lists of definitions by their names, as work that can pause.
 * @param use makes what is reported of a definition that was added or has changed
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

/** Does a step. @returns a function that undoes the step, or why the step failed */
type UndoableStep = () => Promise<(() => Promise<unknown>) | Extract<LineOutcome, { ok: false }>>;

/**
 * Carries out a difference, all of it or nothing. If a port can't be opened, everything that ran before is
 * restored, with its registers. A line that is removed leaves its port to one that is added.
 * @param isStarted true when lines are opened
 * @param built the devices that are changed or added
 */
export async function changeOver(
  { devices, lines, isStarted }: Running & { readonly isStarted: boolean },
  difference: Difference,
  built: readonly DeviceApart[],
): Promise<LineOutcome> {
  const { added, changed, gone } = difference.devices;
  const order = [...lines.byName.keys()];
  const taken = [...gone, ...changed].map(({ name }) => devices.take(name));
  devices.put(built);

  const replaced = new Set(changed.map(({ name }) => name));
  const other = new Set([...difference.lines.gone, ...difference.lines.changed].map(({ name }) => name));
  const kept = linesWith(lines.byName.values(), replaced).filter(({ name }) => !other.has(name));
  const steps: UndoableStep[] = [
    ...difference.lines.gone.map(({ name }) => removal(lines, name)),
    ...changesOfLines(lines, [...kept.map(({ definition }) => definition), ...difference.lines.changed]),
    ...difference.lines.added.map((definition) => addition(lines, definition, isStarted)),
  ];
  const outcome = await allOrNone(steps, () => {
    // Another request may have removed a device meanwhile.
    for (const { name } of [...changed, ...added])
      if (devices.byName.has(name)) devices.end(devices.take(name));
    for (const each of taken) devices.putBack(each);
    devices.graph.link();
  });
  if (outcome.ok) for (const each of taken) devices.end(each);
  lines.arrange(outcome.ok ? difference.order : order);
  return outcome;
}

/**
 * Does one step after another. When a step fails, `fail` is called and the steps before it are undone, the
 * last one first.
 */
async function allOrNone(steps: readonly UndoableStep[], fail: () => void): Promise<LineOutcome> {
  const undo: (() => Promise<unknown>)[] = [];
  for (const step of steps) {
    const outcome = await step().catch(({ message }: Error) => ({ ok: false, error: message }) as const);
    if (typeof outcome === 'function') {
      undo.push(outcome);
      continue;
    }
    fail();
    for (const back of undo.reverse()) await back();
    return outcome;
  }
  return { ok: true };
}

/** Gives lines other definitions: all of them, or none. Their devices have to exist. */
export function changeTogether(lines: Lines, definitions: readonly LineDefinition[]): Promise<LineOutcome> {
  return allOrNone(changesOfLines(lines, definitions), () => {});
}

/** The names of the lines that have, or wait for, a port that another line is to get. */
export function linesThatMeet(
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
 * The changes of lines. A line that has, or waits for, a port that another line is to get is closed before
 * all changes and opened after them.
 */
function changesOfLines(lines: Lines, definitions: readonly LineDefinition[]): UndoableStep[] {
  const meeting = linesThatMeet(lines.byName, definitions);
  const opened = [...lines.byName.values()].filter((line) => meeting.has(line.name) && isOpened(line));
  const waiting = new Set(opened.filter(({ state }) => state.kind === 'waiting'));
  return [
    ...opened.map((line) => async () => {
      await line.stop();
      return () => line.start({ waits: true });
    }),
    ...definitions.map((definition) => change(lines, definition)),
    ...opened.map((line) => async () => {
      const started = await line.start({ waits: waiting.has(line) });
      return started.ok ? () => line.stop() : { ...started, error: `line ${line.name}: ${started.error}` };
    }),
  ];
}

function removal(lines: Lines, name: string): UndoableStep {
  return async () => {
    const line = lines.byName.get(name);
    if (!line) return async () => {};
    const wasOpen = isOpened(line);
    lines.drop(name);
    await line.stop();
    return async () => {
      lines.putBack(line);
      if (wasOpen) await line.start({ waits: true });
    };
  };
}

function change(lines: Lines, definition: LineDefinition): UndoableStep {
  return async () => {
    const { name } = definition;
    const line = lines.byName.get(name);
    if (!line) return { ok: false, error: `line ${name} was removed meanwhile` };
    const before = line.definition;
    const changed = await line.change(() => ({ definition, served: lines.servedBy(definition) }));
    if (!changed.ok) return { ...changed, error: `line ${name}: ${changed.error}` };
    return () => line.change(() => ({ definition: before, served: lines.servedBy(before) }));
  };
}

function addition(lines: Lines, definition: LineDefinition, isStarted: boolean): UndoableStep {
  return async () => {
    const { name } = definition;
    if (lines.byName.has(name)) return { ok: false, error: `line ${name} was added meanwhile` };
    const line = lines.add({ definition, served: lines.servedBy(definition) });
    const remove = async () => {
      lines.drop(name);
      await line.stop();
    };
    const started = isStarted ? await line.start() : ({ ok: true } as const);
    if (started.ok) return remove;
    await remove();
    return { ...started, error: `line ${name}: ${started.error}` };
  };
}

function isOpened({ state }: Line): boolean {
  return state.kind === 'open' || state.kind === 'waiting';
}
