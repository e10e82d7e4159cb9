import { z } from 'zod';
import { refusal } from '../../../simulator/commands/refusal.js';
import { failures } from '../../../simulator/commands/schemas/problem.js';
import type { Run } from '../../../testing/commands.js';
import { OF_RUN, SHAKE_COMMANDS, SHAKE_EXAMPLE, type ShakeSummary } from '../../../testing/declared.js';
import { shakeJsonByFinding, shakeSchema, shakeSummary } from '../../../testing/report/json.js';
import { refuse } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { asFile, reportRoutes } from './reports.js';
import { type Routes, routesOf } from './route.js';
import { listPart, readPart } from './runs.js';

const { id: _id, state: _state, findings, ...found } = SHAKE_EXAMPLE;
/** The report on the shake, for examples. */
const REPORT = {
  ...found,
  scenario: 'name: shaken\nline: lan\nsteps: []\n',
  findings: findings.map((finding) => ({ ...finding, frames: [] })),
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 12.5,
  versions: [{ name: 'modbus-sim', version: '1.0.0-rc.1' }],
};

/** `/api/v1/shakes`: what breaks the clients of running lines. */
export function shakeRoutes(desk: ApiContext): Routes {
  const { params } = OF_RUN.shake;
  return {
    ...routesOf(desk, SHAKE_COMMANDS, {
      'shake.list': listPart(summary),
      'shake.start': { show: summary },
      'shake.get': readPart(desk, 'shake', summary),
    }),
    ...reportRoutes(desk, {
      one: 'shake',
      called: 'a shake',
      json: { schema: shakeSchema.meta({ examples: [REPORT] }), of: shakeJsonByFinding },
    }),
    'GET /shakes/:id/scenario.yaml': {
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
        return asFile(reply, `shake-${id}.yaml`)
          .type('application/yaml; charset=utf-8')
          .send(shaken.scenario);
      },
      response: {
        200: { description: 'A scenario.', content: { 'application/yaml': { schema: z.string() } } },
        ...failures(404),
      },
    },
  };
}

function summary({ id, isOver, report }: Run): ShakeSummary {
  return { id, state: isOver ? 'over' : 'running', ...shakeSummary(report) };
}
