import type { FindingView, ReportView } from './view.js';

/** The JSON report on a test as a value, but for its steps, which come one by one. */
export function testJsonByStep(report: ReportView) {
  const { name, verdict, findings, startedAt, durationMs, seed, versions } = report;
  return {
    name,
    verdict,
    steps: stepsJson(findings),
    startedAt: new Date(startedAt).toISOString(),
    durationMs,
    seed,
    versions,
  };
}

function* stepsJson(findings: readonly FindingView[]) {
  for (const { title, verdict, summary, durationMs, frames } of findings) {
    yield { name: title, verdict, message: summary, durationMs, frames };
  }
}

function testJson(report: ReportView) {
  const json = testJsonByStep(report);
  return { ...json, steps: [...json.steps] };
}

/** The JSON of one test as an object, and of several as a list of them. */
export function testsJson(reports: readonly ReportView[]): string {
  const [first, ...others] = reports.map(testJson);
  return `${JSON.stringify(others.length === 0 ? first : [first, ...others], null, 2)}\n`;
}
