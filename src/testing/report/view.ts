import type { ReadEvent } from '../../traffic/decode.js';
import { type TrafficView, trafficView } from '../../traffic/view.js';
import { type Finding, headOf, type Report } from './report.js';

/** A finding as plain data, for every form of report and for REST. */
export interface FindingView extends Omit<Finding, 'frames'> {
  readonly frames: readonly TrafficView[];
}

/** A report as plain data: it can become JSON and come back. */
export interface ReportView extends Omit<Report, 'findings'> {
  readonly findings: readonly FindingView[];
}

/** @param read finds the requests of responses that passed between others, where they are still kept */
export function viewReport(report: Report, read: ReadEvent = () => undefined): ReportView {
  return { ...report, findings: report.findings.map((finding) => viewFinding(finding, read)) };
}

/**
 * The same for long answers: the frames of a finding are made each time they are asked for, and none of them are kept. All
 * of a report of 250 steps with 40 frames each takes 0.15 s. So who goes through all findings at once must not look at them,
 * nor copy a finding.
 */
export function viewOnDemand(report: Report, read: ReadEvent): ReportView {
  return { ...report, findings: report.findings.map((finding) => onDemand(finding, read)) };
}

function onDemand(finding: Finding, read: ReadEvent): FindingView {
  return {
    ...headOf(finding),
    get frames() {
      return finding.frames.map((event) => trafficView(event, read));
    },
  };
}

function viewFinding(finding: Finding, read: ReadEvent): FindingView {
  return { ...finding, frames: finding.frames.map((event) => trafficView(event, read)) };
}
