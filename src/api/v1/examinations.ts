import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Run } from '../../testing/commands.js';
import { examinationSummary } from '../../testing/report/examination-json.js';
import { refuse, send } from '../answers.js';
import type { Desk } from '../desk.js';
import { errorSchema } from '../problem.js';
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
import { reportRoutes, sendRun } from './reports.js';

/** `/api/v1/examinations`: how the clients of running lines behave. `/api/v1/checks`: what is looked at. */
export function examinationRoutes(desk: Desk): FastifyPluginCallbackZod {
  const { door } = desk;
  const shared = { tags: ['tests'] };

  return (app, _, done) => {
    app.get(
      '/checks',
      {
        schema: {
          ...shared,
          summary: 'List the checks of examinations',
          description: 'What each one does, why, and when it passes.',
          querystring: checksQuery,
          response: { 200: checkList, 400: errorSchema },
        },
      },
      async (request, reply) => {
        const checks = await door.call('examination.checks', request.query);
        return checks.ok ? { checks: [...checks.value] } : refuse(request, reply, checks);
      },
    );

    app.get(
      '/examinations',
      {
        schema: {
          ...shared,
          summary: 'List the examinations',
          description: 'Those that run and the newest that are over.',
          response: { 200: examinationList },
        },
      },
      async (request, reply) => {
        const runs = await door.call('examination.list', undefined);
        return runs.ok ? { examinations: runs.value.map(summary) } : refuse(request, reply, runs);
      },
    );

    app.post(
      '/examinations',
      {
        schema: {
          ...shared,
          summary: 'Start an examination',
          description: 'Only one test or examination can run on a line at a time.',
          describedBody: order,
          response: { 201: summarySchema, 400: errorSchema, 409: errorSchema },
        },
      },
      async (request, reply) => {
        const started = await door.call('examination.start', { order: request.body });
        return started.ok ? reply.code(201).send(summary(started.value)) : refuse(request, reply, started);
      },
    );

    app.get(
      '/examinations/:id',
      {
        schema: {
          ...shared,
          summary: 'Read an examination',
          description: 'What is known of the client by now, with the frames that show it.',
          params: examinationParams,
          querystring: detailQuery,
          response: { 200: examinationSchema, 400: errorSchema, 404: errorSchema },
        },
      },
      async (request, reply) => {
        if (request.query.report !== 'false') return sendRun(desk, 'examination', request, reply, summary);
        const run = await door.call('examination.get', { id: Number(request.params.id) });
        return run.ok ? summary(run.value) : refuse(request, reply, run);
      },
    );

    app.delete(
      '/examinations/:id',
      {
        schema: {
          ...shared,
          summary: 'Stop an examination',
          description: 'Its faults are removed. What it has found stays readable.',
          params: examinationParams,
          querystring: stopQuery,
          response: { 204: z.null().describe('It is over.'), 400: errorSchema, 404: errorSchema },
        },
      },
      (request, reply) => {
        const id = Number(request.params.id);
        return send(request, reply, door.call('examination.stop', { id, ...request.query }), 204);
      },
    );
    app.register(reportRoutes('examinations', desk));
    done();
  };
}

function summary({ id, isOver, report }: Run): ExaminationSummary {
  return { id, state: isOver ? 'over' : 'running', ...examinationSummary(report) };
}
