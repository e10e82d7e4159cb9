import { z } from 'zod';
import { bounded, section, text, wholeNumber } from '../../common/schema/parts.js';
import {
  type FindingHead,
  type FindingView,
  headOf,
  type Report,
  type ReportView,
  type RunAbout,
} from './report.js';

const MOST_CHARACTERS = 500;

const said = (what: string) =>
  text(what).max(MOST_CHARACTERS, { error: `at most ${MOST_CHARACTERS} characters` });

/** The schema of what a tester says about a run. */
export const aboutSchema = section({
  client: said('the name and version of the client').describe('Name and version of the client.').optional(),
  tester: said('a name').describe('Who tests.').optional(),
  remark: said('a remark').describe('Anything else that belongs on the report.').optional(),
}) satisfies z.ZodType<RunAbout, unknown>;

const step = z.object({
  name: z.string(),
  verdict: z.string(),
  message: z.string(),
  durationMs: z.number(),
  frames: z.array(z.looseObject({}) as z.ZodType<object>).readonly(),
});

export const scenarioReportSchema = z.object({
  name: z.string(),
  verdict: z.string(),
  stopped: z.boolean(),
  steps: z.array(step),
  /** When the test began, in ISO 8601. */
  startedAt: z.string(),
  durationMs: z.number(),
  seed: z.number(),
  about: aboutSchema.optional(),
  versions: z.array(z.object({ name: z.string(), version: z.string() })).readonly(),
});

/** The JSON report on a test as a value whose steps are made one by one. */
export function scenarioJsonByStep(report: ReportView) {
  const { name, verdict, isStopped, findings, startedAt, durationMs, seed, about, versions } = report;
  return {
    name,
    verdict,
    stopped: isStopped,
    steps: stepsJson(findings),
    startedAt: new Date(startedAt).toISOString(),
    durationMs,
    seed,
    ...(about && { about: { ...about } }),
    versions,
  };
}

function* stepsJson(findings: readonly FindingView[]) {
  for (const { title, verdict, summary, durationMs, frames } of findings) {
    yield { name: title, verdict, message: summary, durationMs, frames };
  }
}

/** The JSON of one test as an object, or of several tests as a list of objects. */
export function scenariosJson(reports: readonly ReportView[]): string {
  const [first, ...others] = reports.map(scenarioJsonByStep);
  return textOf(others.length === 0 ? first : [first, ...others]);
}

/** Writes a report whose lists are made one by one. */
function textOf(report: unknown): string {
  const listed = (value: unknown) =>
    typeof value === 'object' && value !== null && Symbol.iterator in value
      ? [...(value as Iterable<unknown>)]
      : value;
  return `${JSON.stringify(report, (_, value) => listed(value), 2)}\n`;
}

const ms = z.number();

const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

/** Whether a run was stopped, as every report and every answer of REST has it. */
export const stopped = z
  .boolean()
  .describe('True when somebody stopped it before its end: then it is no verdict.');

const found = z
  .object({
    timeoutMs: z
      .object({ value: ms, plusMinus: ms })
      .optional()
      .describe('How long after its request a reply is waited for, in ms.'),
    attempts: z.number().optional().describe('How often a question is asked before it is given up.'),
    pausesMs: z
      .array(ms)
      .optional()
      .describe(
        'From giving up an attempt to the next one, in ms: one pause for each attempt but the first.',
      ),
    pollPeriodMs: ms.optional().describe('How often the disturbed question is asked, in ms.'),
  })
  .describe('What was measured. What is absent is not known.');

const checkShape = {
  id: z.string(),
  group: z.string(),
  title: z.string(),
  verdict: verdict.describe(
    '`inconclusive`: what happened on the line does not decide it. `not run`: it was not reached. `error`: the bench failed.',
  ),
  summary: z.string().describe('What was found, in words.'),
  conclusion: z
    .string()
    .optional()
    .describe('Of a failure: what is wrong with the client, as a part of a sentence.'),
  confidence: z
    .object({ agreeing: z.number(), trials: z.number() })
    .optional()
    .describe('The number of trials that show it, and of all trials.'),
  durationMs: ms,
};

/** The fields of a client test, without the frames that are its evidence. */
export const clientShape = {
  name: z.string(),
  line: z.string(),
  seed: z.number().describe('The order of the checks and their random parts come from it.'),
  verdict: verdict.describe(
    'The worst one of all checks; `error` when it could not begin, or when half of the checks were not run and none failed.',
  ),
  stopped,
  conclusions: z.array(z.string()).describe('Plain sentences for the first page.'),
  found,
  checks: z.array(z.object(checkShape)),
};

/** The frames that are the evidence of a finding. */
const framesShape = z
  .array(
    z.looseObject({
      seq: z.number().describe('Sequence number of the event in the traffic.'),
      line: z.string(),
      kind: z.string().describe('As in `GET /api/v1/traffic`.'),
      time: z.string(),
      text: z.string(),
      bytes: z.string().optional(),
    }),
  )
  .describe('What shows it: the exchanges, in their order.');

/** The fields of every report that are not of its summary. */
const reportShape = {
  about: aboutSchema.optional().describe('What the tester says about it.'),
  startedAt: z.iso.datetime(),
  durationMs: ms,
  versions: z.array(z.object({ name: z.string(), version: z.string() })),
};

export const clientReportSchema = z.object({
  ...clientShape,
  checks: z.array(z.object({ ...checkShape, frames: framesShape })),
  ...reportShape,
});

type Summary = z.infer<z.ZodObject<typeof clientShape>>;

/** What summaries need of a report: no frames. */
type SummedUp = Pick<
  Report,
  'name' | 'line' | 'seed' | 'verdict' | 'isStopped' | 'conclusions' | 'found' | 'tried' | 'fuzzed'
> & {
  readonly findings: readonly FindingHead[];
};

/** Summarizes a client test as far as it has come, without frames. */
export function clientSummary(report: SummedUp): Summary {
  return {
    ...headJson(report),
    found: inTenths(report.found ?? {}),
    checks: report.findings.map(checkJson),
  };
}

/** The fields with which every summary begins. */
function headJson({ name, line = '', seed, verdict, isStopped, conclusions }: SummedUp) {
  return { name, line, seed, verdict, stopped: isStopped, conclusions: [...conclusions] };
}

export function clientJson(report: ReportView): string {
  return textOf(clientJsonByCheck(report));
}

/** The JSON report on a client test as a value whose checks are made one by one. */
export function clientJsonByCheck(report: ReportView) {
  return { ...clientSummary(report), checks: checksJson(report.findings), ...reportJson(report) };
}

/** The fields of a report that are not of its summary. */
function reportJson({ startedAt, durationMs, about, versions }: ReportView) {
  return {
    ...(about && { about: { ...about } }),
    startedAt: new Date(startedAt).toISOString(),
    durationMs: tenths(durationMs),
    versions: versions.map((each) => ({ ...each })),
  };
}

function* checksJson(
  findings: readonly FindingView[],
): Generator<z.infer<typeof clientReportSchema>['checks'][number], void> {
  for (const finding of findings) {
    yield { ...checkJson(finding), frames: finding.frames.map((each) => ({ ...each })) };
  }
}

/** Copies plain data with every number rounded to tenths. */
function inTenths(found: NonNullable<Report['found']>): Summary['found'] {
  return JSON.parse(JSON.stringify(found), (_, value: unknown) =>
    typeof value === 'number' ? tenths(value) : value,
  );
}

/** Rounds to a tenth of a millisecond. No measurement is more exact. */
function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function checkJson(finding: FindingHead): Summary['checks'][number] {
  const { about, durationMs, ...head } = headOf(finding);
  return { ...head, group: about?.group ?? '', durationMs: tenths(durationMs) };
}

const MOST_PLAYED = 200;
const MOST_REQUESTS = 1000;

/** The schema of a schedule of moves, in a report and in an order. */
export const scheduleSchema = bounded(
  z.array(
    section({
      after: wholeNumber(0, MOST_REQUESTS, 'a number of requests').describe(
        'How many requests of the client come before the move begins.',
      ),
      requests: wholeNumber(1, MOST_REQUESTS, 'a number of requests').describe(
        'How many requests the move lasts.',
      ),
      does: z
        .record(z.string(), z.unknown(), { error: 'the actions of a step of a scenario' })
        .describe('What is done, as a step of a scenario writes it.'),
    }),
    { error: 'a list of moves' },
  ),
  MOST_PLAYED,
  'moves',
);

/** The fields of a fuzz run, without the frames that are its evidence and without the scenario. */
export const fuzzShape = {
  name: z.string(),
  line: z.string(),
  seed: z.number().describe('The same seed tries the same moves.'),
  verdict: checkShape.verdict.describe(
    '`fail`: the client failed in two of three plays of the same moves. `inconclusive`: it failed once, or too few moves were tried. `error`: it could not begin.',
  ),
  stopped,
  conclusions: z.array(z.string()).describe('Plain sentences for the first page.'),
  moves: z.number().describe('How many moves were tried.'),
  plays: z.number().describe('How many schedules were played, those of shrinking among them.'),
  schedule: scheduleSchema
    .optional()
    .describe('The shortest schedule at which the client fails, as `replay` of an order takes it.'),
  first: z.number().optional().describe('Sequence number of the first event of the play that shows it.'),
  last: z.number().optional().describe('Sequence number of its last event.'),
  nearest: z.string().optional().describe('The entry of the catalogue that does the most of the schedule.'),
  findings: z.array(z.object(checkShape)).describe('The failures of the client, in their order.'),
};

export const fuzzReportSchema = z.object({
  ...fuzzShape,
  scenario: z.string().optional().describe('The schedule as a scenario, in YAML.'),
  findings: z.array(z.object({ ...checkShape, frames: framesShape })),
  ...reportShape,
});

/** Summarizes a fuzz run as far as it has come, without frames. */
export function fuzzSummary(report: SummedUp): z.infer<z.ZodObject<typeof fuzzShape>> {
  const { tried, fuzzed, findings } = report;
  const { schedule, first, last, nearest } = fuzzed ?? {};
  return {
    ...headJson(report),
    moves: tried?.moves ?? 0,
    plays: tried?.plays ?? 0,
    ...(schedule && { schedule: schedule.map((move) => ({ ...move })), first, last }),
    ...(nearest !== undefined && { nearest }),
    findings: findings.map(checkJson),
  };
}

export function fuzzJson(report: ReportView): string {
  return textOf(fuzzJsonByFinding(report));
}

/** The JSON report on a fuzz run as a value whose findings are made one by one. */
export function fuzzJsonByFinding(report: ReportView) {
  const { fuzzed, findings } = report;
  return {
    ...fuzzSummary(report),
    ...(fuzzed && { scenario: fuzzed.scenario }),
    findings: checksJson(findings),
    ...reportJson(report),
  };
}
