import { Ajv2020 } from 'ajv/dist/2020.js';
import { pino } from 'pino';
import { newLocalSimulator } from '../../src/cli/library/local-simulator.js';
import { AT_DESK } from '../../src/extensions/at-desk.js';
import type { DescribedOperation, OpenApiDocument } from '../../src/remote/api/openapi/document.js';
import type { Response } from '../../src/remote/api/openapi/responses.js';
import { nativeSetup } from './configuration.js';

/** An answer of the REST interface as sent. */
export interface SentAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The document of the interface, which is the same for every simulator. */
export const document: OpenApiDocument = await readDocument();

async function readDocument(): Promise<OpenApiDocument> {
  const setup = nativeSetup({
    devices: { meter: { registers: { holding: [{ address: 0 }] } } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  });
  const { app } = newLocalSimulator(setup, { host: '127.0.0.1' }, pino({ level: 'silent' }), AT_DESK);
  const answer = await app.inject({ url: '/api/v1/openapi.json', headers: { host: 'localhost' } });
  await app.close();
  return answer.json();
}

const BASE = 'document';
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, BASE);

/** Describes how `value` violates the schema at this place of the document, in ajv's words; undefined if it fits. */
export function misfit(value: unknown, ...place: readonly string[]): string | undefined {
  const pointer = place.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const $ref = `${BASE}#${encodeURI(pointer)}`;
  const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref });
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

/** An operation, and its place in the document. */
export interface DocumentedOperation extends DescribedOperation {
  readonly method: string;
  readonly path: string;
}

export const operations: readonly DocumentedOperation[] = Object.entries(document.paths).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, each]) => ({ ...each, method, path })),
);

/** The operation that a request is for: of those that match, the one with the fewest parameters. */
function operationFor(method: string, url: string): DocumentedOperation | undefined {
  // Normalised like a client does: `..` goes up one part.
  const path = new URL(url, 'http://localhost').pathname;
  const [found] = operations
    .filter((each) => each.method === method.toLowerCase() && patternOf(each.path).test(path))
    .sort((a, b) => a.parameters.length - b.parameters.length);
  return found;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** The document's description of an answer, and its place; undefined if there is none. */
function describedAnswer(
  { path, method, responses }: DocumentedOperation,
  status: string,
): { readonly response: Response; readonly place: readonly string[] } | undefined {
  const response = responses[status];
  if (!response) return undefined;
  if (!('$ref' in response)) return { response, place: ['paths', path, method, 'responses', status] };
  const name = response.$ref.split('/').at(-1) as string;
  const common = document.components.responses[name];
  return common && { response: common, place: ['components', 'responses', name] };
}

/** The parts of a body that must fit the schema: each line of NDJSON, the whole of JSON, nothing of other types. */
function jsonParts(type: string, body: string): string[] {
  if (type === 'application/x-ndjson') return body.split('\n').filter((line) => line !== '');
  return type.endsWith('json') ? [body] : [];
}

/** Throws if the document does not describe this answer to a request; ignores paths that do not exist. */
export function expectDocumented(method: string, url: string, answer: SentAnswer): void {
  const operation = operationFor(method, url);
  if (!operation) return;
  const what = `${method} ${url}, status ${answer.statusCode}`;
  const described = describedAnswer(operation, String(answer.statusCode));
  if (!described) throw new Error(`${what}: this status is not in openapi.json`);
  const type = String(answer.headers['content-type'] ?? '').split(';')[0] as string;
  const { content } = described.response;
  if (content === undefined && answer.body === '') return;
  if (!content || !(type in content)) throw new Error(`${what}: no body of ${type} in openapi.json`);
  for (const part of jsonParts(type, answer.body)) {
    const wrong = misfit(JSON.parse(part), ...described.place, 'content', type, 'schema');
    if (wrong !== undefined)
      throw new Error(`${what}: the body does not fit openapi.json: ${wrong}\n${part}`);
  }
}
