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

/**
 * The same for long answers: the frames and the strip of a finding are made when they are asked for, each time anew, and
 * nothing of them is kept. A report of 250 steps with 40 frames each would be made in one turn of 0.1 s otherwise.
 */
export function viewOnDemand(report: Report, read: ReadEvent): ReportView {
  const findings = report.findings.map((finding) => {
    const { frames } = finding;
    return {
      ...finding,
      get frames() {
        return frames.map((event) => trafficView(event, read));
      },
      get strip() {
        return stripOf(frames, read);
      },
    };
  });
  return { ...report, findings };
}

function viewFinding(finding: Finding, read: ReadEvent): FindingView {
  const { frames } = finding;
  return {
    ...finding,
    frames: frames.map((event) => trafficView(event, read)),
    strip: stripOf(frames, read),
  };
}
