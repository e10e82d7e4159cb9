import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { isMapping } from '../../../src/common/schema/parts.js';
import type { JsonSchema } from '../../../src/common/schema/written-as.js';
import { achieved } from '../../../src/modbus/protocol/reply-plan.js';
import { TAGS } from '../../../src/remote/api/openapi/document.js';
import { idOfReference } from '../../../src/remote/api/schema-json.js';
import { nativeSetup } from '../../support/configuration.js';
import {
  type DocumentedOperation,
  document,
  expectDocumented,
  misfit,
  operations,
  type SentAnswer,
} from '../../support/documented.js';
import { Rest } from './rest.js';

const TOKEN = '2f1c6d0b9a8e47c3b5d1e0f4a6978c12';

/** Where relative paths of the examples lead. */
const directory = mkdtempSync(join(tmpdir(), 'openapi-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A simulator with everything that the examples of the document name. */
const SETUP = nativeSetup(
  {
    devices: {
      meter: {
        registers: {
          coils: [{ address: 0 }],
          holding: [
            { address: 0, value: 2301, name: 'voltage', unit: 'V', scale: 0.1, write: true },
            { address: 1, value: 1, write: true },
          ],
        },
      },
      'old-meter': { registers: { holding: [{ address: 0 }] } },
    },
    lines: {
      lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
      'old-lan': { tcp: { port: 0 }, units: { 1: 'meter' } },
    },
    faults: [{ name: 'slow', do: { delay: 1 }, seed: 7 }],
    api: { mayReach: ['plc.lan'] },
  },
  directory,
);

interface PutOperation {
  readonly requestBody: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly required?: string[] } } };
  };
}

const named = operations.map((each) => [`${each.method.toUpperCase()} ${each.path}`, each] as const);

describe('openapi.json', () => {
  it('is an OpenAPI document of version 3.1, whose references lead somewhere', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
    const broken = [...references].filter(([, path = '']) => {
      const target = path
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document);
      return target === undefined;
    });
    expect(broken).toEqual([]);
  });

  it('needs no name in the body of a rule whose address has it, as the program does not', async () => {
    const put = operations.find(({ method, path }) => `${method} ${path}` === 'put /api/v1/faults/{name}');
    expect(JSON.stringify(put)).toContain('"do":');
    const schema = (put as unknown as PutOperation).requestBody.content['application/json'].schema;
    expect(schema.required ?? []).not.toContain('name');
    const { status } = await new Rest(SETUP).send('PUT', '/api/v1/faults/nameless', { do: [{ delay: 1 }] });
    expect(status).toBe(200);
  });

  it('needs no flag for its patterns, and has items for each list', () => {
    const patterns: string[] = [];
    const lists: unknown[] = [];
    JSON.stringify(document, (key, value) => {
      if (key === 'pattern' && typeof value === 'string') patterns.push(value);
      if (isMapping(value) && value.type === 'array' && !value.items) lists.push(value);
      return value;
    });
    expect(patterns.length).toBeGreaterThan(50);
    expect(patterns.filter((pattern) => /\\[pP]\{/.test(pattern))).toEqual([]);
    expect(lists).toEqual([]);
  });

  it('names each operation differently', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(named)('describes %s', (_, { summary, description, tags, parameters, responses }) => {
    expect(summary).toMatch(/^[A-Z].{3,58}[^.]$/);
    expect(description).toMatch(/^.{10,}\.$/s);
    expect(TAGS.map(({ name }) => name)).toEqual(expect.arrayContaining([...tags]));
    expect(tags).toHaveLength(1);
    for (const each of parameters) expect(each).toHaveProperty('description', expect.stringMatching(/.{5,}/));
    for (const each of Object.values(responses)) {
      if (!('$ref' in each)) expect(each.description).toMatch(/.{5,}/);
    }
  });

  it.each(named)(
    'has examples for %s that fit their schemas',
    (_, { path, method, requestBody, responses }) => {
      const at = ['paths', path, method];
      for (const [type, { example }] of Object.entries(requestBody?.content ?? {})) {
        expect(example, `add examples to the body of ${method} ${path}`).toBeDefined();
        expect(misfit(example, ...at, 'requestBody', 'content', type, 'schema')).toBeUndefined();
      }
      for (const [status, response] of Object.entries(responses)) {
        if ('$ref' in response) continue;
        for (const [type, { example }] of Object.entries(response.content ?? {})) {
          if (!type.endsWith('json')) continue;
          expect(
            example,
            `the answer ${status} of ${method} ${path} needs an example: .meta({ examples: […] }) of its schema, or of each field that must be there`,
          ).toBeDefined();
          expect(misfit(example, ...at, 'responses', status, 'content', type, 'schema')).toBeUndefined();
        }
      }
    },
  );

  it.each([
    [undefined, { serial: { path: 'virtual', baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } }],
    [undefined, { udp: { port: 0 }, framing: 'rtu', units: { '1-9': { copyOf: 'meter' }, '*': 'meter' } }],
    ['must NOT have additional properties', { serial: { path: 'virtual', bautRate: 9600 }, units: {} }],
    ['must be equal to one of the allowed values', { serial: { path: 'x', parity: 'evn' }, units: {} }],
  ])('has the whole schema of a line that is added: %s', (wrong, line) => {
    const schema = ['requestBody', 'content', 'application/json', 'schema'];
    const found = misfit({ name: 'bus', ...line }, 'paths', '/api/v1/lines', 'post', ...schema);
    if (wrong === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(wrong);
  });

  it('has examples of common errors that fit their schemas', () => {
    for (const [name, { content = {} }] of Object.entries(document.components.responses)) {
      for (const [type, { example }] of Object.entries(content)) {
        expect(misfit(example, 'components', 'responses', name, 'content', type, 'schema')).toBeUndefined();
      }
    }
  });
});

interface Changes {
  /** Stands in place of the example of each parameter in the path. */
  readonly name?: string;
  /** Stands in place of the example of the body. */
  readonly payload?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends the request that the document has as an example. Throws when the answer is not in the document. */
async function drive(rest: Rest, operation: DocumentedOperation, changes: Changes = {}): Promise<SentAnswer> {
  const url = operation.parameters
    .filter((each) => each.in === 'path')
    .reduce(
      (path, { name, schema }) => path.replace(`{${name}}`, changes.name ?? String(schema.examples?.[0])),
      operation.path,
    );
  const [[type, { example }] = ['', { example: undefined }]] = Object.entries(
    operation.requestBody?.content ?? {},
  );
  const text = type === 'application/octet-stream' ? String(example) : JSON.stringify(example);
  const payload = changes.payload ?? (example === undefined ? undefined : text);
  const response = await rest.app.inject({
    payloadAsStream: true,
    method: operation.method.toUpperCase() as 'GET',
    // What the other examples name has to stay.
    url: operation.operationId === 'putConfiguration' ? `${url}?preview=true` : url,
    headers: {
      host: 'localhost',
      ...(payload !== undefined && { 'content-type': type }),
      ...changes.headers,
    },
    ...(payload !== undefined && { payload }),
  });
  const answer = await sentAnswer(response);
  expectDocumented(operation.method, url, answer);
  return answer;
}

/** Reads an answer to its end. Events have no end: of their answer only the header is read. */
async function sentAnswer(response: LightMyRequestResponse): Promise<SentAnswer> {
  const { statusCode, headers, raw } = response;
  if (!String(headers['content-type']).startsWith('text/event-stream')) {
    return { statusCode, headers, body: await text(response.stream()) };
  }
  raw.res.destroy();
  return { statusCode, headers, body: '' };
}

/** A request on the first line, which its device answers. */
function askOnce({ simulator }: Rest): void {
  const [line] = simulator.lines.values();
  if (!line) return;
  const [unitId] = line.definition.units.keys();
  const content = { unitId: Number(unitId), pdu: Uint8Array.of(3, 0, 0, 0, 1), transactionId: 0 };
  const adu = line.bus.framing.encode(content);
  const from = { client: '127.0.0.1:40000', clientId: line.newClientId() };
  line.event({ kind: 'client', ...from });
  line.request({ ...content, ...from, adu, startedAt: 0, receivedAt: 0 }, (reply) =>
    reply.played({ steps: [achieved(0, 0, 0, undefined)], ended: 'complete' }),
  );
}

/** What has to be before: a rule must not be there yet, a line must be open, a change can be taken back. */
const FIRST: Readonly<Record<string, string>> = {
  'POST /api/v1/faults': 'DELETE /api/v1/faults/{name}',
  'POST /api/v1/configuration/undo': 'PUT /api/v1/faults/{name}',
  'POST /api/v1/runs': 'POST /api/v1/lines/{name}/start',
};

/** What there is not in a run without clients: no moves were found, and no file was opened. */
const ABSENT: ReadonlySet<string> = new Set(['GET /api/v1/runs/{id}/scenario.yaml', 'GET /api/v1/view/{id}']);

describe('every operation, as the document has it', () => {
  let open: Rest;
  let locked: Rest;
  beforeAll(async () => {
    open = new Rest(SETUP);
    locked = new Rest(SETUP, { host: '127.0.0.1', token: TOKEN, readTokens: ['reader'] });
    await open.simulator.start();
    await locked.simulator.start();
  });
  afterAll(async () => {
    for (const { app, simulator } of [open, locked]) {
      await app.close();
      await simulator.stop();
    }
  });

  const bearer = { authorization: `Bearer ${TOKEN}` };

  it.each(named)('%s succeeds with its example', async (name, operation) => {
    await locked.app.inject({
      method: 'POST',
      url: '/api/v1/faults/reset',
      headers: { host: 'localhost', ...bearer },
    });
    const first = operations.find(({ method, path }) => `${method.toUpperCase()} ${path}` === FIRST[name]);
    if (first) await drive(locked, first, { headers: bearer });
    // Of no traffic nothing can be learned.
    askOnce(locked);
    const { statusCode } = await drive(locked, operation, { headers: bearer });
    expect(String(statusCode)).toBe(
      ABSENT.has(name) ? '404' : Object.keys(operation.responses).find((status) => status.startsWith('2')),
    );
  });

  it.each(named)('%s answers names that are not there as it says', async (_, operation) => {
    const { statusCode } = await drive(open, operation, { name: 'nobody' });
    expect(statusCode === 404).toBe('404' in operation.responses);
  });

  const withBody = named.filter(([, { requestBody }]) => requestBody?.content['application/json']);

  it.each(withBody)(
    '%s refuses a body that is no JSON, that is too long, or of another type',
    async (_, operation) => {
      expect((await drive(open, operation, { payload: '{' })).statusCode).toBe(400);
      // A file that is imported may be longer than other bodies.
      const most = operation.path === '/api/v1/import' ? 6_000_000 : 300_000;
      expect((await drive(open, operation, { payload: `"${'x'.repeat(most)}"` })).statusCode).toBe(413);
      const other = { 'content-type': 'text/plain' };
      expect((await drive(open, operation, { headers: other })).statusCode).toBe(415);
    },
  );

  it.each(withBody)('%s answers a body that does not fit as it says', async (_, operation) => {
    for (const payload of ['[]', 'null', '{"nonsense": 1}', '{"submit": "nonsense"}']) {
      await drive(open, operation, { payload });
    }
  });

  const guarded = named.filter(([, { security }]) => security.length > 0);

  it.each(guarded)('%s asks for a token', async (_, operation) => {
    expect((await drive(locked, operation)).statusCode).toBe(401);
  });

  const unguarded = named.filter(([, { security }]) => security.length === 0);

  it.each(unguarded)('%s asks for none', async (_, operation) => {
    const { statusCode } = await drive(open, operation);
    expect(statusCode).not.toBe(401);
  });

  it.each(named)('%s refuses other hosts and other sites', async (_, operation) => {
    expect((await drive(open, operation, { headers: { host: 'example.org' } })).statusCode).toBe(421);
    expect((await drive(open, operation, { headers: { origin: 'http://example.org' } })).statusCode).toBe(
      403,
    );
  });
});

test('an answer that the document does not have is found', () => {
  const answer = { statusCode: 418, headers: { 'content-type': 'application/json' }, body: '{}' };
  expect(() => expectDocumented('GET', '/api/v1/lines', answer)).toThrow('status is not in openapi.json');
  expect(() => expectDocumented('GET', '/api/v1/lines', { ...answer, statusCode: 200 })).toThrow(
    'does not fit',
  );
});

/** What no run of a test can show: a serial port, a broker, a gap in the traffic, a run that is over. */
const NOT_RECORDED = new Set([
  ...['Port', 'Bench', 'LeftOut', 'Problem', 'Failure', 'Session', 'SignalKind'],
  ...['Scenario', 'Client', 'Server', 'Fuzz'].flatMap((kind) => [`${kind}Run`, `${kind}RunReport`]),
]);

/** Notes the values of components in an answer: of each component, the value that says most. */
function note(schema: JsonSchema, value: unknown, found: Map<string, object>): void {
  const id = idOfReference(schema);
  if (id !== undefined && isMapping(value)) {
    if (misfit(value, 'components', 'schemas', id) !== undefined) return;
    if (said(value) > said(found.get(id) ?? {})) found.set(id, value);
    note(document.components.schemas[id] ?? {}, value, found);
  }
  for (const option of schema.anyOf ?? []) note(option, value, found);
  if (Array.isArray(value)) for (const each of value) note((schema.items ?? {}) as JsonSchema, each, found);
  if (!isMapping(value)) return;
  for (const [key, part] of Object.entries(schema.properties ?? {}))
    note(part as JsonSchema, value[key], found);
}

function said(value: object): number {
  return Object.values(value).filter((each) => each !== null).length;
}

/** How many elements of a list stand in an example. */
const MOST_LISTED = 2;

/** The same value without what is different in each run: moments, times, ports and paths. */
function steady(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, MOST_LISTED).map((each) => steady(each));
  // The address of a line.
  if (isMapping(value) && key === 'address') return { ...value, port: 5020 };
  if (isMapping(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, steady(each, name)]));
  if (typeof value === 'number' && /^(?:uptime|time)$/.test(key)) return 12.5;
  if (typeof value === 'number' && /^(?:monotonic|started|requested)Us$/.test(key)) return 12_500_000;
  if (typeof value !== 'string') return value;
  return value
    .replace(/127\.0\.0\.1:(?!40000)\d+/, '127.0.0.1:5020')
    .replace(
      /^\d{4}-\d\d-\d\dT[\d:]{8}\.(\d+)/,
      (_, digits) => `2026-01-31T12:00:00.${digits.replaceAll(/./g, '0')}`,
    )
    .replace(/traffic-\d+/, 'traffic-000001')
    .replace(directory, '/var/lib/modbus-sim');
}

/** What undoes the operations before. */
const ANEW = [
  ['/api/v1/faults/reset', undefined],
  ['/api/v1/devices/meter/power', { state: 'on' }],
  ['/api/v1/devices/meter/reset', undefined],
  // A signal shows the same value in each run.
  ['/api/v1/devices/meter/clock', { speed: 1, pause: true }],
] as const;

describe('the examples of answers', () => {
  // `npx vitest run test/remote/api/openapi.test.ts -u` writes the file anew.
  it('are recorded from a run', async () => {
    const rest = new Rest(SETUP);
    await rest.simulator.start();
    const found = new Map<string, object>();
    for (const [name, operation] of named) {
      for (const [url, payload] of ANEW)
        await rest.app.inject({
          method: 'POST',
          url,
          headers: { host: 'localhost' },
          ...(payload && { payload }),
        });
      const first = operations.find(({ method, path }) => `${method.toUpperCase()} ${path}` === FIRST[name]);
      if (first) await drive(rest, first);
      askOnce(rest);
      const { statusCode, headers, body } = await drive(rest, operation);
      const [type = ''] = String(headers['content-type']).split(';');
      const described = operation.responses[statusCode];
      const schema = described && 'content' in described ? described.content?.[type]?.schema : undefined;
      if (type === 'application/json' && schema) note(schema, JSON.parse(body), found);
    }
    // What stands there instead, where a client expects something else.
    const put = operations.find(({ operationId }) => operationId === 'putDevicesNameValuesValue');
    const other = put && (await drive(rest, put, { payload: '{"value": 1, "expected": 7}' }));
    note({ $ref: '#/components/schemas/OtherValues' }, JSON.parse(other?.body ?? ''), found);
    const recorded = [...found].filter(([id]) => !NOT_RECORDED.has(id)).sort(([a], [b]) => (a < b ? -1 : 1));
    const steadied = recorded.map(([id, value]) => [id, steady(value)]);
    await rest.app.close();
    await rest.simulator.stop();
    const text = JSON.stringify(Object.fromEntries(steadied), null, 2);
    await expect(`${text}\n`).toMatchFileSnapshot('../../../src/remote/api/openapi/examples.json');
  });
});
