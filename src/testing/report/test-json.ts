import type { TrafficView } from '../../traffic/view.js';
import type { Verdict } from './report.js';
import type { ReportView } from './view.js';

/** The JSON report on a test. */
interface TestJson {
  readonly name: string;
  readonly verdict: Verdict;
  readonly steps: readonly {
    readonly name: string;
    readonly verdict: Verdict;
    readonly message: string;
    readonly durationMs: number;
    readonly frames: readonly TrafficView[];
  }[];
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly seed: number;
  readonly versions: ReportView['versions'];
}

/** The JSON report on a test as a value. */
export function testJson(report: ReportView): TestJson {
  const { name, verdict, findings, startedAt, durationMs, seed, versions } = report;
  return {
    name,
    verdict,
    steps: findings.map(({ title, verdict, summary, durationMs, frames }) => ({
      name: title,
      verdict,
      message: summary,
      durationMs,
      frames,
    })),
    startedAt: new Date(startedAt).toISOString(),
    durationMs,
    seed,
    versions,
  };
}

/** The JSON of one test as an object, and of several as a list of them. */
export function testsJson(reports: readonly ReportView[]): string {
  const [first, ...others] = reports.map(testJson);
  return `${JSON.stringify(others.length === 0 ? first : [first, ...others], null, 2)}\n`;
}
