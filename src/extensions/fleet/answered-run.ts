import { z } from 'zod';
import type { FollowedRun } from '../../cli/verbs/follow-run.js';
import { failure, type Result, success } from '../../common/result.js';
import type { Run } from '../../testing/report/report.js';
import { measurements, verdict } from '../../testing/report/shapes.js';
import type { FleetAnswer } from './benches.js';

/** A run on a bench, with its report but without frames. */
export type BenchRun = Run & FollowedRun;

/** The latest time that a `Date` can hold, in ms since 1970 (ECMA-262, 21.4.1.1). */
const LAST_DATE = 8.64e15;

const text = z.string();
const durationMs = z.number();

const findingSchema = z.object({
  ...{ id: text, title: text, verdict, summary: text, durationMs },
  ...{ asked: text.optional(), label: text.optional(), code: text.optional(), conclusion: text.optional() },
  confidence: z.object({ agreeing: z.number(), trials: z.number() }).optional(),
  about: z.object({ group: text, does: text, matters: text, rule: text, fix: text, source: text }).optional(),
});

/**
 * The fields of a run that fleet reports need. A bench may run another version, or be hostile, so all other
 * fields are dropped.
 */
const runSchema = z.object({
  id: z.number(),
  isOver: z.boolean(),
  lines: z.array(text),
  report: z.object({
    kind: z.enum(['scenario', 'client']),
    name: text,
    startedAt: z.number().min(0).max(LAST_DATE),
    durationMs,
    verdict,
    isStopped: z.boolean(),
    line: text.optional(),
    seed: z.number(),
    conclusions: z.array(text),
    parameters: z.array(z.object({ name: text, value: text })),
    counts: z.array(z.object({ id: text, verdict, many: z.number(), word: text })).optional(),
    found: measurements.optional(),
    findings: z.array(findingSchema),
    versions: z.array(z.object({ name: text, version: text })),
  }),
});

/** Reads a run from a bench's answer; a sentence if the answer is something else. */
export function runIn(answer: FleetAnswer): Result<BenchRun> {
  if (!answer.ok) return failure(`${answer.code}: ${answer.detail}`);
  const run = runSchema.safeParse(answer.value);
  if (!run.success) return failure("the bench's answer is not a run");
  return success({ ...(run.data as Run), findings: run.data.report.findings });
}
