import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { unknownName } from '../../schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';
import { CHECKS, checksFor } from '../../testing/examine/checks.js';
import { ExaminationRuns, type KnownExamination } from '../../testing/examine/examination-runs.js';
import type { LineLeases } from '../../testing/line-leases.js';
import { examinationSummary } from '../../testing/report/examination-json.js';
import { viewOnDemand } from '../../testing/report/view.js';
import type { LongAnswers } from '../long-answers.js';
import {
  checkList,
  checksQuery,
  detailQuery,
  type ExaminationSummary,
  examinationList,
  examinationParams,
  examinationSchema,
  order,
  stopQuery,
  summarySchema,
} from './examination-schemas.js';
import { errorBody, errorSchema, issuesBody } from './problem.js';
import { reportRoutes } from './report-files.js';

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
          response: { 201: summarySchema, 400: errorSchema, 409: errorSchema },
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
        const report = viewOnDemand(examination.report, (seq) => simulator.traffic.read(seq));
        return answers.send(reply, {
          ...summary(examination),
          report: { ...report, findings: report.findings.values() },
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
