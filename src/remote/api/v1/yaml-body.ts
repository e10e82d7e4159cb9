import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MOST_LISTED } from '../../../common/schema/findings.js';
import { isMapping } from '../../../common/schema/parts.js';
import type { Problem } from '../../../common/schema/problem.js';
import type { ParsedText } from '../../../document/text/parse-text.js';
import { type Outcome, type Refusal, refusal } from '../../../simulator/commands/refusal.js';
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

/** Makes routes accept YAML bodies of at most `maxBytes`. */
export function acceptYaml(app: FastifyInstance, maxBytes: number): void {
  app.addContentTypeParser(YAML, async ({ headers }: FastifyRequest, payload: IncomingMessage) => {
    const body = await readText(payload, Number(headers['content-length'] ?? 0), maxBytes);
    if (!body.ok) throw asError(body);
    const { parseText } = await import('../../../document/text/parse-text.js');
    return new YamlText(parseText(body.text, MAX_PARTS));
  });
}

/** Starts a run from an order, or from a scenario in JSON or YAML with `kind=scenario` in the query. */
export function startPart(desk: ApiContext, show: (run: Run) => object): DeskPart {
  return {
    handle: async (request, reply) => {
      const { kind } = request.query as { readonly kind?: 'scenario' };
      const started = await carriedOut(request, 'run.invalid', (sent) =>
        desk.rpc.call('run.start', { order: kind === undefined ? sent : { kind, scenario: sent } }),
      );
      return started.ok ? reply.code(201).send(show(started.value)) : refuse(request, reply, started);
    },
  };
}

/** Applies a configuration in JSON or YAML, or says with `preview=true` in the query what it would change. */
export function applyPart(desk: ApiContext): DeskPart {
  return {
    handle: async (request, reply) => {
      const { preview } = request.query as { readonly preview?: string };
      const name = preview === 'true' ? 'configuration.check' : 'configuration.apply';
      const applied = await carriedOut(request, 'configuration.invalid', (configuration) =>
        isMapping(configuration)
          ? desk.rpc.call(name, { configuration })
          : Promise.resolve(
              refusal('configuration.invalid', '', 'body: expected a mapping with devices and lines'),
            ),
      );
      return applied.ok ? applied.value : refuse(request, reply, applied);
    },
  };
}

/**
 * Processes a JSON or YAML body. Mistakes in YAML have lines and columns.
 * @param code for mistakes in the text
 */
async function carriedOut<Value>(
  { body }: FastifyRequest,
  code: Refusal['code'],
  call: (sent: unknown) => Promise<Outcome<Value>>,
): Promise<Outcome<Value>> {
  const yaml = body instanceof YamlText ? body.read : undefined;
  if (yaml?.ok === false) return wrongText(yaml.problems, code);
  const outcome = await call(yaml ? yaml.source.value : body);
  return outcome.ok || !yaml ? outcome : located(outcome, code, yaml.source.locate);
}

function wrongText(problems: readonly Problem[], code: Refusal['code']): Refusal {
  const listed = problems.slice(0, MOST_LISTED).map((each) => ({ ...each, code }));
  return { ok: false, code, problems: listed, more: problems.length - listed.length };
}

/** Adds lines and columns in the text to mistakes. */
function located(
  started: Refusal,
  code: Refusal['code'],
  locate: Extract<ParsedText, { ok: true }>['source']['locate'],
): Refusal {
  const { problems } = started;
  const codes = new Map(problems.map(({ message, code }) => [message, code]));
  if (problems.some(({ parts }) => parts === undefined)) return started;
  const found = locate(problems.map(({ parts = [], message }) => ({ path: parts, message })));
  return {
    ...started,
    problems: found.map((each) => ({ ...each, code: codes.get(each.message) ?? code })),
  };
}
