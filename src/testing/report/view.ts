import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { TrafficView } from '../../simulator/traffic/view.js';
import { type Finding, headOf, type Report } from './report.js';

/** A finding as plain data, for every form of report and for REST. */
export interface FindingView extends Omit<Finding, 'frames'> {
  readonly frames: readonly TrafficView[];
}

/** A report as plain data: it can become JSON and come back. */
export interface ReportView extends Omit<Report, 'findings' | 'kind'> {
  readonly kind: Report['kind'] | 'inspection';
  readonly findings: readonly FindingView[];
}

/** The report on a server: one for people, in the form of the reports on clients, and one for programs. */
export interface InspectionReport extends ReportView {
  readonly kind: 'inspection';
  readonly findings: readonly ServerFindingView[];
  /** What programs get, without the exchanges. `INSPECTION_COMMANDS` describes it. */
  readonly json: InspectionJson;
}

/** The JSON report on a server, as far as other rooms look into it. */
export interface InspectionJson {
  readonly checks: readonly object[];
}

/** A finding with the exchanges that show it. Frames and exchanges may be made on each read. */
export interface ServerFindingView extends FindingView {
  readonly exchanges: readonly object[];
}

/** Makes the view of an event, with the names and values of its registers where these are known. */
type ShowEvent = (event: TrafficEvent) => TrafficView;

/** All frames of a report, finding by finding, for a caller that has to know all of them to show one. */
export function* framesOf({ findings }: Report): Generator<TrafficEvent> {
  for (const { frames } of findings) yield* frames;
}

export function viewReport(report: Report, show: ShowEvent): ReportView {
  return {
    ...report,
    findings: report.findings.map((finding) => ({ ...finding, frames: finding.frames.map(show) })),
  };
}

/**
 * Makes the view for a long answer: the frames of a finding are made on each read, and none are kept. All
 * frames of a report of 250 steps with 40 frames each take 0.15 s, so a caller that goes through all findings
 * in one turn must neither read frames nor copy a finding.
 */
export function viewOnDemand(report: Report, show: ShowEvent): ReportView {
  return { ...report, findings: report.findings.map((finding) => onDemand(finding, show)) };
}

function onDemand(finding: Finding, show: ShowEvent): FindingView {
  return {
    ...headOf(finding),
    get frames() {
      return finding.frames.map(show);
    },
  };
}
