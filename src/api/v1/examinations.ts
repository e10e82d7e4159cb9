import { z } from 'zod';
import type { Run } from '../../testing/commands.js';
import { orderSchema } from '../../testing/examination-order-schema.js';
import { examinationShape, examinationSummary } from '../../testing/report/examination-json.js';
import { refuse } from '../answers.js';
import type { Desk } from '../desk.js';
import { failures } from '../problem.js';
import { EXAMINATION, reportRoutes, sendRun } from './reports.js';
import type { Routes } from './route.js';

const params = z.object({
  id: z.string().meta({
    description: 'The number of the examination. Tests and examinations are counted together.',
    examples: ['2'],
  }),
});

const detailQuery = z.strictObject({
  report: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `false`, the report is left out, which is short enough to be asked for often.'),
});

const stopQuery = z.strictObject({
  failure: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      'Why the check that runs has failed: the client has died. Without it, that check is `not run`.',
    ),
});

const checksQuery = z.strictObject({
  line: z.string().optional().describe('Only the checks that can be run on this line.'),
});

const summaryFields = {
  id: z.number(),
  state: z.enum(['running', 'over']),
  ...examinationShape,
};

const summarySchema = z.object(summaryFields).meta({
  id: 'Examination',
  description: 'An examination that runs or has run, with what it has found by now.',
  examples: [EXAMINATION],
});

export type ExaminationSummary = z.infer<typeof summarySchema>;

const examinationSchema = z
  .object({
    ...summaryFields,
    report: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Findings with their frames, the configuration and the versions.'),
  })
  .meta({
    id: 'ExaminationReport',
    description: 'An examination with its report.',
    examples: [{ ...EXAMINATION, report: { kind: 'examination', name: EXAMINATION.name, findings: [] } }],
  });

const examinationList = z
  .object({ examinations: z.array(summarySchema) })
  .describe('The examinations, the newest twenty of them.');

/** What `POST` takes. */
const order = orderSchema.meta({
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
  .meta({ id: 'Check', description: 'One check of how a client behaves.' });

const checkList = z
  .object({ checks: z.array(checkView) })
  .describe('The checks, in the order of their groups.');

/** `/api/v1/examinations`: how the clients of running lines behave. `/api/v1/checks`: what is looked at. */
export function examinationRoutes(desk: Desk): Routes {
  return {
    'GET /checks': {
      summary: 'List the checks of examinations',
      description: 'What each one does, why, and when it passes.',
      call: 'examination.checks',
      as: 'checks',
      schema: { querystring: checksQuery },
      response: { 200: checkList, ...failures(400) },
    },
    'GET /examinations': {
      summary: 'List the examinations',
      description: 'Those that run and the newest that are over.',
      call: 'examination.list',
      show: (runs: readonly Run[]) => ({ examinations: runs.map(summary) }),
      response: { 200: examinationList },
    },
    'POST /examinations': {
      summary: 'Start an examination',
      description: 'Only one test or examination can run on a line at a time.',
      call: 'examination.start',
      show: summary,
      schema: { describedBody: order },
      response: { 201: summarySchema, ...failures(400, 409) },
    },
    'GET /examinations/:id': {
      summary: 'Read an examination',
      description: 'What is known of the client by now, with the frames that show it.',
      params,
      schema: { querystring: detailQuery },
      handle: async (request, reply) => {
        const { report } = request.query as z.infer<typeof detailQuery>;
        if (report !== 'false') return sendRun(desk, 'examination', request, reply, summary);
        const { id } = request.params as z.infer<typeof params>;
        const run = await desk.door.call('examination.get', { id: Number(id) });
        return run.ok ? summary(run.value) : refuse(request, reply, run);
      },
      response: { 200: examinationSchema, ...failures(400, 404) },
    },
    'DELETE /examinations/:id': {
      summary: 'Stop an examination',
      description: 'Its faults are removed. What it has found stays readable.',
      call: 'examination.stop',
      params,
      schema: { querystring: stopQuery },
      response: { 204: z.null().describe('It is over.'), ...failures(400, 404) },
    },
    ...reportRoutes('examinations', desk),
  };
}

function summary({ id, isOver, report }: Run): ExaminationSummary {
  return { id, state: isOver ? 'over' : 'running', ...examinationSummary(report) };
}
