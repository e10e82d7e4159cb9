import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refusal } from '../../../simulator/commands/refusal.js';
import { failures } from '../../../simulator/commands/schemas/problem.js';
import { type detailQuery, OF_RUN, RUN_COMMANDS } from '../../../testing/declared.js';
import { summaryJson } from '../../../testing/report/json.js';
import type { Run } from '../../../testing/report/report.js';
import { refuse, sendJson } from '../answers.js';
import type { Places } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import { asFile, oneByOne, reportRoutes, reportView } from './reports.js';
import { type DeskPart, type Route, type Routes, routesOf } from './route.js';
import { startPart } from './yaml-body.js';

/** A run without its report, as REST shows it. */
const summaryOf = ({ id, isOver, lines, report, doing }: Run): object => ({
  id,
  state: isOver ? 'over' : 'running',
  ...(doing && { doing }),
  ...summaryJson(report),
  ...(report.kind === 'scenario' && { lines }),
});

/**
 * `/api/v1/runs`: scenarios, client tests, server tests and fuzz runs. `/api/v1/checks`: what they check.
 * @param reports the slots for the reports that are sent
 */
export function runRoutes(desk: ApiContext, reports: Places): Routes {
  return {
    ...routesOf(desk, RUN_COMMANDS, {
      'run.list': { show: (runs: readonly Run[]) => runs.map(summaryOf) },
      'run.start': startPart(desk, summaryOf),
      'run.get': readPart(desk, reports),
    }),
    ...reportRoutes(desk, reports),
    'GET /runs/:id/scenario.yaml': shortestRoute(desk),
  };
}

/** A run with its report, which the desk makes. */
function readPart(desk: ApiContext, reports: Places): DeskPart {
  return {
    handle: async (request: FastifyRequest, reply: FastifyReply) => {
      const run = await desk.rpc.call('run.get', { id: Number((request.params as { id: string }).id) });
      if (!run.ok) return refuse(request, reply, run);
      if ((request.query as z.infer<typeof detailQuery>).report === 'false') return summaryOf(run.value);
      return reports.answer(request, reply, async () => {
        const view = await reportView(desk, run.value);
        if (!view.ok) return refuse(request, reply, view);
        const { findings, ...report } = view.value;
        const pieces = { ...report, findings: oneByOne(findings.values()) };
        return sendJson(reply, { ...summaryOf(run.value), report: pieces });
      });
    },
  };
}

function shortestRoute(desk: ApiContext): Route {
  const { params } = OF_RUN;
  return {
    summary: 'Get the shortest schedule of a fuzz run as a scenario',
    description:
      'The scenario fails with this client, and passes with one that returns to its usual polling.',
    params,
    handle: async (request, reply) => {
      const id = Number((request.params as z.infer<typeof params>).id);
      const run = await desk.rpc.call('run.get', { id });
      if (!run.ok) return refuse(request, reply, run);
      const { fuzzed } = run.value.report;
      const why = `run ${id} found no schedule that makes the client fail`;
      if (!fuzzed) return refuse(request, reply, refusal('run.no_failure', '', why));
      return asFile(reply, `fuzz-${id}.yaml`).type('application/yaml; charset=utf-8').send(fuzzed.scenario);
    },
    response: {
      200: { description: 'A scenario.', content: { 'application/yaml': { schema: z.string() } } },
      ...failures(404),
    },
  };
}
