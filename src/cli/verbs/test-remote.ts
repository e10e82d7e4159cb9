import { failure, type Result, success } from '../../common/result.js';
import type { ReportView } from '../../testing/report/report.js';
import type { DutDefinition } from '../../testing/scenario/dut.js';
import type { Audience } from '../../testing/scenario/run-scenario.js';
import { forRunningSimulator, type ScenarioFile } from '../../testing/scenario/scenario-file.js';
import { dutSchema } from '../../testing/scenario/schema.js';
import { Remote } from './remote.js';
import { REPORT, runThere } from './run-remotely.js';

interface TestAnswer {
  readonly id: number;
  readonly state: 'running' | 'over';
  readonly report: ReportView;
}

/**
 * The report of one scenario. If there is none, `text` says why, in lines for a terminal; `unwritten` names
 * the captures that were lost.
 */
export type RemoteEnd =
  | { readonly ok: true; readonly report: ReportView; readonly unwritten?: string }
  | { readonly ok: false; readonly text: string };

/** Runs a scenario on a simulator that already runs. The program of the scenario runs on this machine. */
export async function runRemotely(
  file: ScenarioFile,
  where: { readonly url: string; readonly token: string | undefined },
  audience: Omit<Audience, 'log'>,
): Promise<RemoteEnd> {
  const { directory } = file;
  const dut = dutOf(file);
  if (!dut.ok) return { ok: false, text: dut.error };
  const over = await runThere(
    new Remote(where.url, where.token),
    {
      path: '/api/v1/tests',
      body: forRunningSimulator(file),
      name: file.file,
      findings: ({ report }: TestAnswer) => report.findings,
      shape: REPORT,
      dut: dut.value,
      directory,
    },
    {
      onFinding: (finding, number) => audience.onFinding({ ...finding, frames: [] }, number),
      stop: audience.stop,
    },
  );
  if (!over.ok) return { ok: false, text: over.error };
  const { report } = over.body;
  audience.say(`${report.name}: ${report.verdict}. ${report.conclusions.join(' ')}`);
  return { ok: true, report };
}

/**
 * The program that the scenario starts; undefined if it starts none; a sentence if the program is invalid.
 */
function dutOf({ file, value }: ScenarioFile): Result<DutDefinition | undefined> {
  const source = (value as { readonly dut?: unknown }).dut;
  if (source === undefined) return success(undefined);
  const definition = dutSchema.safeParse(source);
  if (!definition.success)
    return failure(`${file}: dut: expected a mapping with command, ready and readyWithin`);
  return success({ ready: undefined, ...definition.data });
}
