import { z } from 'zod';
import { bounded, section, text, wholeNumber } from '../../common/schema/parts.js';
import type { Doing } from '../doing.js';

const MOST_CHARACTERS = 500;

const said = (what: string) =>
  text(what).max(MOST_CHARACTERS, { error: `at most ${MOST_CHARACTERS} characters` });

/** The schema of what a tester says about a run. */
export const aboutSchema = section({
  client: said('the name and version of the client').describe('Name and version of the client.').optional(),
  tester: said('a name').describe('Who tests.').optional(),
  remark: said('a remark').describe('Anything else that belongs on the report.').optional(),
});

const ms = z.number();

export const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

/** What the JSON of every run begins with, in lists, answers and reports. */
const frame = {
  name: z.string(),
  seed: z.number().describe('What is random comes from it.'),
  verdict: verdict.describe('What is known by now.'),
  stopped: z.boolean().describe('True when somebody stopped it before its end: then it is no verdict.'),
  conclusions: z.array(z.string()).describe('Plain sentences for the first page.'),
  about: aboutSchema.optional().describe('What the tester says about it.'),
  startedAt: z.iso.datetime(),
  durationMs: ms,
  versions: z
    .array(z.object({ name: z.string(), version: z.string() }))
    .meta({ id: 'Versions', description: 'Of this program, of Node.js and of the system.' }),
};

/** What a run does now, beside its report: it is never kept. */
export const doingSchema = z
  .object({
    what: z.string().describe('What is on: a check, a step or a move.'),
    number: z.number().optional().describe('Which one that is, counted from 1.'),
    of: z.number().optional().describe('How many there are; absent if that is not known.'),
    leftMs: ms.optional().describe('How long it lasts yet, where it lasts a given time.'),
    moreMs: ms.optional().describe('About how long the rest of the run takes, as far as it is known.'),
    last: z
      .object({ text: z.string(), agoMs: ms })
      .optional()
      .describe('What the client did last; fuzz runs only.'),
  })
  .meta({
    id: 'Doing',
    description: 'What a run does now; absent when it is over.',
  }) satisfies z.ZodType<Doing>;

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

const stepShape = { name: z.string(), verdict, message: z.string(), durationMs: ms };

/** A scenario that runs or has run, without the frames that are its evidence. */
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
      .describe('How long after its request a reply is waited for, in ms.'),
    retries: z
      .number()
      .optional()
      .describe('How often a request without a reply is repeated before it is given up; 0: not at all.'),
    pausesMs: z
      .array(ms)
      .optional()
      .describe('From giving up a request to its retry, in ms: one pause for each retry.'),
    pollPeriodMs: ms.optional().describe('How often the disturbed poll comes, in ms.'),
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

/** A client test, without the frames that are its evidence. */
export const clientRun = {
  ...frame,
  kind: z.literal('client'),
  line: z.string(),
  verdict: verdict.describe(
    'The worst one of all checks; `error` when it could not begin, or when half of the checks were not run and none failed.',
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

/** A fuzz run, without the frames that are its evidence and without the scenario. */
export const fuzzRun = {
  ...frame,
  kind: z.literal('fuzz'),
  line: z.string(),
  seed: z.number().describe('The same seed tries the same moves.'),
  verdict: checkShape.verdict.describe(
    '`fail`: the client failed in two of three plays of the same moves. `inconclusive`: it failed once, or too few moves were tried. `error`: it could not begin.',
  ),
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
  title: z.string().describe('What the check asks; of a violation, what was seen.'),
  verdict: serverVerdict.describe(
    '`unsupported`: the server has it not, and may do so. `fact`: reported, not judged. `inconclusive`: the text says what would decide it.',
  ),
  grade: z
    .enum(['dangerous', 'met', 'seldom'])
    .optional()
    .describe('How bad a violation is: `met` is one that clients in the field meet.'),
  code: z
    .string()
    .optional()
    .describe('What was found, as a code: of all but what conforms. docs/findings.md lists the codes.'),
  facts: z
    .looseObject({})
    .optional()
    .describe('The facts of the code. Names of times end with their unit: `pauseMs`.'),
  text: z.string().describe('The same in words.'),
  seen: z
    .object({ times: z.number(), of: z.number() })
    .optional()
    .describe('How often it was seen, and how often it could have been.'),
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
    '`violates` if a check is, or a value was lost; `not-run` if nothing answered; `inconclusive` if it was stopped before a violation was seen.',
  ),
  fates: z.array(z.string()).describe('When the server fell silent, and whether it came back.'),
  lost: z
    .array(
      z.object({
        unitId: z.number(),
        table: z.enum(['holding', 'coils']),
        address: z.number(),
        had: z.number().optional().describe('The value before; absent if it was never read.'),
        has: z.number().optional().describe('The value now; absent if it is not read.'),
      }),
    )
    .describe('The values that were changed and could not be put back.'),
  requests: z.number(),
  dataSheet: z
    .object({
      functions: z.object({ there: codes, missing: codes, silent: codes }),
      most: perFunction.describe('The most registers or bits of one read, by function.'),
      lastAddress: perFunction.describe('The last address that was found, by function.'),
      replyMs: z
        .object({ least: z.number(), median: z.number(), p99: z.number(), most: z.number() })
        .partial()
        .loose()
        .optional(),
      pauseMs: z.number().describe('The pause that the server needs before each request, in ms.'),
      connections: z
        .object({ served: z.number(), next: z.enum(['refused', 'closed', 'evicts', 'untried']) })
        .optional()
        .describe('How many connections were served at a time, and what became of the next one.'),
    })
    .describe('What the server is like, as far as it was found.'),
  counts: z.record(z.string(), z.number()).describe('How many checks have each verdict, as on the card.'),
  behavesAs: z
    .array(z.object({ id: z.string(), title: z.string(), sources: z.array(z.string()) }))
    .describe('The entries of the catalogue that fit, with the links to their sources.'),
  checks: z.array(z.object(serverCheckShape)),
};

export const serverReportSchema = z.object({
  ...serverRun,
  checks: z.array(
    z.object({
      ...serverCheckShape,
      exchanges: z
        .array(z.looseObject({ number: z.number() }))
        .describe('What shows it: bytes out, bytes in, and their times.'),
    }),
  ),
});
