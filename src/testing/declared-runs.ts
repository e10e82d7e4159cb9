import { z } from 'zod';
import { clientOrderSchema, fuzzOrderSchema, serverOrderSchema } from './order-schemas.js';
import {
  clientReportSchema,
  clientRun,
  doingSchema,
  fuzzReportSchema,
  fuzzRun,
  scenarioReportSchema,
  scenarioRun,
  serverReportSchema,
  serverRun,
} from './report/shapes.js';
import { RUN_KINDS, type RunKind } from './run-kinds.js';

/** A scenario for examples, and the same in YAML. */
const SCENARIO = { name: 'it waits', steps: [{ wait: '1h' }] };
export const SCENARIO_TEXT = `name: ${SCENARIO.name}\nsteps:\n  - wait: 1h\n`;

const scenarioOrder = z
  .strictObject({ kind: z.literal('scenario'), scenario: z.record(z.string(), z.unknown()) })
  .meta({
    description: 'A scenario as written in a file, without the sections that define its own bench.',
    examples: [{ kind: 'scenario', scenario: SCENARIO }],
  });

const clientOrder = clientOrderSchema.extend({ kind: z.literal('client') }).meta({
  description: 'How the client of a line is tested. The line must be open, and the client must poll it.',
  examples: [
    { kind: 'client', line: 'lan', unit: 1, checks: ['watching', 'time-out'], limit: '5m', seed: 4711 },
  ],
});

const fuzzOrder = fuzzOrderSchema.extend({ kind: z.literal('fuzz') }).meta({
  description: 'The line (open, and polled by a client), and how long to disturb the client at random.',
  examples: [{ kind: 'fuzz', line: 'lan', unit: 1, limit: '30m', seed: 4711 }],
});

const serverOrder = serverOrderSchema.extend({ kind: z.literal('server') }).meta({
  description: 'The server, and the requests that may be sent to it.',
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

const FRAME = {
  state: 'running',
  seed: 4711,
  stopped: false,
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 9800,
  versions: [{ name: 'modbus-sim', version: '1.0.0-rc.1' }],
};

const SCENARIO_EXAMPLE = {
  id: 1,
  ...FRAME,
  kind: 'scenario',
  name: SCENARIO.name,
  verdict: 'not run',
  conclusions: ['0 of 1 steps passed.'],
  lines: ['lan'],
  steps: [{ name: 'wait 1 h', verdict: 'not run', message: '', durationMs: 0 }],
};

const CLIENT_EXAMPLE = {
  id: 1,
  ...FRAME,
  kind: 'client',
  name: 'the client on line lan',
  line: 'lan',
  doing: { what: 'an outage of 60 s', number: 7, of: 34, leftMs: 48_000, moreMs: 250_000 },
  verdict: 'pass',
  conclusions: ['Gives up after 487 ± 3 ms, retries 2 times, pauses 100, 200 ms.'],
  found: {
    timeoutMs: { value: 487, plusMinus: 3 },
    retries: 2,
    pausesMs: [100, 200],
    pollPeriodMs: 1000,
  },
  checks: [
    {
      id: 'wrong-crc',
      group: 'damaged',
      title: 'Discards a reply with a wrong CRC',
      verdict: 'pass',
      summary: 'retried 1000 ms after the request whose reply was disturbed',
      durationMs: 2140,
    },
  ],
};

const FUZZ_EXAMPLE = {
  id: 3,
  ...FRAME,
  kind: 'fuzz',
  name: 'the client on line lan, fuzzed',
  line: 'lan',
  verdict: 'fail',
  conclusions: [
    'The client stopped polling after 2 moves, in 2 of 2 plays: {delay: 900} for one request; {close: true} for one request.',
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
      title: 'The client stopped polling',
      verdict: 'fail',
      summary: 'Moves: {delay: 900} for one request; {close: true} for one request (seen in 2 of 2 plays)',
      confidence: { agreeing: 2, trials: 2 },
      durationMs: 9800,
    },
  ],
};

const SERVER_EXAMPLE = {
  id: 4,
  ...FRAME,
  kind: 'server',
  server: { place: 'unit 5 · TCP 192.168.1.20:502', unit: 5, identification: ['Acme', 'EM30', '1.4'] },
  verdict: 'violates',
  name: 'Acme EM30 1.4',
  conclusions: ['1 deviation that common clients will notice.'],
  fates: [],
  lost: [],
  counts: { conforms: 33, violates: 1 },
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
      title: 'Does not answer requests that it must refuse',
      verdict: 'violates',
      grade: 'met',
      code: 'not-refused',
      facts: { answer: { kind: 'silent' }, right: [1] },
      text: 'no reply; exception 01 was expected',
      seen: { times: 2, of: 2 },
      clause: 'Application Protocol V1.1b3, 7, code 01; Messaging on TCP/IP V1.0b, 4.4.2.2',
    },
  ],
};

const id = z.number();
const state = z.enum(['running', 'over']);

const doing = doingSchema.optional();

/** The runs as shown by REST, without their reports. */
const SHOWN = {
  scenario: { id, state, doing, ...scenarioRun, lines: z.array(z.string()) },
  client: { id, state, doing, ...clientRun },
  server: { id, state, doing, ...serverRun },
  fuzz: { id, state, doing, ...fuzzRun },
} as const;

export type ScenarioSummary = z.infer<z.ZodObject<(typeof SHOWN)['scenario']>>;
export type ClientSummary = z.infer<z.ZodObject<(typeof SHOWN)['client']>>;
export type ServerSummary = z.infer<z.ZodObject<(typeof SHOWN)['server']>>;
export type FuzzSummary = z.infer<z.ZodObject<(typeof SHOWN)['fuzz']>>;

const report = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('Findings with their frames, the configuration and the versions.');

/** The published documentation of one kind of run. */
interface DeclaredRun {
  readonly order: z.ZodObject;
  readonly view: z.ZodObject;
  readonly withReport: z.ZodObject;
  readonly json: z.ZodType;
}

/** @param list the key of the findings, and of their evidence */
function declared(
  kind: RunKind,
  order: z.ZodObject,
  example: Readonly<Record<string, unknown>>,
  json: z.ZodObject,
  [list, evidence]: readonly [list: string, evidence: 'frames' | 'exchanges'],
): DeclaredRun {
  const called = RUN_KINDS[kind];
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Run`;
  const { id: _, state: __, lines: ___, doing: ____, [list]: findings, ...others } = example;
  const shown = (findings as readonly object[]).map((each) => ({ ...each, [evidence]: [] }));
  return {
    order,
    view: z.object(SHOWN[kind]).meta({
      id: name,
      description: `A running or finished ${called}, with its findings so far.`,
      examples: [example],
    }),
    withReport: z.object({ ...SHOWN[kind], report }).meta({
      id: `${name}Report`,
      description: `A ${called} with its report.`,
      examples: [{ ...example, report: { kind, name: example.name, findings: [] } }],
    }),
    json: json.meta({ examples: [{ ...others, [list]: shown }] }),
  };
}

/** The kinds of runs: how each is started and shown, and its report. `commands.ts` starts them. */
export const RUNS = {
  scenario: declared('scenario', scenarioOrder, SCENARIO_EXAMPLE, scenarioReportSchema, ['steps', 'frames']),
  client: declared('client', clientOrder, CLIENT_EXAMPLE, clientReportSchema, ['checks', 'frames']),
  server: declared('server', serverOrder, SERVER_EXAMPLE, serverReportSchema, ['checks', 'exchanges']),
  fuzz: declared('fuzz', fuzzOrder, FUZZ_EXAMPLE, fuzzReportSchema, ['findings', 'frames']),
} as const satisfies Readonly<Record<RunKind, DeclaredRun>>;
