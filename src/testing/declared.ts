import { z } from 'zod';
import { section, text, wholeNumber } from '../common/schema/parts.js';
import type { DeclaredCommands } from '../simulator/commands/declared.js';
import { failures } from '../simulator/commands/schemas/problem.js';
import { orderSchema } from './examination-order-schema.js';
import { examinationShape } from './report/examination-json.js';

const state = z.enum(['running', 'over']);
const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

const TEST_EXAMPLE = {
  id: 1,
  name: 'it waits',
  state: 'running',
  verdict: 'not run',
  lines: ['lan'],
  steps: [{ name: 'wait 1 h', verdict: 'not run', message: '' }],
};

const testFields = {
  id: z.number(),
  name: z.string(),
  state,
  verdict: verdict.describe('What is known by now.'),
  lines: z.array(z.string()),
  steps: z.array(z.object({ name: z.string(), verdict, message: z.string() })),
};

/** A test without its report, as REST shows it. */
export type TestSummary = z.infer<z.ZodObject<typeof testFields>>;

const scenario = z.record(z.string(), z.unknown()).meta({
  description: 'A scenario as in a file, without the sections about a bench of its own.',
  examples: [{ name: TEST_EXAMPLE.name, steps: [{ wait: '1h' }] }],
});

/** Longest YAML in bytes. Parsing this much takes 0.2 s, and a second on a slow machine. */
export const MAX_YAML_BYTES = 16 * 1024;

const scenarioText = z.string().meta({
  description: `The same as YAML, of at most ${MAX_YAML_BYTES} bytes.`,
  examples: [`name: ${TEST_EXAMPLE.name}\nsteps:\n  - wait: 1h\n`],
});

export const EXAMINATION_EXAMPLE = {
  id: 1,
  state: 'running',
  name: 'the client on line lan',
  line: 'lan',
  seed: 4711,
  verdict: 'pass',
  conclusions: ['Gives up after 487 ± 3 ms, asks 3 times, waits 100, 200 ms.'],
  found: {
    timeoutMs: { value: 487, plusMinus: 3 },
    attempts: 3,
    pausesMs: [100, 200],
    pollPeriodMs: 1000,
  },
  checks: [
    {
      id: 'wrong-crc',
      group: 'damaged',
      title: 'Throws away a reply with a wrong CRC',
      verdict: 'pass',
      summary: 'asked again 1000 ms after the request whose reply was spoilt',
      durationMs: 2140,
    },
  ],
};

const examinationFields = { id: z.number(), state, ...examinationShape };

/** An examination without its report, as REST shows it. */
export type ExaminationSummary = z.infer<z.ZodObject<typeof examinationFields>>;

const order = orderSchema.meta({
  description: 'What is to be examined. The line must be open, and a client must poll it.',
  examples: [{ line: 'lan', unit: 1, checks: ['watching', 'time-out'], limit: '5m', seed: 4711 }],
});

const checksQuery = z.strictObject({
  line: z.string().optional().describe('Only the checks that can be run on this line.'),
});

/** A check as it is listed: what it does, why, and when it passes. */
const checkView = z
  .object({
    id: z.string(),
    group: z.string(),
    title: z.string(),
    does: z.string(),
    matters: z.string().describe('Why that matters to somebody who uses the client.'),
    rule: z.string().describe('When it passes, when it fails, and when neither can be said.'),
    source: z.string().describe('The clause of a specification, or what is known of real clients.'),
  })
  .meta({ id: 'Check', description: 'One check of how a client behaves.' });

export type CheckView = z.infer<typeof checkView>;

const checkList = z
  .object({ checks: z.array(checkView) })
  .describe('The checks, in the order of their groups.');

/** The query of a request for one run. */
export const detailQuery = z.strictObject({
  report: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `false`, the report is left out, which is short enough to be asked for often.'),
});

const report = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('Findings with their frames, the configuration and the versions.');

const test = z
  .object(testFields)
  .meta({ id: 'Test', description: 'A test that runs or has run.', examples: [TEST_EXAMPLE] });

const testWithReport = z.object({ ...testFields, report }).meta({
  id: 'TestReport',
  description: 'A test with its report.',
  examples: [{ ...TEST_EXAMPLE, report: { kind: 'test', name: TEST_EXAMPLE.name, findings: [] } }],
});

const examination = z.object(examinationFields).meta({
  id: 'Examination',
  description: 'An examination that runs or has run, with what it has found by now.',
  examples: [EXAMINATION_EXAMPLE],
});

const examinationWithReport = z.object({ ...examinationFields, report }).meta({
  id: 'ExaminationReport',
  description: 'An examination with its report.',
  examples: [
    {
      ...EXAMINATION_EXAMPLE,
      report: { kind: 'examination', name: EXAMINATION_EXAMPLE.name, findings: [] },
    },
  ],
});

function ofRun(one: 'test' | 'examination', example: string) {
  return {
    of: { id: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a number of a test or an examination') },
    params: z.object({
      id: z.string().meta({
        description: `The number of the ${one}. Tests and examinations are counted together.`,
        examples: [example],
      }),
    }),
  };
}

/** The parts of declarations that name a run, by its kind. */
export const OF_RUN = { test: ofRun('test', '1'), examination: ofRun('examination', '2') };

const stopping = section({ failure: text('a reason').optional() });
const STOPPED = 'Its faults are removed. What it has found stays readable.';
const stopQuery = (why: string) => ({
  querystring: z.strictObject({ failure: z.string().min(1).max(4096).optional().describe(why) }),
});
const over = z.null().describe('It is over.');

/** The commands on tests: scenarios on running lines. `commands.ts` carries them out. */
export const TEST_COMMANDS = {
  'test.list': {
    rest: 'GET /tests',
    kind: 'query',
    summary: 'List the tests',
    description: 'Those that run and the newest that are over.',
    member: 'tests',
    response: {
      200: z.object({ tests: z.array(test) }).describe('The tests, the newest twenty of them.'),
    },
  },
  'test.start': {
    rest: 'POST /tests',
    sent: z.unknown(),
    as: 'scenario',
    summary: 'Start a test',
    description: 'It runs on lines that are open. Only one test can run on a line at a time.',
    schema: { describedBody: scenario, yamlBody: scenarioText },
    response: { 201: test, ...failures(400, 409) },
  },
  'test.get': {
    rest: 'GET /tests/:id',
    kind: 'query',
    ...OF_RUN.test,
    summary: 'Read a test',
    description: 'What is known of it by now, with the frames that show it.',
    schema: { querystring: detailQuery },
    response: { 200: testWithReport, ...failures(400, 404) },
  },
  'test.stop': {
    rest: 'DELETE /tests/:id',
    ...OF_RUN.test,
    sent: stopping,
    summary: 'Stop a test',
    description: STOPPED,
    schema: stopQuery('Why the step that runs has failed. Without it, that step is inconclusive.'),
    response: { 204: over, ...failures(400, 404) },
  },
  'test.findings': { kind: 'list', ...OF_RUN.test, summary: 'List the findings of a test with their frames' },
} as const satisfies DeclaredCommands;

/** The commands on examinations: how the clients of running lines behave. `commands.ts` carries them out. */
export const EXAMINATION_COMMANDS = {
  'examination.checks': {
    rest: 'GET /checks',
    kind: 'query',
    sent: section({ line: text('the name of a line').optional() }),
    summary: 'List the checks of examinations',
    description: 'What each one does, why, and when it passes.',
    member: 'checks',
    schema: { querystring: checksQuery },
    response: { 200: checkList, ...failures(400) },
  },
  'examination.list': {
    rest: 'GET /examinations',
    kind: 'query',
    summary: 'List the examinations',
    description: 'Those that run and the newest that are over.',
    member: 'examinations',
    response: {
      200: z
        .object({ examinations: z.array(examination) })
        .describe('The examinations, the newest twenty of them.'),
    },
  },
  'examination.start': {
    rest: 'POST /examinations',
    sent: z.unknown(),
    as: 'order',
    summary: 'Start an examination',
    description: 'Only one test or examination can run on a line at a time.',
    schema: { describedBody: order },
    response: { 201: examination, ...failures(400, 409) },
  },
  'examination.get': {
    rest: 'GET /examinations/:id',
    kind: 'query',
    ...OF_RUN.examination,
    summary: 'Read an examination',
    description: 'What is known of the client by now, with the frames that show it.',
    schema: { querystring: detailQuery },
    response: { 200: examinationWithReport, ...failures(400, 404) },
  },
  'examination.stop': {
    rest: 'DELETE /examinations/:id',
    ...OF_RUN.examination,
    sent: stopping,
    summary: 'Stop an examination',
    description: STOPPED,
    schema: stopQuery(
      'Why the check that runs has failed: the client has died. Without it, that check is `not run`.',
    ),
    response: { 204: over, ...failures(400, 404) },
  },
  'examination.findings': {
    kind: 'list',
    ...OF_RUN.examination,
    summary: 'List the findings of an examination with their frames',
  },
} as const satisfies DeclaredCommands;
