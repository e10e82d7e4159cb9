import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { TrafficView } from '../../simulator/traffic/view.js';
import { type Finding, headOf, type Report } from './report.js';

/** A finding as plain data, for every form of report and for REST. */
export interface FindingView extends Omit<Finding, 'frames'> {
  readonly frames: readonly TrafficView[];
}

/** A report as plain data: it can become JSON and come back. */
export interface ReportView extends Omit<Report, 'findings'> {
  readonly findings: readonly FindingView[];
}

/** How an event is shown: with the names and values of its registers, where they are known. */
type ShowEvent = (event: TrafficEvent) => TrafficView;

/** All frames of a report, those of one finding after the other: for who needs to know of all of them to show one. */
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
 * The same for long answers: the frames of a finding are made each time they are asked for, and none of them are kept. All
 * of a report of 250 steps with 40 frames each takes 0.15 s. So who goes through all findings at once must not look at them,
 * nor copy a finding.
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
