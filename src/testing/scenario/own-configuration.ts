import { resolve } from 'node:path';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { formatProblems, formatWarnings } from '../../common/schema/problem.js';
import type { Configuration } from '../../files/config/configuration.js';
import { buildNative, loadNativeFile } from '../../files/config/load.js';
import type { ScenarioFile } from './scenario-file.js';

/** Sections of a scenario that describe a simulator of its own. A simulator that runs already has them. */
const OWN = ['configuration', 'devices', 'lines'] as const;

export type LoadedConfiguration =
  | { readonly ok: true; readonly configuration: Configuration; readonly warnings: string }
  | { readonly ok: false; readonly text: string };

/** Loads the configuration that a scenario names, or describes in place. */
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
    if (at.key(key).value !== undefined) at.key(key).wrong('can not stand beside `configuration`');
  }
  if (typeof named !== 'string') at.key('configuration').expected('the path of a native file');
  if (findings.count > 0 || typeof named !== 'string') return { ok: false, text: format(findings.listed) };
  const loaded = loadNativeFile(resolve(directory, named));
  if (!loaded.ok) return { ok: false, text: formatProblems(named, loaded.problems) };
  const warnings = loaded.warnings.length > 0 ? formatWarnings(named, loaded.warnings) : '';
  return { ok: true, configuration: loaded.configuration, warnings };
}

/**
 * Leaves out the sections that a running simulator does without: those on a simulator of its own, and its
 * program.
 */
export function forRunningSimulator({ value }: ScenarioFile): Readonly<Record<string, unknown>> {
  const left = new Set<string>([...OWN, 'dut']);
  return Object.fromEntries(Object.entries(value as object).filter(([key]) => !left.has(key)));
}
