import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import { viewReport } from '../../testing/report/view.js';
import { type KnownTest, TestRuns } from '../../testing/scenario/test-runs.js';
import type { LongAnswers } from '../long-answers.js';
import { errorBody, errorSchema, issuesBody } from './problem.js';
import { inQuery } from './query.js';

const testParams = z.object({ id: inQuery(z.int()) });

const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

const summarySchema = z.object({
  id: z.number(),
  name: z.string(),
  state: z.enum(['running', 'over']),
  /** What is known by now. */
  verdict,
  lines: z.array(z.string()),
  steps: z.array(z.object({ name: z.string(), verdict, message: z.string() })),
});

const testList = z.object({ tests: z.array(summarySchema) });

/** `/api/v1/tests`: scenarios on the lines that are running. */
export function testRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const runs = new TestRuns(simulator);
  const unknownTest = (id: number) => errorBody([{ path: 'id', message: `no test ${id}` }]);

  return (app, _, done) => {
    app.addHook('onClose', async () => runs.stopAll());

    app.get('/tests', { schema: { response: { 200: testList } } }, () => ({
      tests: runs.list().map(summary),
    }));

    app.post(
      '/tests',
      { schema: { response: { 201: summarySchema, 400: errorSchema, 409: errorSchema } } },
      async ({ body }, reply) => {
        const started = runs.start(body);
        if (started.ok) return reply.code(201).send(summary(started.test));
        if ('issues' in started) return reply.code(400).send(issuesBody(started.issues));
        return reply.code(409).send(errorBody([{ path: '', message: started.busy }]));
      },
    );

    app.get(
      '/tests/:id',
      { schema: { params: testParams, response: { 404: errorSchema } } },
      async ({ params: { id } }, reply) => {
        const test = runs.get(id);
        if (!test) return reply.code(404).send(unknownTest(id));
        const read = (seq: number) => simulator.traffic.read(seq);
        return answers.send(
          reply as never,
          { ...summary(test), report: viewReport(test.report, read) } as never,
        );
      },
    );

    app.delete(
      '/tests/:id',
      { schema: { params: testParams, response: { 204: z.null(), 404: errorSchema } } },
      async ({ params: { id } }, reply) => {
        if (!runs.get(id)) return reply.code(404).send(unknownTest(id));
        runs.stop(id);
        return reply.code(204).send(null);
      },
    );
    done();
  };
}

function summary({ id, isOver, lines, report }: KnownTest): z.infer<typeof summarySchema> {
  return {
    id,
    name: report.name,
    state: isOver ? 'over' : 'running',
    verdict: report.verdict,
    lines: [...lines],
    steps: report.findings.map(({ title, verdict, summary }) => ({ name: title, verdict, message: summary })),
  };
}
