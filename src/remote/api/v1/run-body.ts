import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MOST_LISTED } from '../../../common/schema/findings.js';
import type { Problem } from '../../../common/schema/problem.js';
import type { ParsedText } from '../../../document/text/parse-text.js';
import type { Refusal } from '../../../simulator/commands/refusal.js';
import { MAX_YAML_BYTES } from '../../../testing/declared.js';
import type { Run } from '../../../testing/report/report.js';
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
    const { parseText } = await import('../../../document/text/parse-text.js');
    return new YamlText(parseText(body.text, MAX_PARTS));
  });
}

/** Starts a run from an order, or from a scenario in JSON or YAML with `kind=scenario` in the query. */
export function startPart(desk: ApiContext, show: (run: Run) => object): DeskPart {
  return {
    handle: async (request, reply) => {
      const { body, query } = request;
      const { kind } = query as { readonly kind?: 'scenario' };
      const yaml = body instanceof YamlText ? body.read : undefined;
      if (yaml?.ok === false) return refuse(request, reply, wrongText(yaml.problems));
      const sent = yaml ? yaml.source.value : body;
      const order = kind === undefined ? sent : { kind, scenario: sent };
      const started = await desk.rpc.call('run.start', { order });
      if (started.ok) return reply.code(201).send(show(started.value));
      return refuse(request, reply, yaml ? located(started, yaml.source.locate) : started);
    },
  };
}

function wrongText(problems: readonly Problem[]): Refusal {
  const listed = problems.slice(0, MOST_LISTED).map((each) => ({ ...each, code: 'run.invalid' as const }));
  return { ok: false, code: 'run.invalid', problems: listed, more: problems.length - listed.length };
}

/** Adds lines and columns in the text to mistakes. */
function located(started: Refusal, locate: Extract<ParsedText, { ok: true }>['source']['locate']): Refusal {
  const { problems } = started;
  const codes = new Map(problems.map(({ message, code }) => [message, code]));
  if (problems.some(({ parts }) => parts === undefined)) return started;
  const found = locate(problems.map(({ parts = [], message }) => ({ path: parts, message })));
  return {
    ...started,
    problems: found.map((each) => ({ ...each, code: codes.get(each.message) ?? 'run.invalid' })),
  };
}
