import { z } from 'zod';
import { section, text, wholeNumber } from '../common/schema/parts.js';
import type { DeclaredCommands } from '../simulator/commands/declared.js';
import { failures } from '../simulator/commands/schemas/problem.js';
import { RUNS, SCENARIO_TEXT } from './declared-runs.js';
import { KIND_NAMES, type RunKind } from './run-kinds.js';

/** Longest YAML in bytes. Parsing this much takes 0.2 s, and a second on a slow machine. */
export const MAX_YAML_BYTES = 16 * 1024;

const scenarioText = z.string().meta({
  description: `With \`kind=scenario\` in the query: the scenario as YAML, of at most ${MAX_YAML_BYTES} bytes.`,
  examples: [SCENARIO_TEXT],
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

const kinds = Object.values(RUNS);
const anyView = z
  .union(kinds.map(({ view }) => view))
  .meta({ description: 'A run, as its kind is shown.', examples: RUNS.scenario.view.meta()?.examples });
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
        .meta({ description: 'A run with its report.', examples: RUNS.scenario.view.meta()?.examples }),
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
