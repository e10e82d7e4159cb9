import { computed, signal } from '@preact/signals';
import { pathOf } from '../../../../common/rest-client/client.js';
import type {
  ExaminationSummary,
  FindingView,
  InspectionView,
  ShakeSummary,
  TestSummary,
} from '../../../api/v1/reports.js';
import { ask } from '../../api.js';
import { followTraffic } from '../../live.js';
import { resource } from '../../resource.js';
import { together } from '../../ui/element.js';

export type Verdict = TestSummary['verdict'] | InspectionView['verdict'];

/** A step or a check, with its finding. */
export interface RunStep {
  readonly name: string;
  /** The group in which a check is shown. */
  readonly group: string;
  readonly verdict: Verdict;
  readonly message: string;
}

/** A test, an examination, a shake or an inspection. All have one sequence of numbers. */
export interface ShownRun {
  readonly id: number;
  readonly kind: 'tests' | 'examinations' | 'shakes' | 'inspections';
  readonly called: string;
  readonly name: string;
  readonly isRunning: boolean;
  readonly verdict: Verdict;
  readonly lines: readonly string[];
  readonly steps: readonly RunStep[];
  readonly conclusions: readonly string[];
  /** What was done so far; counts of the verdicts where it is not said. */
  readonly tried?: string;
  /** The moves at which a client fails, to be played again. */
  readonly schedule?: readonly object[];
}

/** What is shown of a run beside what all runs have. */
type RunContent = Omit<ShownRun, 'id' | 'kind' | 'called' | 'isRunning'>;

/**
 * The runs of a kind, as REST lists them.
 * @param contentOf makes what is shown of one
 */
function listOf<View extends { readonly id: number; readonly state: 'running' | 'over' }>(
  kind: ShownRun['kind'],
  called: string,
  contentOf: (view: View) => RunContent,
) {
  return resource(
    () => `/${kind}`,
    ({ [kind]: views = [] }: Readonly<Partial<Record<ShownRun['kind'], readonly View[]>>>) =>
      views.map((view): ShownRun => {
        const { id, state } = view;
        return { id, kind, called, isRunning: state === 'running', ...contentOf(view) };
      }),
  );
}

const KINDS = [
  listOf('tests', 'Test', testContent),
  listOf('examinations', 'Examination', examinationContent),
  listOf('shakes', 'Shake', shakeContent),
  listOf('inspections', 'Inspection', inspectionContent),
];

/** All runs, the newest first; undefined before they were read. */
export const runs = computed(() => {
  const lists = KINDS.flatMap(({ current: { value } }) => (value ? [value] : []));
  return lists.length === KINDS.length ? lists.flat().sort((a, b) => b.id - a.id) : undefined;
});

/** Why the runs could not be read. */
export const unread = computed(() => KINDS.find(({ problem }) => problem.value)?.problem.value);

export async function readRuns(): Promise<void> {
  await Promise.all(KINDS.map((each) => each.read()));
}

/** The findings of the run that is shown, with their frames, as far as they were read. */
export const findings = signal<{ readonly id: number; readonly list: readonly FindingView[] }>({
  id: 0,
  list: [],
});

/**
 * Interval in ms in which runs are read. A step may end without its event when the simulator had no room for
 * it.
 */
const LOOK_MS = 2000;

/**
 * Keeps the runs up to date until the returned function is called. Each event of a test is a reason to read
 * them.
 */
export function followRuns(): () => void {
  const timer = setInterval(() => {
    if (runs.peek()?.some(({ isRunning }) => isRunning)) void readRuns();
  }, LOOK_MS);
  return together(
    ...KINDS.map((each) => each.follow()),
    followTraffic({ filter: new URLSearchParams({ kind: 'test' }), onBatch: () => void readRuns() }),
    () => clearInterval(timer),
  );
}

function testContent({ name, verdict, lines, steps }: TestSummary): RunContent {
  return { name, verdict, lines, steps: steps.map((step) => ({ ...step, group: '' })), conclusions: [] };
}

function examinationContent({ name, verdict, line, checks, conclusions }: ExaminationSummary): RunContent {
  const steps = checks.map(({ title, group, verdict, summary }) => {
    return { name: title, group, verdict, message: summary };
  });
  return { name, verdict, lines: [line], steps, conclusions };
}

function shakeContent(shake: ShakeSummary): RunContent {
  const { name, verdict, line, findings, conclusions, moves, plays, schedule } = shake;
  const steps = findings.map(({ title, verdict, summary }) => {
    return { name: title, group: '', verdict, message: summary };
  });
  const tried = `${moves} moves in ${plays} plays`;
  return { name, verdict, lines: [line], steps, conclusions, tried, ...(schedule && { schedule }) };
}

function inspectionContent(inspection: InspectionView): RunContent {
  const { verdict, server, checks, conclusion, fates } = inspection;
  return {
    name: server.identification?.join(' ') ?? 'a server',
    verdict,
    lines: [server.place],
    steps: checks.map(({ title, group, verdict, text }) => ({ name: title, group, verdict, message: text })),
    conclusions: [conclusion, ...fates],
  };
}

let readings = 0;

/** Reads the findings of a run with their frames. */
export async function readFindings({ id, kind }: ShownRun): Promise<void> {
  const mine = ++readings;
  const answer = await ask<{ report: { findings: FindingView[] } }>('GET', pathOf(kind, id));
  // The answer to a later request, which has more, may have arrived first.
  if (answer.ok && mine === readings) findings.value = { id, list: answer.value.report.findings };
}
