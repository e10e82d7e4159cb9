import type { Configuration, LineDefinition } from '../config/configuration.js';
import type { LoadResult } from '../config/load.js';
import { type LineSource, lineSource, sourceChange } from '../config/native/line-source.js';
import { formatProblems, pathText } from '../schema/problem.js';
import type { LineChange, Simulator } from '../simulator/simulator.js';
import { changesOf, sourceOfCopy } from './changes.js';

/** What came of reading the configuration again; every text is for people. */
export interface Reloaded {
  /** What the simulator has been built and changed from: the basis of the next comparison. */
  readonly configuration: Configuration;
  /** What is as the file says now: `line bench`. */
  readonly done: readonly string[];
  /** What stays as it was, and why: the file is wrong, a port refused, it needs a restart. */
  readonly refused: readonly string[];
}

/**
 * Changes a running simulator to what its file says now, as far as that can be: settings and units of lines, and fault
 * rules. What the file has not changed is left alone, with whatever REST has made of it. A wrong file changes nothing.
 * @param file its name, for messages
 */
export async function reload(
  simulator: Simulator,
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
  const kept = new Map(after.lines.map((line) => [line.name, line]));
  for (const line of changes.lines) {
    const { name } = line.after;
    const change = sourceChange(sourceIn(before, line.before), sourceIn(after, line.after));
    const problem = await changeLine(simulator, name, change);
    if (problem === undefined) done.push(`line ${name}`);
    else {
      refused.push(`line ${name}: ${problem}`);
      kept.set(name, line.before);
    }
  }
  if (simulator.faults.configure(after.faults)) done.push('faults');
  // What needs a restart, and what was refused, is still different the next time.
  const lines = before.lines.map((line) => kept.get(line.name) ?? line);
  return { configuration: { ...before, lines, faults: after.faults }, done, refused };
}

/** A line as its file has it, copies of devices included. */
function sourceIn(configuration: Configuration, line: LineDefinition): LineSource {
  const units = Array.from(line.units, ([unitId, device]) => {
    const source = sourceOfCopy(configuration, device);
    return [unitId, source === undefined ? device : { copyOf: source }];
  });
  return { ...lineSource(line), units: Object.fromEntries(units) };
}

/** @returns why the line stays as it was. */
async function changeLine(
  simulator: Simulator,
  name: string,
  change: LineSource,
): Promise<string | undefined> {
  const line = simulator.lines.get(name);
  if (!line) return 'there is no such line';
  const changed = await simulator.changeLine(line, change);
  return changed.ok ? undefined : problemOf(changed);
}

function problemOf(change: Exclude<LineChange, { ok: true }>): string {
  if ('error' in change) return change.error;
  return change.issues.listed.map(({ path, message }) => `${pathText(path)}: ${message}`).join('; ');
}
