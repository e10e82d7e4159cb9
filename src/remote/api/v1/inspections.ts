import type { Run } from '../../../testing/commands.js';
import {
  INSPECTION_COMMANDS,
  INSPECTION_EXAMPLE,
  type InspectionView,
  inspectionSchema,
} from '../../../testing/declared.js';
import type { ServerFindingView } from '../../../testing/report/report.js';
import type { ApiContext } from '../desk.js';
import { reportRoutes } from './reports.js';
import { type Routes, routesOf } from './route.js';
import { listPart, readPart } from './runs.js';

const { id: _id, state: _state, checks, ...found } = INSPECTION_EXAMPLE;
const REPORT = { ...found, checks: checks.map((check) => ({ ...check, exchanges: [] })) };

/** `/api/v1/inspections`: how servers behave that this machine reaches. */
export function inspectionRoutes(desk: ApiContext): Routes {
  return {
    ...routesOf(desk, INSPECTION_COMMANDS, {
      'inspection.list': listPart(summary),
      'inspection.start': { show: summary },
      'inspection.get': readPart(desk, 'inspection', summary),
    }),
    ...reportRoutes(desk, {
      one: 'inspection',
      called: 'an inspection',
      json: {
        schema: inspectionSchema.meta({ examples: [REPORT] }),
        of: ({ findings, json }) => {
          return { ...json, checks: withExchanges(json?.checks ?? [], findings as ServerFindingView[]) };
        },
      },
    }),
  };
}

function* withExchanges(checks: readonly object[], findings: readonly ServerFindingView[]) {
  for (const [i, check] of checks.entries()) yield { ...check, exchanges: findings[i]?.exchanges ?? [] };
}

function summary({ id, isOver, report: { json } }: Run): InspectionView {
  return { id, state: isOver ? 'over' : 'running', ...(json as Omit<InspectionView, 'id' | 'state'>) };
}
