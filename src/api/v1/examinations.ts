import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { unknownName } from '../../schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';
import { CHECKS } from '../../testing/examine/checks.js';
import { ExaminationRuns, type KnownExamination } from '../../testing/examine/examination-runs.js';
import { checksFor } from '../../testing/examine/plan.js';
import { orderSchema } from '../../testing/examine/read-order.js';
import type { LineLeases } from '../../testing/line-leases.js';
import { examinationShape, examinationSummary } from '../../testing/report/examination-json.js';
import { viewFinding } from '../../testing/report/view.js';
import type { LongAnswers } from '../long-answers.js';
import { CHECK, EXAMINATION } from './examples.js';
import { errorBody, errorSchema, issuesBody } from './problem.js';
import { reportRoutes } from './report-files.js';

const examinationParams = z.object({
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

const examinationSummarySchema = z.object(summaryFields).meta({
  id: 'Examination',
  description: 'An examination that runs or has run, with what it has found by now.',
  examples: [EXAMINATION],
});

export type ExaminationSummary = z.infer<typeof examinationSummarySchema>;

const examinationSchema = z
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

const examinationList = z
  .object({ examinations: z.array(examinationSummarySchema) })
  .describe('The examinations, the newest twenty of them.');

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
  .meta({ id: 'Check', description: 'One check of how a client behaves.', examples: [CHECK] });

const checkList = z
  .object({ checks: z.array(checkView) })
  .describe('The checks, in the order of their groups.');

/** `/api/v1/examinations`: how the clients of running lines behave. `/api/v1/checks`: what is looked at. */
export function examinationRoutes(
  simulator: Simulator,
  leases: LineLeases,
  answers: LongAnswers,
): FastifyPluginCallbackZod {
  const runs = new ExaminationRuns(simulator, leases);
  const unknownExamination = (id: string) => errorBody([{ path: 'id', message: `no examination ${id}` }]);

  return (app, _, done) => {
    app.addHook('onClose', async () => runs.stopAll());

    app.get(
      '/checks',
      {
        schema: {
          summary: 'List the checks of examinations',
          description: 'What each one does, why, and when it passes.',
          tags: ['tests'],
          querystring: checksQuery,
          response: { 200: checkList, 400: errorSchema },
        },
      },
      async ({ query: { line: name } }, reply) => {
        const line = name === undefined ? undefined : simulator.lines.get(name);
        if (name !== undefined && !line) {
          const message = unknownName('line', name, [...simulator.lines.keys()]);
          return reply.code(400).send(errorBody([{ path: 'line', message }]));
        }
        const checks = line ? checksFor(line) : CHECKS;
        return {
          checks: checks.map(({ id, group, title, does, matters, rule, source }) => {
            return { id, group, title, does, matters, rule, source };
          }),
        };
      },
    );

    app.get(
      '/examinations',
      {
        schema: {
          summary: 'List the examinations',
          description: 'Those that run and the newest that are over.',
          tags: ['tests'],
          response: { 200: examinationList },
        },
      },
      () => ({ examinations: runs.list().map(summary) }),
    );

    app.post(
      '/examinations',
      {
        schema: {
          summary: 'Start an examination',
          description: 'Only one test or examination can run on a line at a time.',
          tags: ['tests'],
          checkedBody: order,
          response: { 201: examinationSummarySchema, 400: errorSchema, 409: errorSchema },
        },
      },
      async ({ body }, reply) => {
        const started = runs.start(body);
        if (started.ok) return reply.code(201).send(summary(started.examination));
        if ('issues' in started) return reply.code(400).send(issuesBody(started.issues));
        return reply.code(409).send(errorBody([{ path: 'line', message: started.busy }]));
      },
    );

    app.get(
      '/examinations/:id',
      {
        schema: {
          summary: 'Read an examination',
          description: 'What is known of the client by now, with the frames that show it.',
          tags: ['tests'],
          params: examinationParams,
          querystring: detailQuery,
          response: { 200: examinationSchema, 400: errorSchema, 404: errorSchema },
        },
      },
      async ({ params: { id }, query }, reply) => {
        const examination = runs.get(Number(id));
        if (!examination) return reply.code(404).send(unknownExamination(id));
        if (query.report === 'false') return summary(examination);
        const { report } = examination;
        const read = (seq: number) => simulator.traffic.read(seq);
        const findings = function* () {
          for (const finding of report.findings) yield viewFinding(finding, read);
        };
        return answers.send(reply, {
          ...summary(examination),
          report: { ...report, findings: findings() },
        });
      },
    );

    app.delete(
      '/examinations/:id',
      {
        schema: {
          summary: 'Stop an examination',
          description: 'Its faults are removed. What it has found stays readable.',
          tags: ['tests'],
          params: examinationParams,
          querystring: stopQuery,
          response: { 204: z.null().describe('It is over.'), 400: errorSchema, 404: errorSchema },
        },
      },
      async ({ params: { id }, query: { failure } }, reply) => {
        if (!runs.get(Number(id))) return reply.code(404).send(unknownExamination(id));
        runs.stop(Number(id), failure);
        return reply.code(204).send(null);
      },
    );
    app.register(reportRoutes('examinations', { simulator, answers, get: (id) => runs.get(id) }));
    done();
  };
}

function summary({ id, isOver, report }: KnownExamination): ExaminationSummary {
  return { id, state: isOver ? 'over' : 'running', ...examinationSummary(report) };
}
