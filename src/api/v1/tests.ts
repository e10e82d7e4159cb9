import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import type { LineLeases } from '../../testing/line-leases.js';
import { viewReport } from '../../testing/report/view.js';
import { type KnownTest, TestRuns } from '../../testing/scenario/test-runs.js';
import type { LongAnswers } from '../long-answers.js';
import { TEST } from './examples.js';
import { errorBody, errorSchema, issuesBody } from './problem.js';

const testParams = z.object({
  id: z.string().meta({ description: 'The number of the test.', examples: ['1'] }),
});

const stopQuery = z.strictObject({
  failure: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('Why the step that runs has failed. Without it, that step is inconclusive.'),
});

const verdict = z.enum(['pass', 'fail', 'inconclusive', 'not run', 'error']);

const summaryFields = {
  id: z.number(),
  name: z.string(),
  state: z.enum(['running', 'over']),
  verdict: verdict.describe('What is known by now.'),
  lines: z.array(z.string()),
  steps: z.array(z.object({ name: z.string(), verdict, message: z.string() })),
};

const summarySchema = z
  .object(summaryFields)
  .meta({ id: 'Test', description: 'A test that runs or has run.', examples: [TEST] });

const testSchema = z
  .object({
    ...summaryFields,
    report: z.record(z.string(), z.unknown()).describe('Findings with their frames, and what was measured.'),
  })
  .meta({
    id: 'TestReport',
    description: 'A test with its report.',
    examples: [{ ...TEST, report: { kind: 'test', name: TEST.name, findings: [] } }],
  });

const testList = z
  .object({ tests: z.array(summarySchema) })
  .describe('The tests, the newest twenty of them.');

const scenario = z.record(z.string(), z.unknown()).meta({
  description: 'A scenario as in a file, without the sections about a bench of its own.',
  examples: [{ name: TEST.name, steps: [{ wait: '1h' }] }],
});

/** `/api/v1/tests`: scenarios on the lines that are running. */
export function testRoutes(
  simulator: Simulator,
  leases: LineLeases,
  answers: LongAnswers,
): FastifyPluginCallbackZod {
  const runs = new TestRuns(simulator, leases);
  const unknownTest = (id: string) => errorBody([{ path: 'id', message: `no test ${id}` }]);

  return (app, _, done) => {
    app.addHook('onClose', async () => runs.stopAll());

    app.get(
      '/tests',
      {
        schema: {
          summary: 'List the tests',
          description: 'Those that run and the newest that are over.',
          tags: ['tests'],
          response: { 200: testList },
        },
      },
      () => ({ tests: runs.list().map(summary) }),
    );

    app.post(
      '/tests',
      {
        schema: {
          summary: 'Start a test',
          description: 'It runs on lines that are open. Only one test can run on a line at a time.',
          tags: ['tests'],
          checkedBody: scenario,
          response: { 201: summarySchema, 400: errorSchema, 409: errorSchema },
        },
      },
      async ({ body }, reply) => {
        const started = runs.start(body);
        if (started.ok) return reply.code(201).send(summary(started.test));
        if ('issues' in started) return reply.code(400).send(issuesBody(started.issues));
        return reply.code(409).send(errorBody([{ path: '', message: started.busy }]));
      },
    );

    app.get(
      '/tests/:id',
      {
        schema: {
          summary: 'Read a test',
          description: 'What is known of it by now, with the frames that show it.',
          tags: ['tests'],
          params: testParams,
          response: { 200: testSchema, 404: errorSchema },
        },
      },
      async ({ params: { id } }, reply) => {
        const test = runs.get(Number(id));
        if (!test) return reply.code(404).send(unknownTest(id));
        const read = (seq: number) => simulator.traffic.read(seq);
        return answers.send(reply, { ...summary(test), report: viewReport(test.report, read) });
      },
    );

    app.delete(
      '/tests/:id',
      {
        schema: {
          summary: 'Stop a test',
          description: 'Its faults are removed. What it has found stays readable.',
          tags: ['tests'],
          params: testParams,
          querystring: stopQuery,
          response: { 204: z.null().describe('It is over.'), 400: errorSchema, 404: errorSchema },
        },
      },
      async ({ params: { id }, query: { failure } }, reply) => {
        if (!runs.get(Number(id))) return reply.code(404).send(unknownTest(id));
        runs.stop(Number(id), failure);
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
