import { z } from 'zod';
import { bounded, section, text, wholeNumber } from '../../common/schema/parts.js';
import type { Doing } from '../doing.js';

const MOST_CHARACTERS = 500;

const said = (what: string) =>
  text(what).max(MOST_CHARACTERS, { error: `at most ${MOST_CHARACTERS} characters` });

/** The schema of a tester's notes about a run. */
export const aboutSchema = section({
  client: said('the name and version of the client').describe('Name and version of the client.').optional(),
  tester: said('a name').describe('Who tests.').optional(),
  remark: said('a remark').describe('Anything else that belongs in the report.').optional(),
});

const ms = z.number();

export const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

/** The first keys in the JSON of every run, in lists, answers and reports. */
const frame = {
  name: z.string(),
  seed: z.number().describe('The seed of all random choices.'),
  verdict: verdict.describe('The findings so far.'),
  stopped: z.boolean().describe('True if the run was stopped before the end. It then has no verdict.'),
  conclusions: z.array(z.string()).describe('Plain sentences for the first page.'),
  about: aboutSchema.optional().describe("The tester's remark."),
  startedAt: z.iso.datetime(),
  durationMs: ms,
  versions: z
    .array(z.object({ name: z.string(), version: z.string() }))
    .meta({ id: 'Versions', description: 'Versions of this program, Node.js and the system.' }),
};

/** The current activity of a run, which is shown with its report but never kept. */
export const doingSchema = z
  .object({
    what: z.string().describe('What is running: a check, a step or a move.'),
    number: z.number().optional().describe('Its number, counted from 1.'),
    of: z.number().optional().describe('How many there are; absent if that is not known.'),
    leftMs: ms.optional().describe('Time left, if it has a fixed duration.'),
    moreMs: ms.optional().describe('Estimated time left for the run, if known.'),
    last: z
      .object({ text: z.string(), agoMs: ms })
      .optional()
      .describe('What the client did last; fuzz runs only.'),
  })
  .meta({
    id: 'Doing',
    description: 'What the run is doing; absent when it is over.',
  }) satisfies z.ZodType<Doing>;

/** The frames that are the evidence for a finding. */
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
  .describe('The exchanges that show it, in order.');

/** What a failed step or check expected, and what came instead. */
const missed = z
  .object({
    expected: z.string(),
    received: z.string(),
    frame: z.number().optional().describe('Sequence number of the deciding frame; absent if there was none.'),
  })
  .optional()
  .describe('What was expected, and what was received instead; failures only.');

const stepShape = {
  name: z.string(),
  verdict,
  message: z.string().describe('What was found; if `missed` is present, the same, laid out in lines.'),
  missed,
  durationMs: ms,
};

/** A scenario in progress or completed, without the frames that are its evidence. */
export const scenarioRun = {
  ...frame,
  kind: z.literal('scenario'),
  steps: z.array(z.object(stepShape)),
};

export const scenarioReportSchema = z.object({
  ...scenarioRun,
  steps: z.array(z.object({ ...stepShape, frames: framesShape })),
});

export const measurements = z
  .object({
    timeoutMs: z
      .object({ value: ms, plusMinus: ms })
      .optional()
      .describe('How long the client waits for a reply, in ms.'),
    retries: z
      .number()
      .optional()
      .describe(
        'How many times the client repeats an unanswered request before it gives up; 0: it does not retry.',
      ),
    pausesMs: z
      .array(ms)
      .optional()
      .describe('Pause from giving up on a request to its retry, in ms: one for each retry.'),
    pollPeriodMs: ms.optional().describe('Period of the disturbed poll, in ms.'),
  })
  .describe('The measurements. A value that is absent is not known.');

const checkShape = {
  id: z.string(),
  group: z.string(),
  title: z.string(),
  verdict: verdict.describe(
    '`inconclusive`: the events on the line do not decide it. `not run`: the check was not reached. `error`: the bench failed.',
  ),
  summary: z.string().describe('What was found, in words.'),
  missed,
  conclusion: z
    .string()
    .optional()
    .describe('The defect of the client, as part of a sentence; failures only.'),
  confidence: z
    .object({ agreeing: z.number(), trials: z.number() })
    .optional()
    .describe('The number of trials that show it, and the number of all trials.'),
  durationMs: ms,
};

/** A client test, without the frames that are its evidence. */
export const clientRun = {
  ...frame,
  kind: z.literal('client'),
  line: z.string(),
  verdict: verdict.describe(
    'The worst verdict of all checks; `error` if the run could not begin, or if half of the checks were not run and none failed.',
  ),
  found: measurements,
  checks: z.array(z.object(checkShape)),
};

export const clientReportSchema = z.object({
  ...clientRun,
  checks: z.array(z.object({ ...checkShape, frames: framesShape })),
});

const MOST_PLAYED = 200;
const MOST_REQUESTS = 1000;

/** The schema of a schedule of moves, used in reports and orders. */
export const scheduleSchema = bounded(
  z.array(
    section({
      after: wholeNumber(0, MOST_REQUESTS, 'a number of requests').describe(
        'Number of requests from the client before the move begins.',
      ),
      requests: wholeNumber(1, MOST_REQUESTS, 'a number of requests').describe(
        'Length of the move, in requests.',
      ),
      does: z
        .record(z.string(), z.unknown(), { error: 'the actions of a step of a scenario' })
        .describe('The actions, written as in a step of a scenario.'),
    }),
    { error: 'a list of moves' },
  ),
  MOST_PLAYED,
  'moves',
);

/** A fuzz run, without the frames that are its evidence and without the scenario. */
export const fuzzRun = {
  ...frame,
  kind: z.literal('fuzz'),
  line: z.string(),
  seed: z.number().describe('The same seed gives the same moves.'),
  verdict: checkShape.verdict.describe(
    '`fail`: the client failed in two of three plays of the same moves. `inconclusive`: it failed once, or too few moves were tried. `error`: the run could not begin.',
  ),
  moves: z.number().describe('Number of moves tried.'),
  plays: z.number().describe('Number of schedules played, including those for shrinking.'),
  schedule: scheduleSchema
    .optional()
    .describe('The shortest schedule that makes the client fail, in the form that `replay` accepts.'),
  first: z.number().optional().describe('Sequence number of the first event of the play that shows it.'),
  last: z.number().optional().describe('Sequence number of its last event.'),
  nearest: z.string().optional().describe('The catalogue entry closest to the schedule.'),
  findings: z.array(z.object(checkShape)).describe("The client's failures, in order."),
};

export const fuzzReportSchema = z.object({
  ...fuzzRun,
  scenario: z.string().optional().describe('The schedule as a scenario, in YAML.'),
  findings: z.array(z.object({ ...checkShape, frames: framesShape })),
});

const codes = z.array(z.number());
const perFunction = z.record(z.string(), z.number());

const serverVerdict = z.enum(['conforms', 'violates', 'unsupported', 'fact', 'inconclusive', 'not-run']);
const serverCheckShape = {
  id: z.string(),
  group: z.string(),
  title: z.string().describe('The subject of the check, or the observed violation.'),
  verdict: serverVerdict.describe(
    '`unsupported`: the server lacks it, which is allowed. `fact`: reported, not judged. `inconclusive`: the text says what would decide it.',
  ),
  grade: z
    .enum(['dangerous', 'met', 'seldom'])
    .optional()
    .describe('Severity of a violation: `met` means that common clients notice it.'),
  code: z
    .string()
    .optional()
    .describe('The finding as a code; absent if the server conforms. docs/findings.md lists the codes.'),
  facts: z
    .looseObject({})
    .optional()
    .describe('The facts that belong to the code. Names of times end with their unit: `pauseMs`.'),
  text: z.string().describe('The finding in words.'),
  seen: z
    .object({ times: z.number(), of: z.number() })
    .optional()
    .describe('The number of cases in which it was seen, and the number in which it could have been.'),
  clause: z.string().describe('The clause of the specification.'),
};

/** A server test, without the exchanges that are its evidence. */
export const serverRun = {
  ...frame,
  kind: z.literal('server'),
  server: z.object({
    place: z.string().describe('How the server is reached.'),
    unit: z.number(),
    identification: z.array(z.string()).optional().describe('The texts of function 43/14.'),
  }),
  verdict: serverVerdict.describe(
    '`violates` if a check found a violation or a value was lost; `not-run` if there was no reply at all; `inconclusive` if the run was stopped before a violation was seen.',
  ),
  fates: z.array(z.string()).describe('When the server fell silent, and whether it came back.'),
  lost: z
    .array(
      z.object({
        unitId: z.number(),
        table: z.enum(['holding', 'coils']),
        address: z.number(),
        had: z.number().optional().describe('The value before; absent if it was never read.'),
        has: z.number().optional().describe('The value now; absent if it was not read.'),
      }),
    )
    .describe('The values that were changed and could not be restored.'),
  requests: z.number(),
  dataSheet: z
    .object({
      functions: z.object({ there: codes, missing: codes, silent: codes }),
      most: perFunction.describe('Maximum number of registers or bits per read, by function.'),
      lastAddress: perFunction.describe('The highest address found, by function.'),
      replyMs: z
        .object({ least: z.number(), median: z.number(), p99: z.number(), most: z.number() })
        .partial()
        .loose()
        .optional(),
      pauseMs: z.number().describe('The pause that the server needs before each request, in ms.'),
      connections: z
        .object({ served: z.number(), next: z.enum(['refused', 'closed', 'evicts', 'untried']) })
        .optional()
        .describe('Number of connections served at the same time, and what happens to the next one.'),
    })
    .describe('The properties of the server that were found.'),
  counts: z.record(z.string(), z.number()).describe('Number of checks per verdict, as on the card.'),
  behavesAs: z
    .array(z.object({ id: z.string(), title: z.string(), sources: z.array(z.string()) }))
    .describe('The catalogue entries that match, with links to their sources.'),
  checks: z.array(z.object(serverCheckShape)),
};

export const serverReportSchema = z.object({
  ...serverRun,
  checks: z.array(
    z.object({
      ...serverCheckShape,
      exchanges: z
        .array(z.looseObject({ number: z.number() }))
        .describe('The exchange that shows it: bytes out, bytes in, and their times.'),
    }),
  ),
});
