import type { ReadEvent } from '../../traffic/decode.js';
import { type TrafficView, trafficView } from '../../traffic/view.js';
import type { Finding, Report } from './report.js';
import { type StripPiece, stripOf } from './strip.js';

/** A finding as plain data, for every form of report and for REST. */
export interface FindingView extends Omit<Finding, 'frames'> {
  readonly frames: readonly TrafficView[];
  readonly strip: readonly StripPiece[];
}

/** A report as plain data: it can become JSON and come back. */
export interface ReportView extends Omit<Report, 'findings'> {
  readonly findings: readonly FindingView[];
}

/** @param read finds the requests of responses that passed between others, where they are still kept */
export function viewReport(report: Report, read: ReadEvent = () => undefined): ReportView {
  return { ...report, findings: report.findings.map((finding) => viewFinding(finding, read)) };
}

/** The same with a pause after each finding. */
export function* viewingReport(report: Report, read: ReadEvent): Generator<void, ReportView> {
  const findings: FindingView[] = [];
  for (const finding of report.findings) {
    findings.push(viewFinding(finding, read));
    yield;
  }
  return { ...report, findings };
}

/** @param read as of `viewReport` */
export function viewFinding(finding: Finding, read: ReadEvent): FindingView {
  const { frames } = finding;
  return {
    ...finding,
    frames: frames.map((event) => trafficView(event, read)),
    strip: stripOf(frames, read),
  };
}
