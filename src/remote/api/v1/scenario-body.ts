import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MOST_LISTED } from '../../../common/schema/findings.js';
import type { Problem } from '../../../common/schema/problem.js';
import type { ParsedText } from '../../../files/config/text/parse-text.js';
import type { Refusal } from '../../../simulator/commands/refusal.js';
import type { Run } from '../../../testing/commands.js';
import { MAX_YAML_BYTES, type TestSummary } from '../../../testing/declared.js';
import { refuse } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { asError, MAX_PARTS, readText } from '../requests.js';
import type { DeskPart } from './route.js';

export const YAML = 'application/yaml';

/** A YAML body: its text and its value. */
class YamlText {
  readonly read: ParsedText;

  constructor(read: ParsedText) {
    this.read = read;
  }
}

/** Makes routes accept YAML bodies. */
export function acceptYaml(app: FastifyInstance): void {
  app.addContentTypeParser(YAML, async ({ headers }: FastifyRequest, payload: IncomingMessage) => {
    const body = await readText(payload, Number(headers['content-length'] ?? 0), MAX_YAML_BYTES);
    if (!body.ok) throw asError(body);
    const { parseText } = await import('../../../files/config/text/parse-text.js');
    return new YamlText(parseText(body.text, MAX_PARTS));
  });
}

/** Starts a test with a scenario in JSON or YAML. */
export function startPart(desk: ApiContext): DeskPart {
  return {
    handle: async (request, reply) => {
      const { body } = request;
      const yaml = body instanceof YamlText ? body.read : undefined;
      if (yaml?.ok === false) return refuse(request, reply, wrongText(yaml.problems));
      const started = await desk.rpc.call('test.start', { scenario: yaml ? yaml.source.value : body });
      if (started.ok) return reply.code(201).send(testSummary(started.value));
      return refuse(request, reply, yaml ? located(started, yaml.source.locate) : started);
    },
  };
}

function wrongText(problems: readonly Problem[]): Refusal {
  const listed = problems.slice(0, MOST_LISTED).map((each) => ({ ...each, code: 'test.invalid' as const }));
  return { ok: false, code: 'test.invalid', problems: listed, more: problems.length - listed.length };
}

/** Adds lines and columns in the text to mistakes. */
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

/** A test without its report. */
export function testSummary({ id, isOver, lines, report }: Run): TestSummary {
  return {
    id,
    name: report.name,
    state: isOver ? 'over' : 'running',
    stopped: report.isStopped,
    verdict: report.verdict,
    lines: [...lines],
    steps: report.findings.map(({ title, verdict, summary }) => ({ name: title, verdict, message: summary })),
  };
}
