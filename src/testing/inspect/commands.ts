import type { FunctionsOf } from '../../simulator/commands/declared.js';
import { commandsOn } from '../commands.js';
import type { INSPECTION_COMMANDS } from '../declared.js';
import { headOf, type ServerFindingView } from '../report/report.js';
import type { AnyReport } from '../runs.js';

/** The commands on inspections. What inspects is loaded when the first one is asked for. */
const inspections = commandsOn(
  'inspection',
  withExchanges,
  async (runs, { order }: { readonly order: unknown }, context) => {
    const { startInspection } = await import('./start-inspection.js');
    return startInspection(runs, context, order);
  },
);

function* withExchanges(report: AnyReport): Generator<ServerFindingView> {
  if (report.kind !== 'inspection') return;
  for (const finding of report.findings)
    yield { ...headOf(finding), frames: finding.frames, exchanges: finding.exchanges };
}

export const INSPECTION_FUNCTIONS = {
  'inspection.list': inspections.list,
  'inspection.start': inspections.start,
  'inspection.get': inspections.get,
  'inspection.stop': inspections.stop,
  'inspection.findings': inspections.findings,
} satisfies FunctionsOf<typeof INSPECTION_COMMANDS>;
