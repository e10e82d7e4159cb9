import { dirname, resolve } from 'node:path';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { isMapping } from '../../common/schema/parts.js';
import { formatProblems, type Issue, type Path } from '../../common/schema/problem.js';
import type { SourceText } from '../../files/config/text/parse-text.js';
import { readConfigFile } from '../../files/config/text/read-file.js';
import { type Parameters, readParameters, reportUnknownParameters, withParameters } from './parameters.js';

/** A scenario whose parameters, and the steps of other files, are put in. */
export interface ScenarioFile {
  readonly file: string;
  /** The directory in which its relative paths begin. */
  readonly directory: string;
  readonly value: unknown;
  /**
   * Writes mistakes, or warnings, as lines for a terminal. Mistakes in the steps of another file name that
   * file.
   */
  readonly format: (issues: readonly Issue[], form?: typeof formatProblems) => string;
}

export type LoadedScenario =
  | { readonly ok: true; readonly scenario: ScenarioFile }
  | { readonly ok: false; readonly text: string };

/** How deep files may use each other. Deeper use is taken for a mistake, or for a ring. */
const DEEPEST_USE = 8;

/** Steps from another file: where they were put, and how mistakes in them are reported. */
interface Inlined {
  readonly path: Path;
  readonly format: ScenarioFile['format'];
}

/** What a file needs to use others, and what was found wrong with them. */
interface Inlining {
  readonly directory: string;
  readonly depth: number;
  readonly parameters: Parameters;
  readonly inlined: Inlined[];
  readonly wrong: Issue[];
}

/**
 * Reads the file of a scenario and the files that it uses.
 * @param settings values of the parameters, as `name=value`
 * @param dut the command line of the program under test, in place of the one that the file names
 */
export function loadScenarioFile(file: string, settings: readonly string[], dut?: string): LoadedScenario {
  const parsed = readConfigFile(file);
  if (!parsed.ok) return { ok: false, text: formatProblems(file, parsed.problems) };
  const { value, locate } = parsed.source;
  const findings = fileFindings();
  const at = new At(value, findings);
  if (!at.entries('a mapping with name and steps')) {
    return { ok: false, text: formatProblems(file, locate(findings.listed)) };
  }
  const { values, wrong } = readParameters(at.key('parameters'), settings);
  reportUnknownParameters(at, values);
  const { parameters: _, ...source } = withParameters(value, values) as Record<string, unknown>;
  const directory = dirname(resolve(file));
  const inlining: Inlining = { directory, depth: 0, parameters: values, inlined: [], wrong: [] };
  const steps = inlinedSteps(source.steps, ['steps'], inlining);
  const format = formatterOf(file, locate, inlining.inlined);
  const issues = [...findings.listed, ...inlining.wrong];
  if (issues.length > 0 || wrong.length > 0) {
    return { ok: false, text: [...wrong, format(issues)].filter((text) => text !== '').join('\n') };
  }
  const scenario = {
    ...source,
    ...('steps' in source && { steps }),
    ...(dut !== undefined && { dut: { ...(isMapping(source.dut) && source.dut), command: dut } }),
  };
  return { ok: true, scenario: { file, directory, value: scenario, format } };
}

function formatterOf(
  file: string,
  locate: SourceText['locate'],
  inlined: readonly Inlined[],
): ScenarioFile['format'] {
  return (issues, form = formatProblems) => {
    const own = issues.filter(({ path }) => !inlined.some((each) => begins(path, each.path)));
    const others = inlined.map((each) =>
      each.format(
        issues
          .filter(({ path }) => begins(path, each.path))
          .map(({ path, message }) => ({ path: path.slice(each.path.length), message })),
        form,
      ),
    );
    return [form(file, locate(own)), ...others].filter((text) => text !== '').join('\n');
  };
}

function begins(path: Path, beginning: Path): boolean {
  return beginning.every((part, i) => path[i] === part);
}

/** Puts `steps` in the place of each `use`, also in groups. */
function inlinedSteps(steps: unknown, path: Path, inlining: Inlining): unknown {
  if (!Array.isArray(steps)) return steps;
  return steps.map((step, i) => {
    if (!isMapping(step)) return step;
    const here = [...path, i];
    if ('use' in step) return usedSteps(step, here, inlining);
    return 'steps' in step
      ? { ...step, steps: inlinedSteps(step.steps, [...here, 'steps'], inlining) }
      : step;
  });
}

function usedSteps(step: Readonly<Record<string, unknown>>, path: Path, inlining: Inlining): unknown {
  const { use, ...others } = step;
  const refuse = (message: string) => {
    inlining.wrong.push({ path: [...path, 'use'], message });
    return step;
  };
  if (typeof use !== 'string') return refuse('expected the path of a file with a list of steps');
  if ('steps' in step) return refuse('can not stand beside `steps`');
  if (inlining.depth >= DEEPEST_USE) return refuse(`files use each other more than ${DEEPEST_USE} deep`);
  const file = resolve(inlining.directory, use);
  const parsed = readConfigFile(file);
  if (!parsed.ok) return refuse(formatProblems(use, parsed.problems));
  const { value, locate } = parsed.source;
  if (!Array.isArray(value)) return refuse(`expected a list of steps in ${use}`);
  const findings = fileFindings();
  reportUnknownParameters(new At(value, findings), inlining.parameters);
  if (findings.listed.length > 0) return refuse(formatProblems(use, locate(findings.listed)));
  const inner: Inlining = {
    ...inlining,
    directory: dirname(file),
    depth: inlining.depth + 1,
    inlined: [],
    wrong: [],
  };
  const steps = inlinedSteps(withParameters(value, inlining.parameters), [], inner);
  const format = formatterOf(use, locate, inner.inlined);
  if (inner.wrong.length > 0) return refuse(format(inner.wrong));
  inlining.inlined.push({ path: [...path, 'steps'], format });
  return { ...others, steps };
}
