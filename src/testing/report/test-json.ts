import { z } from 'zod';
import { aboutSchema } from './about-schema.js';
import type { FindingView, ReportView } from './view.js';

const step = z.object({
  name: z.string(),
  verdict: z.string(),
  message: z.string(),
  durationMs: z.number(),
  frames: z.array(z.looseObject({}) as z.ZodType<object>).readonly(),
});

/** The JSON report on a test. */
export const testJsonSchema = z.object({
  name: z.string(),
  verdict: z.string(),
  steps: z.array(step),
  /** When the test began, in ISO 8601. */
  startedAt: z.string(),
  durationMs: z.number(),
  seed: z.number(),
  about: aboutSchema.optional(),
  versions: z.array(z.object({ name: z.string(), version: z.string() })).readonly(),
});

/** The JSON report on a test as a value whose steps are made one by one. */
export function testJsonByStep(report: ReportView) {
  const { name, verdict, findings, startedAt, durationMs, seed, about, versions } = report;
  return {
    name,
    verdict,
    steps: stepsJson(findings),
    startedAt: new Date(startedAt).toISOString(),
    durationMs,
    seed,
    ...(about && { about: { ...about } }),
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

/** The JSON of one test as an object, or of several tests as a list of objects. */
export function testsJson(reports: readonly ReportView[]): string {
  const [first, ...others] = reports.map(testJson);
  return `${JSON.stringify(others.length === 0 ? first : [first, ...others], null, 2)}\n`;
}
