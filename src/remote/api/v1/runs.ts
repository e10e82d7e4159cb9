import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { DeclaredCommands } from '../../../simulator/commands/declared.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { failures } from '../../../simulator/commands/schemas/problem.js';
import type { Run } from '../../../testing/commands.js';
import {
  type detailQuery,
  EXAMINATION_COMMANDS,
  EXAMINATION_EXAMPLE,
  INSPECTION_COMMANDS,
  INSPECTION_EXAMPLE,
  inspectionSchema,
  OF_RUN,
  SHAKE_COMMANDS,
  SHAKE_EXAMPLE,
  TEST_COMMANDS,
} from '../../../testing/declared.js';
import {
  examinationJsonByCheck,
  examinationSchema,
  examinationSummary,
  shakeJsonByFinding,
  shakeSchema,
  shakeSummary,
  testJsonByStep,
  testJsonSchema,
} from '../../../testing/report/json.js';
import type { ServerFindingView } from '../../../testing/report/report.js';
import { refuse, sendJson } from '../answers.js';
import type { Places } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import { asFile, oneByOne, type RunKind, reportRoutes, reportView } from './reports.js';
import { type DeskPart, type Route, type Routes, routesOf } from './route.js';
import { startPart, testSummary } from './scenario-body.js';

/** What REST shows of the runs of one kind. */
interface ShownKind extends Omit<RunKind, 'one'> {
  readonly commands: DeclaredCommands;
  /** Makes what is shown of a run without its report. */
  readonly summary: (run: Run) => object;
}

const VERSIONS = [{ name: 'modbus-sim', version: '1.0.0-rc.1' }];
const SHAKEN = 'name: shaken\nline: lan\nsteps: []\n';
const STARTED_AT = '2026-01-31T12:00:00.000Z';
/** What reports end with, for examples. */
const REPORT_END = { startedAt: STARTED_AT, durationMs: 12.5, versions: VERSIONS };

/** The example of a report on a run. @param key the list of its findings, which have their evidence there */
function reportExample(
  { id: _, state: __, ...run }: Readonly<Record<string, unknown>>,
  key: 'checks' | 'findings',
  evidence: 'frames' | 'exchanges',
): object {
  const { [key]: findings, ...report } = run;
  return { ...report, [key]: (findings as readonly object[]).map((each) => ({ ...each, [evidence]: [] })) };
}

const KINDS: Readonly<Record<RunKind['one'], ShownKind>> = {
  test: {
    commands: TEST_COMMANDS,
    called: 'a test',
    summary: testSummary,
    json: {
      schema: testJsonSchema.meta({
        examples: [
          {
            name: 'over REST',
            verdict: 'pass',
            stopped: false,
            steps: [
              { name: 'polls', verdict: 'pass', message: 'came after 12 ms', durationMs: 12.5, frames: [] },
            ],
            startedAt: STARTED_AT,
            durationMs: 12.5,
            seed: 7,
            versions: VERSIONS,
          },
        ],
      }),
      of: testJsonByStep,
    },
  },
  examination: {
    commands: EXAMINATION_COMMANDS,
    called: 'an examination',
    summary: shown(examinationSummary),
    json: {
      schema: examinationSchema.meta({
        examples: [{ ...reportExample(EXAMINATION_EXAMPLE, 'checks', 'frames'), ...REPORT_END }],
      }),
      of: examinationJsonByCheck,
    },
  },
  shake: {
    commands: SHAKE_COMMANDS,
    called: 'a shake',
    summary: shown(shakeSummary),
    json: {
      schema: shakeSchema.meta({
        examples: [
          {
            ...reportExample({ ...SHAKE_EXAMPLE, scenario: SHAKEN }, 'findings', 'frames'),
            ...REPORT_END,
          },
        ],
      }),
      of: shakeJsonByFinding,
    },
  },
  inspection: {
    commands: INSPECTION_COMMANDS,
    called: 'an inspection',
    summary: shown(({ json }) => json ?? {}),
    json: {
      schema: inspectionSchema.meta({ examples: [reportExample(INSPECTION_EXAMPLE, 'checks', 'exchanges')] }),
      of: ({ findings, json }) => {
        return { ...json, checks: withExchanges(json?.checks ?? [], findings as ServerFindingView[]) };
      },
    },
  },
};

/**
 * `/api/v1/examinations`, `/shakes` and `/inspections`: how the clients of running lines behave, what breaks
 * them, and how servers behave. `/api/v1/checks`: what is checked.
 */
export function runRoutes(desk: ApiContext, reports: Places): Routes {
  return {
    ...routesOfKind(desk, reports, 'examination'),
    ...routesOfKind(desk, reports, 'shake'),
    'GET /shakes/:id/scenario.yaml': shortestRoute(desk),
    ...routesOfKind(desk, reports, 'inspection'),
  };
}

/** `/api/v1/tests`: scenarios on running lines. Their bodies may be YAML. */
export function testRoutes(desk: ApiContext, reports: Places): Routes {
  return routesOfKind(desk, reports, 'test', startPart(desk));
}

/**
 * @param reports the places of the reports that are sent
 * @param start what the desk does to start a run, if more than the command
 */
function routesOfKind(desk: ApiContext, reports: Places, one: RunKind['one'], start: DeskPart = {}): Routes {
  const { commands, called, summary, json } = KINDS[one];
  return {
    ...routesOf(desk, commands, {
      [`${one}.list`]: { show: (runs: readonly Run[]) => runs.map(summary) },
      [`${one}.start`]: { show: summary, ...start },
      [`${one}.get`]: readPart(desk, reports, one, summary),
    }),
    ...reportRoutes(desk, reports, { one, called, json }),
  };
}

/** A run with its report, which the desk makes. */
function readPart(
  desk: ApiContext,
  reports: Places,
  one: RunKind['one'],
  summary: (run: Run) => object,
): DeskPart {
  return {
    handle: async (request: FastifyRequest, reply: FastifyReply) => {
      const run = await desk.rpc.call(`${one}.get`, { id: Number((request.params as { id: string }).id) });
      if (!run.ok) return refuse(request, reply, run);
      if ((request.query as z.infer<typeof detailQuery>).report === 'false') return summary(run.value);
      return reports.answer(request, reply, async () => {
        const view = await reportView(desk, one, run.value);
        if (!view.ok) return refuse(request, reply, view);
        const { findings, ...report } = view.value;
        const pieces = { ...report, findings: oneByOne(findings.values()) };
        return sendJson(reply, { ...summary(run.value), report: pieces });
      });
    },
  };
}

function shortestRoute(desk: ApiContext): Route {
  const { params } = OF_RUN.shake;
  return {
    summary: 'Get the shortest moves of a shake as a scenario',
    description: 'It fails on this client, and passes on one that comes back to its usual round.',
    params,
    handle: async (request, reply) => {
      const id = Number((request.params as z.infer<typeof params>).id);
      const run = await desk.rpc.call('shake.get', { id });
      if (!run.ok) return refuse(request, reply, run);
      const { shaken } = run.value.report;
      const why = `shake ${id} has found no moves at which the client fails`;
      if (!shaken) return refuse(request, reply, refusal('shake.no_failure', '', why));
      return asFile(reply, `shake-${id}.yaml`).type('application/yaml; charset=utf-8').send(shaken.scenario);
    },
    response: {
      200: { description: 'A scenario.', content: { 'application/yaml': { schema: z.string() } } },
      ...failures(404),
    },
  };
}

/** @param summary makes what is shown of the report */
function shown(summary: (report: Run['report']) => object): (run: Run) => object {
  return ({ id, isOver, report }) => ({ id, state: isOver ? 'over' : 'running', ...summary(report) });
}

function* withExchanges(checks: readonly object[], findings: readonly ServerFindingView[]) {
  for (const [i, check] of checks.entries()) yield { ...check, exchanges: findings[i]?.exchanges ?? [] };
}
