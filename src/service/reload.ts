import type { Configuration, LineDefinition } from '../config/configuration.js';
import type { LoadResult } from '../config/load.js';
import { type LineSource, lineSource, sourceChange } from '../config/native/line-source.js';
import { formatProblems, pathText } from '../schema/problem.js';
import type { LineChange, Simulator } from '../simulator/simulator.js';
import { changesOf, sourceOfCopy } from './changes.js';

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
 * Applies the changes in a configuration file to a running simulator: settings and units of lines, and fault rules.
 * Parts that are unchanged in the file are left alone, even if REST has changed them. A wrong file changes nothing.
 * @param file name of the file, for messages
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
  // Changes that were refused or need a restart must be found again by the next reload.
  const lines = before.lines.map((line) => kept.get(line.name) ?? line);
  return { configuration: { ...before, lines, faults: after.faults }, done, refused };
}

/** A line as written in its file, including copies of devices. */
function sourceIn(configuration: Configuration, line: LineDefinition): LineSource {
  const units = Array.from(line.units, ([unitId, device]) => {
    const source = sourceOfCopy(configuration, device);
    return [unitId, source === undefined ? device : { copyOf: source }];
  });
  return { ...lineSource(line), units: Object.fromEntries(units) };
}

/** @returns why the line was not changed; undefined on success. */
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
