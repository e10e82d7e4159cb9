import type { Run } from '../../../testing/commands.js';
import {
  EXAMINATION_COMMANDS,
  EXAMINATION_EXAMPLE,
  type ExaminationSummary,
} from '../../../testing/declared.js';
import {
  examinationJsonByCheck,
  examinationSchema,
  examinationSummary,
} from '../../../testing/report/json.js';
import type { ApiContext } from '../desk.js';
import { reportRoutes } from './reports.js';
import { type Routes, routesOf } from './route.js';
import { listPart, readPart } from './runs.js';

const { id: _id, state: _state, checks, ...found } = EXAMINATION_EXAMPLE;
/** The report on the examination, for examples. */
const REPORT = {
  ...found,
  checks: checks.map((check) => ({ ...check, frames: [] })),
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 12.5,
  versions: [{ name: 'modbus-sim', version: '1.0.0-rc.1' }],
};

/** `/api/v1/examinations`: how the clients of running lines behave. `/api/v1/checks`: what is checked. */
export function examinationRoutes(desk: ApiContext): Routes {
  return {
    ...routesOf(desk, EXAMINATION_COMMANDS, {
      'examination.list': listPart(summary),
      'examination.start': { show: summary },
      'examination.get': readPart(desk, 'examination', summary),
    }),
    ...reportRoutes(desk, {
      one: 'examination',
      called: 'an examination',
      json: { schema: examinationSchema.meta({ examples: [REPORT] }), of: examinationJsonByCheck },
    }),
  };
}

function summary({ id, isOver, report }: Run): ExaminationSummary {
  return { id, state: isOver ? 'over' : 'running', ...examinationSummary(report) };
}
