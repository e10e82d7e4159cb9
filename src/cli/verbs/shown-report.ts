import { LineMap } from '../../remote/api/line-map.js';
import { LocalRpc } from '../../remote/rpc/local-rpc.js';
import type { Simulator } from '../../simulator/simulator.js';
import { newTestContext } from '../../testing/commands.js';
import { framesOf, type Report, type ReportView, viewReport } from '../../testing/report/report.js';
import { warningLog } from './log.js';

/** A report as plain data, with the names and values of registers. Works after the simulator has stopped. */
export async function shownReport(report: Report, simulator: Simulator): Promise<ReportView> {
  const map = new LineMap(new LocalRpc(newTestContext(simulator, warningLog())), simulator.traffic);
  return viewReport(report, await map.viewer(framesOf(report)));
}
