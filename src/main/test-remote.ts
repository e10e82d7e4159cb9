import type { ReportView } from '../testing/report/view.js';
import { forRunningBench } from '../testing/scenario/bench.js';
import type { Dut } from '../testing/scenario/dut.js';
import type { Audience } from '../testing/scenario/run-scenario.js';
import type { ScenarioFile } from '../testing/scenario/scenario-file.js';
import { dutSchema } from '../testing/scenario/schema.js';
import { follow } from './follow-remote.js';
import { Remote } from './remote.js';
import { endRemotely, startRemoteDut } from './remote-dut.js';

interface TestAnswer {
  readonly id: number;
  readonly state: 'running' | 'over';
  readonly report: ReportView;
}

/** The report of one scenario; `text` says in lines for a terminal why there is none, `unwritten` which captures are lost. */
export type Ended =
  | { readonly ok: true; readonly report: ReportView; readonly unwritten?: string }
  | { readonly ok: false; readonly text: string };

/** Runs a scenario on a simulator that runs already. Its program runs here. */
export async function runRemotely(
  file: ScenarioFile,
  where: { readonly url: string; readonly token: string | undefined },
  audience: Omit<Audience, 'log'>,
): Promise<Ended> {
  const remote = new Remote(where.url, where.token);
  const dut = await startDut(file, remote, audience.stop);
  if (typeof dut === 'string') return { ok: false, text: dut };
  try {
    const started = await remote.ask<TestAnswer>('POST', '/api/v1/tests', forRunningBench(file));
    if (!started.ok) return { ok: false, text: `${file.file}: ${started.error}` };
    const path = `/api/v1/tests/${started.body.id}`;
    endRemotely(remote, path, audience.stop, dut);
    const over = await follow(
      () => look(remote, path),
      (finding, number) => audience.onFinding({ ...finding, frames: [] }, number),
    );
    if (!over.ok) return { ok: false, text: over.error };
    const { report } = over.body;
    audience.say(`${report.name}: ${report.verdict}. ${report.conclusions.join(' ')}`);
    return { ok: true, report };
  } finally {
    await dut?.stop();
  }
}

async function look(remote: Remote, path: string) {
  const answer = await remote.ask<TestAnswer>('GET', path);
  if (!answer.ok) return answer;
  const { state, report } = answer.body;
  return { ok: true, body: { state, report, findings: report.findings } } as const;
}

/** @returns undefined without a program, or why it can't be started */
async function startDut(
  { file, directory, value }: ScenarioFile,
  remote: Remote,
  stop: Promise<unknown>,
): Promise<Dut | undefined | string> {
  const source = (value as { readonly dut?: unknown }).dut;
  if (source === undefined) return undefined;
  const definition = dutSchema.safeParse(source);
  if (!definition.success) return `${file}: dut: expected a mapping with command, ready and readyWithin`;
  return startRemoteDut({ ready: undefined, ...definition.data }, directory, remote, stop);
}
