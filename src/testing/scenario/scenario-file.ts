import { dirname, resolve } from 'node:path';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import { formatProblems, formatWarnings, type Issue, type Path, quote } from '../../common/schema/problem.js';
import type { Configuration } from '../../document/configuration.js';
import { buildNative, loadNativeFile } from '../../document/load.js';
import { NAME } from '../../document/native/entry-schema.js';
import type { SourceText } from '../../document/text/parse-text.js';
import { readConfigFile } from '../../document/text/read-file.js';

type Parameters = ReadonlyMap<string, string | number | boolean>;

const REFERENCE = /\$([A-Za-z_]\w*)/g;
const WHOLE_REFERENCE = /^\$([A-Za-z_]\w*)$/;

/**
 * Reads the declared parameters with their default values, and sets them according to `--set name=value`.
 * @param at the section `parameters`
 * @param settings texts of the form `name=value`
 * @returns `wrong` has the mistakes in the settings; those in the section are reported
 */
function readParameters(at: At, settings: readonly string[]): { values: Parameters; wrong: string[] } {
  const values = new Map<string, string | number | boolean>();
  const declared = at.value === undefined ? [] : (at.entries('initial values by parameter name') ?? []);
  for (const [name, { value }] of declared) {
    if (!NAME.test(name)) at.key(name).wrong('expected a name of letters, digits and underscores');
    else if (isScalar(value)) values.set(name, value);
    else at.key(name).expected('text, a number, true or false');
  }
  const wrong: string[] = [];
  for (const setting of settings) {
    const equals = setting.indexOf('=');
    const name = setting.slice(0, Math.max(0, equals));
    if (equals < 1) wrong.push(`--set: expected name=value, got ${quote(setting)}`);
    else if (!values.has(name)) wrong.push(`--set: ${unknownName('parameter', name, [...values.keys()])}`);
    else values.set(name, scalarOf(setting.slice(equals + 1)));
  }
  return { values, wrong };
}

/**
 * Replaces `$name` in the input with the value of the parameter. A text that consists only of `$name` becomes
 * the value itself. In a longer text an unknown name is left unchanged, because a command line has its own
 * variables.
 */
function withParameters(input: unknown, parameters: Parameters): unknown {
  if (typeof input === 'string') return replaced(input, parameters);
  if (Array.isArray(input)) return input.map((each) => withParameters(each, parameters));
  if (!isMapping(input)) return input;
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(input)) {
    result[String(replaced(key, parameters))] = withParameters(value, parameters);
  }
  return result;
}

/** Reports each text that consists only of `$name` if no parameter has this name. */
function reportUnknownParameters(at: At, parameters: Parameters): void {
  const { value } = at;
  if (typeof value === 'string') {
    const name = WHOLE_REFERENCE.exec(value)?.[1];
    if (name !== undefined && !parameters.has(name))
      at.wrong(unknownName('parameter', name, [...parameters.keys()]));
  } else if (Array.isArray(value)) {
    value.forEach((_, i) => {
      reportUnknownParameters(at.key(i), parameters);
    });
  } else if (isMapping(value)) {
    for (const key of Object.keys(value)) reportUnknownParameters(at.key(key), parameters);
  }
}

function replaced(text: string, parameters: Parameters): string | number | boolean {
  const name = WHOLE_REFERENCE.exec(text)?.[1];
  const value = name === undefined ? undefined : parameters.get(name);
  if (value !== undefined) return value;
  return text.replace(REFERENCE, (reference, each: string) => String(parameters.get(each) ?? reference));
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Parses a value from the command line like YAML would. */
function scalarOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** A scenario with its parameters and the steps of other files filled in. */
export interface ScenarioFile {
  readonly file: string;
  /** The base directory of its relative paths. */
  readonly directory: string;
  readonly value: unknown;
  /** Formats mistakes or warnings as lines for a terminal. Mistakes in the steps of another file name that file. */
  readonly format: (issues: readonly Issue[], form?: typeof formatProblems) => string;
}

type LoadedScenario =
  | { readonly ok: true; readonly scenario: ScenarioFile }
  | { readonly ok: false; readonly text: string };

/** Maximum nesting of files that use each other. Anything deeper counts as a mistake, or a cycle. */
const DEEPEST_USE = 8;

/** Steps from another file: where they were inserted, and how to report mistakes in them. */
interface Inlined {
  readonly path: Path;
  readonly format: ScenarioFile['format'];
}

/** The context in which a file uses others, and the mistakes found in them. */
interface Inlining {
  readonly directory: string;
  readonly depth: number;
  readonly parameters: Parameters;
  readonly inlined: Inlined[];
  readonly wrong: Issue[];
}

/**
 * Reads a scenario file and the files that it uses.
 * @param settings values of the parameters, as `name=value`
 * @param dut the command line of the program under test, instead of the one in the file
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

/** Replaces each `use` with its steps, even in groups. */
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
  if ('steps' in step) return refuse("can't be combined with `steps`");
  if (inlining.depth >= DEEPEST_USE) return refuse(`use is nested more than ${DEEPEST_USE} levels deep`);
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

/** Sections of a scenario that describe its own simulator. A running simulator already has them. */
const OWN = ['configuration', 'devices', 'lines'] as const;

type LoadedConfiguration =
  | { readonly ok: true; readonly configuration: Configuration; readonly warnings: string }
  | { readonly ok: false; readonly text: string };

/** Loads the configuration that a scenario names or contains. */
export function loadOwnConfiguration({ directory, value, format }: ScenarioFile): LoadedConfiguration {
  const findings = fileFindings();
  const at = new At(value, findings);
  const { value: named } = at.key('configuration');
  if (named === undefined) {
    const [devices, lines] = [at.key('devices').value, at.key('lines').value];
    const configuration = buildNative(directory, at.with({ devices, lines }), {});
    const warnings = findings.warnings.length > 0 ? format(findings.warnings) : '';
    return findings.count > 0
      ? { ok: false, text: format(findings.listed) }
      : { ok: true, configuration, warnings };
  }
  for (const key of ['devices', 'lines'] as const) {
    if (at.key(key).value !== undefined) at.key(key).wrong("can't be combined with `configuration`");
  }
  if (typeof named !== 'string') at.key('configuration').expected('the path of a native file');
  if (findings.count > 0 || typeof named !== 'string') return { ok: false, text: format(findings.listed) };
  const loaded = loadNativeFile(resolve(directory, named));
  if (!loaded.ok) return { ok: false, text: formatProblems(named, loaded.problems) };
  const warnings = loaded.warnings.length > 0 ? formatWarnings(named, loaded.warnings) : '';
  return { ok: true, configuration: loaded.configuration, warnings };
}

/**
 * Removes the sections that a running simulator does not need: those that describe a simulator, and the
 * program under test.
 */
export function forRunningSimulator({ value }: ScenarioFile): Readonly<Record<string, unknown>> {
  const left = new Set<string>([...OWN, 'dut']);
  return Object.fromEntries(Object.entries(value as object).filter(([key]) => !left.has(key)));
}
