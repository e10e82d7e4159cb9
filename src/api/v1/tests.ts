import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ParsedText } from '../../config/text/parse-text.js';
import type { Refusal } from '../../control/refusal.js';
import { MOST_LISTED } from '../../schema/findings.js';
import type { Problem } from '../../schema/problem.js';
import type { Run } from '../../testing/commands.js';
import { refuse } from '../answers.js';
import type { Desk } from '../desk.js';
import { MAX_PARTS, readText } from '../json-body.js';
import { failures } from '../problem.js';
import { asError } from '../validation.js';
import { reportRoutes, sendRun } from './reports.js';
import type { Routes } from './route.js';

const TEST = {
  id: 1,
  name: 'it waits',
  state: 'running',
  verdict: 'not run',
  lines: ['lan'],
  steps: [{ name: 'wait 1 h', verdict: 'not run', message: '' }],
};

const params = z.object({
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

/** A text of so many bytes takes 0.2 s to parse, and a second on a slow machine. */
const MAX_YAML_BYTES = 16 * 1024;

const scenarioText = z.string().meta({
  description: `The same as YAML, of at most ${MAX_YAML_BYTES} bytes.`,
  examples: [`name: ${TEST.name}\nsteps:\n  - wait: 1h\n`],
});

/** A body of YAML, and what it says. */
class YamlText {
  readonly read: ParsedText;

  constructor(read: ParsedText) {
    this.read = read;
  }
}

/** Lets routes take bodies of YAML. */
export function acceptYaml(app: FastifyInstance): void {
  app.addContentTypeParser(YAML, async ({ headers }: FastifyRequest, payload: IncomingMessage) => {
    const body = await readText(payload, Number(headers['content-length'] ?? 0), MAX_YAML_BYTES);
    if (!body.ok) throw asError(body);
    const { parseText } = await import('../../config/text/parse-text.js');
    return new YamlText(parseText(body.text, MAX_PARTS));
  });
}

/** `/api/v1/tests`: scenarios on the lines that are running. */
export function testRoutes(desk: Desk): Routes {
  return {
    'GET /tests': {
      summary: 'List the tests',
      description: 'Those that run and the newest that are over.',
      call: 'test.list',
      show: (runs: readonly Run[]) => ({ tests: runs.map(summary) }),
      response: { 200: testList },
    },
    'POST /tests': {
      summary: 'Start a test',
      description: 'It runs on lines that are open. Only one test can run on a line at a time.',
      schema: { describedBody: scenario, yamlBody: scenarioText },
      handle: async (request, reply) => {
        const { body } = request;
        const yaml = body instanceof YamlText ? body.read : undefined;
        if (yaml?.ok === false) return refuse(request, reply, wrongText(yaml.problems));
        const started = await desk.door.call('test.start', { scenario: yaml ? yaml.source.value : body });
        if (started.ok) return reply.code(201).send(summary(started.value));
        return refuse(request, reply, yaml ? located(started, yaml.source.locate) : started);
      },
      response: { 201: testSummarySchema, ...failures(400, 409) },
    },
    'GET /tests/:id': {
      summary: 'Read a test',
      description: 'What is known of it by now, with the frames that show it.',
      params,
      handle: (request, reply) => sendRun(desk, 'test', request, reply, summary),
      response: { 200: testSchema, ...failures(404) },
    },
    'DELETE /tests/:id': {
      summary: 'Stop a test',
      description: 'Its faults are removed. What it has found stays readable.',
      call: 'test.stop',
      params,
      schema: { querystring: stopQuery },
      response: { 204: z.null().describe('It is over.'), ...failures(400, 404) },
    },
    ...reportRoutes('tests', desk),
  };
}

function wrongText(problems: readonly Problem[]): Refusal {
  const listed = problems.slice(0, MOST_LISTED).map((each) => ({ ...each, code: 'test.invalid' as const }));
  return { ok: false, code: 'test.invalid', problems: listed, more: problems.length - listed.length };
}

/** Mistakes with their lines and columns in the text. */
function located(started: Refusal, locate: Extract<ParsedText, { ok: true }>['source']['locate']): Refusal {
  const { problems } = started;
  const codes = new Map(problems.map(({ message, code }) => [message, code]));
  if (problems.some(({ parts }) => parts === undefined)) return started;
  const found = locate(problems.map(({ parts = [], message }) => ({ path: parts, message })));
  return {
    ...started,
    problems: found.map((each) => ({ ...each, code: codes.get(each.message) ?? 'test.invalid' })),
  };
}

function summary({ id, isOver, lines, report }: Run): TestSummary {
  return {
    id,
    name: report.name,
    state: isOver ? 'over' : 'running',
    verdict: report.verdict,
    lines: [...lines],
    steps: report.findings.map(({ title, verdict, summary }) => ({ name: title, verdict, message: summary })),
  };
}
