import type { z } from 'zod';
import type { RunKind } from '../run-kinds.js';
import {
  type FindingHead,
  type FindingView,
  headOf,
  type Report,
  type RunReport,
  type RunView,
} from './report.js';
import type { clientRun, fuzzRun, scenarioRun } from './shapes.js';

type ScenarioJson = z.infer<z.ZodObject<typeof scenarioRun>>;
type ClientJson = z.infer<z.ZodObject<typeof clientRun>>;
type FuzzJson = z.infer<z.ZodObject<typeof fuzzRun>>;

/** The key of the findings in the JSON of each kind. */
const LISTS = { scenario: 'steps', client: 'checks', fuzz: 'findings', server: 'checks' } as const;

/** The JSON of a run so far, by kind, without the evidence of its findings. */
const KINDS = {
  scenario: (report): ScenarioJson => ({
    ...frameJson('scenario', report),
    steps: report.findings.map(({ title, verdict, summary, missed, durationMs }) => {
      const head = { name: title, verdict, message: summary, durationMs: tenths(durationMs) };
      return missed ? { ...head, missed: { ...missed } } : head;
    }),
  }),
  client: (report): ClientJson => ({
    ...frameJson('client', report),
    line: report.line ?? '',
    found: inTenths(report.found ?? {}),
    checks: report.findings.map(checkJson),
  }),
  fuzz: (report): FuzzJson => {
    const { schedule, first, last, nearest } = report.fuzzed ?? {};
    return {
      ...frameJson('fuzz', report),
      line: report.line ?? '',
      moves: report.tried?.moves ?? 0,
      plays: report.tried?.plays ?? 0,
      ...(schedule && { schedule: schedule.map((move) => ({ ...move })), first, last }),
      ...(nearest !== undefined && { nearest }),
      findings: report.findings.map(checkJson),
    };
  },
  // A server test has its own kind of verdict.
  server: (report) => ({ ...frameJson('server', report), ...report.json }),
} as const satisfies Readonly<Record<RunKind, (report: RunReport) => object>>;

/** The first keys in the JSON of every run. */
function frameJson<Kind extends RunKind>(kind: Kind, report: RunReport) {
  const { name, seed, verdict, isStopped, conclusions, about, startedAt, durationMs, versions } = report;
  return {
    kind,
    name,
    seed,
    verdict,
    stopped: isStopped,
    conclusions: [...conclusions],
    ...(about && { about: { ...about } }),
    startedAt: new Date(startedAt).toISOString(),
    durationMs: tenths(durationMs),
    versions: versions.map((each) => ({ ...each })),
  };
}

/** The JSON of a run so far, without the frames and exchanges of its findings. */
export function summaryJson(report: RunReport): object {
  return KINDS[report.kind](report);
}

/** The JSON report on a run as a value whose findings are created one by one. */
export function reportJson(report: RunView): Readonly<Record<string, unknown>> {
  const list = LISTS[report.kind];
  const { [list]: heads, ...others } = summaryJson(report) as Readonly<Record<string, readonly object[]>>;
  return {
    ...others,
    ...(report.fuzzed && { scenario: report.fuzzed.scenario }),
    [list]: withEvidence(heads ?? [], report.findings),
  };
}

function* withEvidence(heads: readonly object[], findings: readonly FindingView[]): Generator<object, void> {
  for (const [i, head] of heads.entries()) {
    const finding = findings[i] as FindingView & { readonly exchanges?: readonly object[] };
    const { exchanges } = finding;
    yield exchanges
      ? { ...head, exchanges }
      : { ...head, frames: finding.frames.map((each) => ({ ...each })) };
  }
}

/** The JSON report on one run as text; several runs become a list. */
export function jsonReport(reports: readonly RunView[]): string {
  const [first, ...others] = reports.map(reportJson);
  return jsonText(others.length === 0 ? first : [first, ...others]);
}

/** Serialises reports whose findings are created one by one. */
export function jsonText(reports: unknown): string {
  const listed = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && Symbol.iterator in value
      ? [...(value as Iterable<unknown>)]
      : value;
  return `${JSON.stringify(reports, listed, 2)}\n`;
}

/** Copies plain data with every number rounded to tenths. */
function inTenths(found: NonNullable<Report['found']>): ClientJson['found'] {
  return JSON.parse(JSON.stringify(found), (_, value: unknown) =>
    typeof value === 'number' ? tenths(value) : value,
  );
}

/** Rounds to a tenth of a millisecond, which is the precision of the measurements. */
function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function checkJson(finding: FindingHead): ClientJson['checks'][number] {
  const { about, durationMs, ...head } = headOf(finding);
  return { ...head, group: about?.group ?? '', durationMs: tenths(durationMs) };
}
