import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TextParser, type TextRead } from '../../config/text/text-parser.js';
import { MOST_LISTED } from '../../schema/findings.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { LineLeases } from '../../testing/line-leases.js';
import { viewOnDemand } from '../../testing/report/view.js';
import { type KnownTest, TestRuns } from '../../testing/scenario/test-runs.js';
import { MAX_BYTES, MAX_PARTS, readText } from '../json-body.js';
import type { LongAnswers } from '../long-answers.js';
import { TEST } from './examples.js';
import { errorBody, errorSchema, issuesBody, problemsBody } from './problem.js';
import { reportRoutes } from './report-files.js';

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

const testSummarySchema = z
  .object(summaryFields)
  .meta({ id: 'Test', description: 'A test that runs or has run.', examples: [TEST] });

export type TestSummary = z.infer<typeof testSummarySchema>;

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
  .object({ tests: z.array(testSummarySchema) })
  .describe('The tests, the newest twenty of them.');

const scenario = z.record(z.string(), z.unknown()).meta({
  description: 'A scenario as in a file, without the sections about a bench of its own.',
  examples: [{ name: TEST.name, steps: [{ wait: '1h' }] }],
});

const YAML = 'application/yaml';

const MAX_YAML_BYTES = 16 * 1024;

/** A text of so many bytes takes 0.2 s, and a second on a slow machine. */
const PARSING_LIMITS = {
  mostValues: MAX_PARTS,
  mostBytes: MAX_BYTES,
  mostProblems: MOST_LISTED,
  ms: 10_000,
};

const scenarioText = z.string().meta({
  description: `The same as YAML, of at most ${MAX_YAML_BYTES} bytes.`,
  examples: [`name: ${TEST.name}\nsteps:\n  - wait: 1h\n`],
});

/** A body of YAML, and what it says. */
class YamlText {
  readonly text: string;
  readonly read: TextRead;

  constructor(text: string, read: TextRead) {
    this.text = text;
    this.read = read;
  }
}

/** `/api/v1/tests`: scenarios on the lines that are running. */
export function testRoutes(
  simulator: Simulator,
  leases: LineLeases,
  answers: LongAnswers,
): FastifyPluginCallbackZod {
  const runs = new TestRuns(simulator, leases);
  const parser = new TextParser(PARSING_LIMITS);
  const unknownTest = (id: string) => errorBody([{ path: 'id', message: `no test ${id}` }]);

  return (app, _, done) => {
    app.addHook('onClose', async () => runs.stopAll());
    app.addHook('onClose', () => parser.end());
    app.addContentTypeParser(YAML, async ({ headers }: FastifyRequest, payload: IncomingMessage) => {
      const body = await readText(payload, Number(headers['content-length'] ?? 0), MAX_YAML_BYTES);
      if (body.ok) return new YamlText(body.text, await parser.parse(body.text));
      throw Object.assign(new Error(body.error), { statusCode: body.status });
    });

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
          yamlBody: scenarioText,
          response: { 201: testSummarySchema, 400: errorSchema, 409: errorSchema },
        },
      },
      async ({ body }, reply) => {
        const yaml = body instanceof YamlText ? body : undefined;
        if (yaml?.read.ok === false) return reply.code(400).send(problemsBody(yaml.read));
        const started = await answers.work(runs.starting(yaml ? yaml.read.value : body));
        if (started.ok) return reply.code(201).send(summary(started.test));
        if ('issues' in started) {
          const { issues } = started;
          const told = yaml ? errorBody(await parser.locate(yaml.text, issues.listed)) : {};
          return reply.code(400).send({ ...issuesBody(issues), ...told });
        }
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
        const report = viewOnDemand(test.report, (seq) => simulator.traffic.read(seq));
        return answers.send(reply, {
          ...summary(test),
          report: { ...report, findings: report.findings.values() },
        });
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
    app.register(reportRoutes('tests', { simulator, answers, get: (id) => runs.get(id) }));
    done();
  };
}

function summary({ id, isOver, lines, report }: KnownTest): TestSummary {
  return {
    id,
    name: report.name,
    state: isOver ? 'over' : 'running',
    verdict: report.verdict,
    lines: [...lines],
    steps: report.findings.map(({ title, verdict, summary }) => ({ name: title, verdict, message: summary })),
  };
}
