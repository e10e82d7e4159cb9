import { z } from 'zod';
import { section, text, wholeNumber } from '../common/schema/parts.js';
import type { DeclaredCommands } from '../simulator/commands/declared.js';
import { failures } from '../simulator/commands/schemas/problem.js';
import { RUNS, SCENARIO_TEXT } from './declared-runs.js';
import { KIND_NAMES, type RunKind } from './run-kinds.js';

/** Maximum length of YAML, in bytes. Parsing this much takes 0.2 s, and a second on a slow machine. */
export const MAX_YAML_BYTES = 16 * 1024;

const scenarioText = z.string().meta({
  description: `With \`kind=scenario\` in the query: the scenario as YAML (at most ${MAX_YAML_BYTES} bytes).`,
  examples: [SCENARIO_TEXT],
});

const CHECKED_KINDS = ['client', 'server'] as const;

const checksQuery = z.strictObject({
  kind: z.enum(CHECKED_KINDS).optional().describe('Checks for clients (default) or for servers.'),
  line: z.string().optional().describe('Only checks for clients that can run on this line.'),
});

/** A check in a list: what it does, why, and when it passes. */
const checkView = z
  .object({
    id: z.string(),
    group: z.string(),
    title: z.string(),
    does: z.string(),
    matters: z.string().describe('Why it matters to users of the client or the server.'),
    rule: z.string().describe('When the check passes, fails, or is inconclusive.'),
    source: z.string().describe('The clause of a specification, or reports about real clients.'),
  })
  .meta({ id: 'Check', description: 'One check of the behaviour of a client or a server.' });

export type CheckView = z.infer<typeof checkView>;

const checkList = z
  .object({ checks: z.array(checkView) })
  .describe('The checks, in the order of their groups.');

export const detailQuery = z.strictObject({
  report: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `false`, the answer leaves out the report, so it is short enough for frequent polling.'),
});

const kinds = Object.values(RUNS);
const anyView = z.union(kinds.map(({ view }) => view)).meta({
  description: 'A run. Its keys depend on its kind.',
  examples: RUNS.scenario.view.meta()?.examples,
});
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

/** The commands for runs of all kinds. `commands.ts` carries them out. */
export const RUN_COMMANDS = {
  'run.checks': {
    rest: 'GET /checks',
    kind: 'query',
    sent: section({ kind: z.enum(CHECKED_KINDS).optional(), line: text('the name of a line').optional() }),
    summary: 'List the checks for clients or for servers',
    description: 'Each check lists what it does, why, and when it passes.',
    member: 'checks',
    schema: { querystring: checksQuery },
    response: { 200: checkList, ...failures(400) },
  },
  'run.list': {
    rest: 'GET /runs',
    kind: 'query',
    sent: section({ kind: kindOfRun.optional() }),
    summary: 'List the runs',
    description: 'Lists the running runs and the newest finished runs of each kind.',
    member: 'runs',
    schema: {
      querystring: z.strictObject({ kind: kindOfRun.optional().describe('Only runs of this kind.') }),
    },
    response: {
      200: z.object({ runs: z.array(anyView) }).describe('The runs, oldest first.'),
      ...failures(400),
    },
  },
  'run.start': {
    rest: 'POST /runs',
    sent: z.unknown(),
    as: 'order',
    summary: 'Start a run',
    description:
      'Only one run at a time can use a line or a server. `server` sends every kind of request that a client may send, from this machine; without `scratch` it writes nothing.',
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
    description: 'The findings so far, with the frames or exchanges that show them.',
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
      'The answer comes once the faults of the run are removed, its lines are free, and values written by a server test are restored. Its findings stay readable.',
    schema: {
      querystring: z.strictObject({
        failure: z
          .string()
          .min(1)
          .max(4096)
          .optional()
          .describe(
            'Why the running step, check or move failed, for example because the client program exited. Without it, the running step is undecided.',
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
