import { z } from 'zod';
import { section, text, wholeNumber } from '../common/schema/parts.js';
import type { DeclaredCommands } from '../simulator/commands/declared.js';
import { failures } from '../simulator/commands/schemas/problem.js';
import { clientOrderSchema, fuzzOrderSchema, serverOrderSchema } from './order-schemas.js';
import {
  clientJsonByCheck,
  clientReportSchema,
  clientShape,
  clientSummary,
  fuzzJsonByFinding,
  fuzzReportSchema,
  fuzzShape,
  fuzzSummary,
  scenarioJsonByStep,
  scenarioReportSchema,
  stopped,
} from './report/json.js';
import type { ReportView, Run, ServerFindingView } from './report/report.js';
import { KIND_NAMES, RUN_KINDS, type RunKind } from './run-kinds.js';

/** The report on a run, with what programs get of a server test. */
export type RunView = ReportView & Pick<Run['report'], 'json'>;

const state = z.enum(['running', 'over']);
const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

const SCENARIO_EXAMPLE = {
  id: 1,
  kind: 'scenario',
  name: 'it waits',
  state: 'running',
  verdict: 'not run',
  stopped: false,
  lines: ['lan'],
  steps: [{ name: 'wait 1 h', verdict: 'not run', message: '' }],
};

const scenarioFields = {
  id: z.number(),
  kind: z.literal('scenario'),
  name: z.string(),
  state,
  verdict: verdict.describe('What is known by now.'),
  stopped,
  lines: z.array(z.string()),
  steps: z.array(z.object({ name: z.string(), verdict, message: z.string() })),
};

/** A scenario that runs or has run, without its report, as REST shows it. */
export type ScenarioSummary = z.infer<z.ZodObject<typeof scenarioFields>>;

const SCENARIO = { name: SCENARIO_EXAMPLE.name, steps: [{ wait: '1h' }] };

const scenarioOrder = z
  .strictObject({ kind: z.literal('scenario'), scenario: z.record(z.string(), z.unknown()) })
  .meta({
    description: 'A scenario as in a file, without the sections about a bench of its own.',
    examples: [{ kind: 'scenario', scenario: SCENARIO }],
  });

/** Longest YAML in bytes. Parsing this much takes 0.2 s, and a second on a slow machine. */
export const MAX_YAML_BYTES = 16 * 1024;

const scenarioText = z.string().meta({
  description: `With \`kind=scenario\` in the query: the scenario as YAML, of at most ${MAX_YAML_BYTES} bytes.`,
  examples: [`name: ${SCENARIO_EXAMPLE.name}\nsteps:\n  - wait: 1h\n`],
});

const CLIENT_EXAMPLE = {
  id: 1,
  kind: 'client',
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

const clientFields = { id: z.number(), kind: z.literal('client'), state, ...clientShape };

/** A client test without its report, as REST shows it. */
export type ClientSummary = z.infer<z.ZodObject<typeof clientFields>>;

const clientOrder = clientOrderSchema.extend({ kind: z.literal('client') }).meta({
  description: 'What of a client is tested. The line must be open, and the client must poll it.',
  examples: [
    { kind: 'client', line: 'lan', unit: 1, checks: ['watching', 'time-out'], limit: '5m', seed: 4711 },
  ],
});

const CHECKED_KINDS = ['client', 'server'] as const;

const checksQuery = z.strictObject({
  kind: z.enum(CHECKED_KINDS).optional().describe('Checks of clients (default), or of servers.'),
  line: z.string().optional().describe('Only the checks of clients that can be run on this line.'),
});

/** A check as it is listed: what it does, why, and when it passes. */
const checkView = z
  .object({
    id: z.string(),
    group: z.string(),
    title: z.string(),
    does: z.string(),
    matters: z.string().describe('Why that matters to somebody who uses the client or the server.'),
    rule: z.string().describe('When it passes, when it fails, and when neither can be said.'),
    source: z.string().describe('The clause of a specification, or what is known of real clients.'),
  })
  .meta({ id: 'Check', description: 'One check of how a client or a server behaves.' });

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

const FUZZ_EXAMPLE = {
  id: 3,
  kind: 'fuzz',
  state: 'running',
  name: 'the client on line lan, fuzzed',
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
      group: 'fuzz',
      title: 'The client asked nothing more',
      verdict: 'fail',
      summary: 'Moves: {delay: 900} for one request; {close: true} for one request (seen in 2 of 2 plays)',
      confidence: { agreeing: 2, trials: 2 },
      durationMs: 9800,
    },
  ],
};

const fuzzFields = { id: z.number(), kind: z.literal('fuzz'), state, ...fuzzShape };

/** A fuzz run without its report, as REST shows it. */
export type FuzzSummary = z.infer<z.ZodObject<typeof fuzzFields>>;

const fuzzOrder = fuzzOrderSchema.extend({ kind: z.literal('fuzz') }).meta({
  description:
    'The line, which must be open and polled by a client, and how long the client is disturbed at random.',
  examples: [{ kind: 'fuzz', line: 'lan', unit: 1, limit: '30m', seed: 4711 }],
});

const SERVER_EXAMPLE = {
  id: 4,
  state: 'running',
  kind: 'server',
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

/** The fields of a server test, without the exchanges that are its evidence. */
const serverShape = {
  kind: z.literal('server'),
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
export const serverReportSchema = z.object({
  ...serverShape,
  checks: z.array(
    z.object({
      ...serverCheckShape,
      exchanges: z
        .array(z.looseObject({ number: z.number() }))
        .describe('What shows it: bytes out, bytes in, and their times.'),
    }),
  ),
});

const serverFields = { id: z.number(), state, ...serverShape };

/** A server test without its exchanges, as REST shows it. */
export type ServerSummary = z.infer<z.ZodObject<typeof serverFields>>;

const serverOrder = serverOrderSchema.extend({ kind: z.literal('server') }).meta({
  description: 'The server, and what may be requested of it.',
  examples: [
    {
      kind: 'server',
      real: { tcp: { host: 'plc.lan' } },
      unit: 5,
      checks: ['frames', 'refusals'],
      seed: 4711,
    },
  ],
});

const KIND_EXAMPLES = {
  scenario: SCENARIO_EXAMPLE,
  client: CLIENT_EXAMPLE,
  server: SERVER_EXAMPLE,
  fuzz: FUZZ_EXAMPLE,
};

/** Names the views of a kind of runs, for the document of REST. */
function viewsOf<Fields extends z.core.$ZodLooseShape>(kind: RunKind, id: string, fields: Fields) {
  const example = KIND_EXAMPLES[kind];
  const called = RUN_KINDS[kind];
  return {
    view: z.object(fields).meta({
      id: `${id}Run`,
      description: `A ${called} that runs or has run, with what is known by now.`,
      examples: [example],
    }),
    withReport: z.object({ ...fields, report }).meta({
      id: `${id}RunReport`,
      description: `A ${called} with its report.`,
      examples: [{ ...example, report: { kind, name: 'the client on line lan', findings: [] } }],
    }),
  };
}

/** A run as REST shows it, but for what its report has. */
const headOfRun = ({ id, isOver }: Run) => ({ id, state: isOver ? ('over' as const) : ('running' as const) });

const VERSIONS = [{ name: 'modbus-sim', version: '1.0.0-rc.1' }];
/** What reports end with, for examples. */
const REPORT_END = { startedAt: '2026-01-31T12:00:00.000Z', durationMs: 12.5, versions: VERSIONS };

/** The example of a report on a run. @param key the list of its findings, which have their evidence there */
function reportExample(
  { id: _, kind: __, state: ___, ...run }: Readonly<Record<string, unknown>>,
  key: 'checks' | 'findings',
  evidence: 'frames' | 'exchanges',
): object {
  const { [key]: findings, ...others } = run;
  return { ...others, [key]: (findings as readonly object[]).map((each) => ({ ...each, [evidence]: [] })) };
}

function* withExchanges(checks: readonly object[], findings: readonly ServerFindingView[]) {
  for (const [i, check] of checks.entries()) yield { ...check, exchanges: findings[i]?.exchanges ?? [] };
}

/** What is published of the runs of one kind. */
interface DeclaredRun {
  /** The order that starts one. */
  readonly order: z.ZodObject;
  /** A run without its report, and with it. */
  readonly view: z.ZodObject;
  readonly withReport: z.ZodObject;
  /** Makes what is shown of a run without its report. */
  readonly summary: (run: Run) => object;
  /** `report.json`: its schema, and a function that makes it from a report. */
  readonly json: { readonly schema: z.ZodType; readonly of: (view: RunView) => object };
}

/** The kinds of runs: what starts one, what is shown of it, and its report. `commands.ts` starts them. */
export const RUNS = {
  scenario: {
    order: scenarioOrder,
    ...viewsOf('scenario', 'Scenario', scenarioFields),
    summary: (run): ScenarioSummary => {
      const { name, isStopped, verdict, findings } = run.report;
      const steps = findings.map(({ title, verdict, summary }) => ({
        name: title,
        verdict,
        message: summary,
      }));
      return {
        ...headOfRun(run),
        kind: 'scenario',
        ...{ name, verdict, stopped: isStopped, lines: [...run.lines], steps },
      };
    },
    json: {
      schema: scenarioReportSchema.meta({
        examples: [
          {
            name: 'over REST',
            verdict: 'pass',
            stopped: false,
            steps: [
              { name: 'polls', verdict: 'pass', message: 'came after 12 ms', durationMs: 12.5, frames: [] },
            ],
            seed: 7,
            ...REPORT_END,
          },
        ],
      }),
      of: scenarioJsonByStep,
    },
  },
  client: {
    order: clientOrder,
    ...viewsOf('client', 'Client', clientFields),
    summary: (run): ClientSummary => ({ ...headOfRun(run), kind: 'client', ...clientSummary(run.report) }),
    json: {
      schema: clientReportSchema.meta({
        examples: [{ ...reportExample(CLIENT_EXAMPLE, 'checks', 'frames'), ...REPORT_END }],
      }),
      of: clientJsonByCheck,
    },
  },
  server: {
    order: serverOrder,
    ...viewsOf('server', 'Server', serverFields),
    summary: (run) => ({ ...headOfRun(run), ...run.report.json }),
    json: {
      schema: serverReportSchema.meta({
        examples: [{ ...reportExample(SERVER_EXAMPLE, 'checks', 'exchanges'), kind: 'server' }],
      }),
      of: ({ findings, json }) => {
        return { ...json, checks: withExchanges(json?.checks ?? [], findings as ServerFindingView[]) };
      },
    },
  },
  fuzz: {
    order: fuzzOrder,
    ...viewsOf('fuzz', 'Fuzz', fuzzFields),
    summary: (run): FuzzSummary => ({ ...headOfRun(run), kind: 'fuzz', ...fuzzSummary(run.report) }),
    json: {
      schema: fuzzReportSchema.meta({
        examples: [
          {
            ...reportExample(
              { ...FUZZ_EXAMPLE, scenario: 'name: fuzzed\nline: lan\nsteps: []\n' },
              'findings',
              'frames',
            ),
            ...REPORT_END,
          },
        ],
      }),
      of: fuzzJsonByFinding,
    },
  },
} as const satisfies Readonly<Record<RunKind, DeclaredRun>>;

const kinds = Object.values<DeclaredRun>(RUNS);
const anyView = z
  .union(kinds.map(({ view }) => view))
  .meta({ description: 'A run, as its kind is shown.', examples: [SCENARIO_EXAMPLE] });
const kindOfRun = z.enum(KIND_NAMES as [RunKind, ...RunKind[]]);

/** The parts of declarations that name a run. */
export const OF_RUN = {
  of: { id: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'the number of a run') },
  params: z.object({
    id: z.string().meta({
      description: 'The number of the run. Runs of all kinds are counted together.',
      examples: ['1'],
    }),
  }),
};

/** The commands on runs of all kinds. `commands.ts` carries them out. */
export const RUN_COMMANDS = {
  'run.checks': {
    rest: 'GET /checks',
    kind: 'query',
    sent: section({ kind: z.enum(CHECKED_KINDS).optional(), line: text('the name of a line').optional() }),
    summary: 'List the checks of clients or of servers',
    description: 'What each one does, why, and when it passes.',
    member: 'checks',
    schema: { querystring: checksQuery },
    response: { 200: checkList, ...failures(400) },
  },
  'run.list': {
    rest: 'GET /runs',
    kind: 'query',
    sent: section({ kind: kindOfRun.optional() }),
    summary: 'List the runs',
    description: 'Those that run and, of each kind, the newest that are over.',
    member: 'runs',
    schema: {
      querystring: z.strictObject({ kind: kindOfRun.optional().describe('Only runs of this kind.') }),
    },
    response: {
      200: z.object({ runs: z.array(anyView) }).describe('The runs, the oldest first.'),
      ...failures(400),
    },
  },
  'run.start': {
    rest: 'POST /runs',
    sent: z.unknown(),
    as: 'order',
    summary: 'Start a run',
    description:
      'Only one run works on a line at a time. `server`: requests all that clients may request, from this machine; nothing is written without `scratch`; a server is tested once at a time.',
    schema: {
      querystring: z.strictObject({
        kind: z.literal('scenario').optional().describe('The body is the scenario itself, as JSON or YAML.'),
      }),
      describedBody: z.union(kinds.map(({ order }) => order)),
      yamlBody: scenarioText,
    },
    response: { 201: anyView, ...failures(400, 403, 409) },
  },
  'run.get': {
    rest: 'GET /runs/:id',
    kind: 'query',
    ...OF_RUN,
    summary: 'Read a run',
    description: 'What is known by now, with the frames or exchanges that show it.',
    schema: { querystring: detailQuery },
    response: {
      200: z
        .union(kinds.map(({ withReport }) => withReport))
        .meta({ description: 'A run with its report.', examples: [SCENARIO_EXAMPLE] }),
      ...failures(400, 404),
    },
  },
  'run.stop': {
    rest: 'DELETE /runs/:id',
    ...OF_RUN,
    sent: section({ failure: text('a reason').optional() }),
    summary: 'Stop a run',
    description:
      'Its faults are removed, and its lines are free when the answer comes; values that a server test has written are put back. What it has found stays readable.',
    schema: {
      querystring: z.strictObject({
        failure: z
          .string()
          .min(1)
          .max(4096)
          .optional()
          .describe(
            'Why the step, check or move that runs has failed, such as that the program of the client has ended. Without it, that is not decided.',
          ),
      }),
    },
    response: { 204: z.null().describe('It is over.'), ...failures(400, 404) },
  },
  'run.findings': {
    kind: 'list',
    ...OF_RUN,
    summary: 'List the findings of a run with their frames or exchanges',
  },
} as const satisfies DeclaredCommands;
