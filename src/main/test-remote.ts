import { setTimeout as sleep } from 'node:timers/promises';
import type { ReportView } from '../testing/report/view.js';
import { forRunningBench } from '../testing/scenario/bench.js';
import { Dut } from '../testing/scenario/dut.js';
import { withPlaces } from '../testing/scenario/places.js';
import type { Audience } from '../testing/scenario/run-scenario.js';
import type { ScenarioFile } from '../testing/scenario/scenario-file.js';
import { dutSchema } from '../testing/scenario/schema.js';
import { Remote } from './remote.js';

/** How often the simulator is asked how far the test is. */
const ASK_EVERY_MS = 200;

/** Characters of what a program has said last; they go into an address. */
const LONGEST_FAILURE = 1000;

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
    void audience.stop.then(() => void remote.ask('DELETE', path));
    void dut?.died().then((how) => {
      const failure = encodeURIComponent(how.slice(0, LONGEST_FAILURE));
      void remote.ask('DELETE', `${path}?failure=${failure}`);
    });
    return await follow(remote, path, audience);
  } finally {
    await dut?.stop();
  }
}

/** Tells the steps as they end, and resolves with the report. */
async function follow(remote: Remote, path: string, { told, say }: Omit<Audience, 'log'>): Promise<Ended> {
  for (let known = 0; ; await sleep(ASK_EVERY_MS)) {
    const answer = await remote.ask<TestAnswer>('GET', path);
    if (!answer.ok) return { ok: false, text: answer.error };
    const { state, report } = answer.body;
    for (const finding of report.findings.slice(known)) told({ ...finding, frames: [] }, ++known);
    if (state === 'running') continue;
    say(`${report.name}: ${report.verdict}. ${report.conclusions.join(' ')}`);
    return { ok: true, report };
  }
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
  const places = await remote.places();
  if (typeof places === 'string') return places;
  const command = withPlaces(definition.data.command, places);
  const started = await Dut.start(
    { ready: undefined, ...definition.data },
    { command, directory, giveUp: stop },
  );
  return started.ok ? started.dut : started.error;
}
