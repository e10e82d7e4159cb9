import { z } from 'zod';
import { orderSchema } from '../../testing/examine/order-schema.js';
import { examinationShape } from '../../testing/report/examination-json.js';
import { CHECK, EXAMINATION } from './examples.js';

export const examinationParams = z.object({
  id: z.string().meta({
    description: 'The number of the examination. Tests and examinations are counted together.',
    examples: ['2'],
  }),
});

export const detailQuery = z.strictObject({
  report: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `false`, the report is left out, which is short enough to be asked for often.'),
});

export const stopQuery = z.strictObject({
  failure: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      'Why the check that runs has failed: the client has died. Without it, that check is `not run`.',
    ),
});

export const checksQuery = z.strictObject({
  line: z.string().optional().describe('Only the checks that can be run on this line.'),
});

const summaryFields = {
  id: z.number(),
  state: z.enum(['running', 'over']),
  ...examinationShape,
};

export const summarySchema = z.object(summaryFields).meta({
  id: 'Examination',
  description: 'An examination that runs or has run, with what it has found by now.',
  examples: [EXAMINATION],
});

export type ExaminationSummary = z.infer<typeof summarySchema>;

export const examinationSchema = z
  .object({
    ...summaryFields,
    report: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Findings with their frames and strips, the configuration and the versions.'),
  })
  .meta({
    id: 'ExaminationReport',
    description: 'An examination with its report.',
    examples: [{ ...EXAMINATION, report: { kind: 'examination', name: EXAMINATION.name, findings: [] } }],
  });

export const examinationList = z
  .object({ examinations: z.array(summarySchema) })
  .describe('The examinations, the newest twenty of them.');

/** What `POST` takes. */
export const order = orderSchema.meta({
  description: 'What is to be examined. The line must be open, and a client must poll it.',
  examples: [{ line: 'lan', unit: 1, checks: ['watching', 'time-out'], limit: '5m', seed: 4711 }],
});

const checkView = z
  .object({
    id: z.string(),
    group: z.string(),
    title: z.string(),
    does: z.string(),
    matters: z.string().describe('Why that matters to somebody who uses the client.'),
    rule: z.string().describe('When it passes, when it fails, and when neither can be said.'),
    source: z.string().describe('The clause of a specification, or what is known of real clients.'),
  })
  .meta({ id: 'Check', description: 'One check of how a client behaves.', examples: [CHECK] });

export const checkList = z
  .object({ checks: z.array(checkView) })
  .describe('The checks, in the order of their groups.');
