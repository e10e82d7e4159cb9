import { signal } from '@preact/signals';
import { pathOf } from '../../../../common/rest-client/client.js';
import { doingText } from '../../../../testing/doing.js';
import { capital, resultText } from '../../../../testing/report/words.js';
import type { RunKind } from '../../../../testing/run-kinds.js';
import type {
  ClientSummary,
  FindingView,
  FuzzSummary,
  ScenarioSummary,
  ServerSummary,
} from '../../../api/v1/reports.js';
import { ask } from '../../api.js';
import { followTraffic } from '../../live.js';
import { resource } from '../../resource.js';
import { together } from '../../ui/element.js';
import type { Verdict } from '../../ui/verdict.js';

/** A step or a check, with its finding. */
export interface RunStep {
  readonly name: string;
  /** The group in which a check is shown. */
  readonly group: string;
  readonly verdict: Verdict;
  readonly message: string;
}

/** A run of any kind. */
export interface ShownRun {
  readonly id: number;
  readonly kind: RunKind;
  readonly name: string;
  readonly isRunning: boolean;
  readonly startedAt: string;
  /** How long it took, or has taken so far. */
  readonly durationMs: number;
  readonly verdict: Verdict;
  readonly lines: readonly string[];
  readonly steps: readonly RunStep[];
  readonly conclusions: readonly string[];
  /** What it is doing now; undefined when it is over. */
  readonly doing: string | undefined;
  /** What was done so far; absent if the counts of verdicts say it. */
  readonly tried?: string;
  /** The moves that made the client fail, to be played again. */
  readonly schedule?: readonly object[];
}

/** What is shown of a run in addition to what all runs have. */
type RunContent = Omit<ShownRun, 'id' | 'kind' | 'isRunning' | 'startedAt' | 'durationMs' | 'doing'>;

/** A run as REST lists it. */
type ListedRun = ScenarioSummary | ClientSummary | ServerSummary | FuzzSummary;

const listed = resource(
  () => '/runs',
  ({ runs }: { readonly runs: readonly ListedRun[] }) =>
    runs
      .map((run): ShownRun => {
        const { id, kind, state, startedAt, durationMs } = run;
        const isRunning = state === 'running';
        const doing = run.doing && capital(doingText(kind, run.doing));
        return { id, kind, isRunning, startedAt, durationMs, doing, ...contentOf(run) };
      })
      .sort((a, b) => b.id - a.id),
);

/** All runs, newest first; undefined until they are read. */
export const runs = listed.current;

/** Why the runs could not be read. */
export const unread = listed.problem;

export const readRuns = (): Promise<unknown> => listed.read();

/** The findings of the run shown, with their frames, as far as they were read. */
export const findings = signal<{ readonly id: number; readonly list: readonly FindingView[] }>({
  id: 0,
  list: [],
});

/** How often runs are read, in ms. A step may end without its event if the simulator had no room for it. */
const LOOK_MS = 2000;

/** Keeps the runs up to date until the returned function is called. Each test event causes a read. */
export function followRuns(): () => void {
  const timer = setInterval(() => {
    if (runs.peek()?.some(({ isRunning }) => isRunning)) void readRuns();
  }, LOOK_MS);
  return together(
    listed.follow(),
    followTraffic({ filter: new URLSearchParams({ kind: 'test' }), onBatch: () => void readRuns() }),
    () => clearInterval(timer),
  );
}

function contentOf(run: ListedRun): RunContent {
  switch (run.kind) {
    case 'scenario': {
      const { name, verdict, lines, steps } = run;
      return { name, verdict, lines, steps: steps.map((step) => ({ ...step, group: '' })), conclusions: [] };
    }
    case 'client': {
      const { name, verdict, line, checks, state } = run;
      // The measurements are complete only when the run has ended.
      const conclusions = state === 'running' ? [] : run.conclusions;
      const steps = checks.map((check) => {
        return { name: check.title, group: check.group, verdict: check.verdict, message: resultText(check) };
      });
      return { name, verdict, lines: [line], steps, conclusions };
    }
    case 'fuzz': {
      const { name, verdict, line, findings, conclusions, moves, plays, schedule } = run;
      const steps = findings.map(({ title, verdict, summary }) => {
        return { name: title, group: '', verdict, message: summary };
      });
      const tried = `${moves} moves in ${plays} plays`;
      return { name, verdict, lines: [line], steps, conclusions, tried, ...(schedule && { schedule }) };
    }
    case 'server': {
      const { name, verdict, server, checks, conclusions } = run;
      return {
        name,
        verdict,
        lines: [server.place],
        steps: checks.map(({ title, group, verdict, text }) => {
          return { name: title, group, verdict, message: text };
        }),
        conclusions,
      };
    }
  }
}

let readings = 0;

/** Reads the findings of a run with their frames. */
export async function readFindings({ id }: ShownRun): Promise<void> {
  const mine = ++readings;
  const answer = await ask<{ report: { findings: FindingView[] } }>('GET', pathOf('runs', id));
  // The answer to a later request, which contains more, may have arrived first.
  if (answer.ok && mine === readings) findings.value = { id, list: answer.value.report.findings };
}
