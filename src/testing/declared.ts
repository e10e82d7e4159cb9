import { z } from 'zod';
import { section, text, wholeNumber } from '../common/schema/parts.js';
import type { DeclaredCommands } from '../simulator/commands/declared.js';
import { failures } from '../simulator/commands/schemas/problem.js';
import { inspectionOrderSchema, orderSchema, shakeOrderSchema } from './order-schemas.js';
import { examinationShape, shakeShape, stopped } from './report/json.js';

const state = z.enum(['running', 'over']);
const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

const TEST_EXAMPLE = {
  id: 1,
  name: 'it waits',
  state: 'running',
  verdict: 'not run',
  stopped: false,
  lines: ['lan'],
  steps: [{ name: 'wait 1 h', verdict: 'not run', message: '' }],
};

const testFields = {
  id: z.number(),
  name: z.string(),
  state,
  verdict: verdict.describe('What is known by now.'),
  stopped,
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
  stopped: false,
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

export const detailQuery = z.strictObject({
  report: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `false`, the answer has no report, and is short enough to be asked for often.'),
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

export const SHAKE_EXAMPLE = {
  id: 3,
  state: 'running',
  name: 'the client on line lan, shaken',
  line: 'lan',
  seed: 4711,
  verdict: 'fail',
  stopped: false,
  conclusions: [
    'The client asked nothing more after 2 moves, in 2 of 2 plays: {delay: 900} for one request; {close: true} for one request.',
  ],
  moves: 96,
  plays: 71,
  schedule: [
    { after: 0, requests: 1, does: { fault: { when: { line: 'lan' }, do: [{ delay: 900 }] } } },
    { after: 0, requests: 1, does: { fault: { when: { line: 'lan' }, do: [{ close: true }] } } },
  ],
  first: 4012,
  last: 4071,
  nearest: 'closes-idle-connections',
  findings: [
    {
      id: '1',
      group: 'shake',
      title: 'The client asked nothing more',
      verdict: 'fail',
      summary: 'Moves: {delay: 900} for one request; {close: true} for one request (seen in 2 of 2 plays)',
      confidence: { agreeing: 2, trials: 2 },
      durationMs: 9800,
    },
  ],
};

const shakeFields = { id: z.number(), state, ...shakeShape };

/** A shake without its report, as REST shows it. */
export type ShakeSummary = z.infer<z.ZodObject<typeof shakeFields>>;

const shakeOrder = shakeOrderSchema.meta({
  description: 'The line, which must be open and polled by a client, and how long the client is shaken.',
  examples: [{ line: 'lan', unit: 1, limit: '30m', seed: 4711 }],
});

const shake = z.object(shakeFields).meta({
  id: 'Shake',
  description: 'A shake that runs or has run, with what it has found by now.',
  examples: [SHAKE_EXAMPLE],
});

const shakeWithReport = z.object({ ...shakeFields, report }).meta({
  id: 'ShakeReport',
  description: 'A shake with its report.',
  examples: [{ ...SHAKE_EXAMPLE, report: { kind: 'shake', name: SHAKE_EXAMPLE.name, findings: [] } }],
});

export const INSPECTION_EXAMPLE = {
  id: 4,
  state: 'running',
  kind: 'inspection',
  server: { place: 'unit 5 · TCP 192.168.1.20:502', unit: 5, identification: ['Acme', 'EM30', '1.4'] },
  seed: 4711,
  verdict: 'violates',
  stopped: false,
  conclusion: 'Many clients will be happy; one deviation will be met in the field.',
  fates: [],
  lost: [],
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 9800,
  requests: 412,
  dataSheet: {
    functions: { there: [3, 4, 6, 16], missing: [1, 2, 5, 15], silent: [] },
    most: { 3: 125 },
    lastAddress: { 3: 399 },
    replyMs: { least: 2.1, median: 4.4, p99: 9.2, most: 11.8 },
    pauseMs: 0,
  },
  behavesAs: [],
  checks: [
    {
      id: 'function-unknown',
      group: 'refusals',
      title: 'Does not answer what has to be refused',
      verdict: 'violates',
      grade: 'met',
      code: 'not-refused',
      facts: { answer: { kind: 'silent' }, right: [1] },
      text: 'the server did not answer, where exception 01 is expected',
      seen: { times: 2, of: 2 },
      clause: 'Application Protocol V1.1b3, 7, code 01; Messaging on TCP/IP V1.0b, 4.4.2.2',
    },
  ],
  versions: [{ name: 'modbus-sim', version: '1.0.0-rc.1' }],
};

const serverVerdict = z.enum(['conforms', 'violates', 'unsupported', 'fact', 'inconclusive', 'not-run']);
const codes = z.array(z.number());
const perFunction = z.record(z.string(), z.number());

const serverCheckShape = {
  id: z.string(),
  group: z.string(),
  title: z.string().describe('What the check asks; of a violation, what was seen.'),
  verdict: serverVerdict.describe(
    '`unsupported`: the server has it not, and may do so. `fact`: told, not judged. `inconclusive`: the text says what would decide it.',
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

/** The fields of an inspection, without the exchanges that are its evidence. */
const inspectionShape = {
  kind: z.literal('inspection'),
  server: z.object({
    place: z.string().describe('How the server is reached.'),
    unit: z.number(),
    identification: z.array(z.string()).optional().describe('The texts of function 43/14.'),
  }),
  seed: z.number(),
  verdict: serverVerdict.describe(
    '`violates` if a check is, or a value was lost; `not-run` if nothing answered; `inconclusive` if it was stopped before a violation was seen.',
  ),
  stopped,
  conclusion: z.string().describe('Whether clients will be happy, in a sentence.'),
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
  startedAt: z.iso.datetime(),
  durationMs: z.number(),
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
  behavesAs: z
    .array(z.object({ id: z.string(), title: z.string(), sources: z.array(z.string()) }))
    .describe('The entries of the catalogue that fit, with the links to their sources.'),
  checks: z.array(z.object(serverCheckShape)),
  versions: z.array(z.object({ name: z.string(), version: z.string() })),
};

/** The JSON report on a server. */
export const inspectionSchema = z.object({
  ...inspectionShape,
  checks: z.array(
    z.object({
      ...serverCheckShape,
      exchanges: z
        .array(z.looseObject({ number: z.number() }))
        .describe('What shows it: bytes out, bytes in, and their times.'),
    }),
  ),
});

const inspectionFields = { id: z.number(), state, ...inspectionShape };

/** An inspection without its exchanges, as REST shows it. */
export type InspectionView = z.infer<z.ZodObject<typeof inspectionFields>>;

const inspectionOrder = inspectionOrderSchema.meta({
  description: 'The server, and what may be asked of it.',
  examples: [{ real: { tcp: { host: 'plc.lan' } }, unit: 5, checks: ['frames', 'refusals'], seed: 4711 }],
});

const inspection = z.object(inspectionFields).meta({
  id: 'Inspection',
  description: 'An inspection that runs or has run, with what it has found by now.',
  examples: [INSPECTION_EXAMPLE],
});

const inspectionWithReport = z.object({ ...inspectionFields, report }).meta({
  id: 'InspectionReport',
  description: 'An inspection with its report.',
  examples: [{ ...INSPECTION_EXAMPLE, report: { kind: 'inspection', name: 'Acme EM30 1.4', findings: [] } }],
});

function ofRun(one: 'test' | 'examination' | 'shake' | 'inspection', example: string) {
  return {
    of: {
      id: wholeNumber(
        1,
        Number.MAX_SAFE_INTEGER,
        'the number of a test, an examination, a shake or an inspection',
      ),
    },
    params: z.object({
      id: z.string().meta({
        description: `The number of the ${one}. Tests, examinations, shakes and inspections are counted together.`,
        examples: [example],
      }),
    }),
  };
}

/** The parts of declarations that name a run, by its kind. */
export const OF_RUN = {
  test: ofRun('test', '1'),
  examination: ofRun('examination', '2'),
  shake: ofRun('shake', '3'),
  inspection: ofRun('inspection', '4'),
};

const stopping = section({ failure: text('a reason').optional() });
const STOPPED =
  'Its faults are removed, and its lines are free when the answer comes. What it has found stays readable.';
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
    description: 'Only one test, examination or shake can run on a line at a time.',
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

/** The commands on shakes: what breaks the clients of running lines. `commands.ts` carries them out. */
export const SHAKE_COMMANDS = {
  'shake.list': {
    rest: 'GET /shakes',
    kind: 'query',
    summary: 'List the shakes',
    description: 'Those that run and the newest that are over.',
    member: 'shakes',
    response: {
      200: z.object({ shakes: z.array(shake) }).describe('The shakes, the newest twenty of them.'),
    },
  },
  'shake.start': {
    rest: 'POST /shakes',
    sent: z.unknown(),
    as: 'order',
    summary: 'Start a shake',
    description:
      'Does random things to the client of a line until it fails, and looks for the fewest that show it again. Only one test, examination or shake can run on a line at a time.',
    schema: { describedBody: shakeOrder },
    response: { 201: shake, ...failures(400, 409) },
  },
  'shake.get': {
    rest: 'GET /shakes/:id',
    kind: 'query',
    ...OF_RUN.shake,
    summary: 'Read a shake',
    description: 'What is known of the client by now, with the frames that show it.',
    schema: { querystring: detailQuery },
    response: { 200: shakeWithReport, ...failures(400, 404) },
  },
  'shake.stop': {
    rest: 'DELETE /shakes/:id',
    ...OF_RUN.shake,
    sent: stopping,
    summary: 'Stop a shake',
    description: STOPPED,
    schema: stopQuery(
      'That the program of the client has ended, and how: a failure of the moves that are played.',
    ),
    response: { 204: over, ...failures(400, 404) },
  },
  'shake.findings': {
    kind: 'list',
    ...OF_RUN.shake,
    summary: 'List the findings of a shake with their frames',
  },
} as const satisfies DeclaredCommands;

/** The commands on inspections: how servers behave. `commands.ts` carries them out. */
export const INSPECTION_COMMANDS = {
  'inspection.list': {
    rest: 'GET /inspections',
    kind: 'query',
    summary: 'List the inspections',
    description: 'Those that run and the newest that are over.',
    member: 'inspections',
    response: {
      200: z
        .object({ inspections: z.array(inspection) })
        .describe('The inspections, the newest twenty of them.'),
    },
  },
  'inspection.start': {
    rest: 'POST /inspections',
    sent: z.unknown(),
    as: 'order',
    summary: 'Start an inspection',
    description:
      'Asks a server all that clients may ask, from this machine. Nothing is written without `scratch`. A server is inspected once at a time.',
    schema: { describedBody: inspectionOrder },
    response: { 201: inspection, ...failures(400, 403, 409) },
  },
  'inspection.get': {
    rest: 'GET /inspections/:id',
    kind: 'query',
    ...OF_RUN.inspection,
    summary: 'Read an inspection',
    description: 'What is known of the server by now, with the exchanges that show it.',
    schema: { querystring: detailQuery },
    response: { 200: inspectionWithReport, ...failures(400, 404) },
  },
  'inspection.stop': {
    rest: 'DELETE /inspections/:id',
    ...OF_RUN.inspection,
    sent: section({}),
    summary: 'Stop an inspection',
    description: 'Values that were written are put back. What it has found stays readable.',
    response: { 204: over, ...failures(400, 404) },
  },
  'inspection.findings': {
    kind: 'list',
    ...OF_RUN.inspection,
    summary: 'List the findings of an inspection with their exchanges',
  },
} as const satisfies DeclaredCommands;
