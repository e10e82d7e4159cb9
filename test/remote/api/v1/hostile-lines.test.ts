import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { tries } from '../../../support/tries.js';
import { tcpMaster } from '../masters.js';

stopAfterEach();

const KEYS = [
  ...['serial', 'tcp', 'udp', 'tls', 'framing', 'mode', 'timing', 'whenBusy', 'echo', 'units', 'missingUnit'],
  ...['path', 'baudRate', 'rs485', 'port', 'host', 'turnaround', 't35', 'gap', 'submit', 'line', '1', '*'],
  ...['baudrate', 'parity', 'stopbits', 'framer', 't3_5', 'copyOf', 'constructor', 'toString', 'name'],
];

/** JSON with the keys that matter at the depths where they do, and values that are seldom right. */
const nonsense = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('meter', 'virtual', '', -1, 1e300, 'socket')),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 4 }),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})).value;

/** Host names are left out: a name server would be asked for them. */
function withoutHostNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHostNames);
  if (typeof value !== 'object' || value === null) return value;
  const isName = (key: string, part: unknown) =>
    key === 'host' && typeof part === 'string' && isIP(part) === 0;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) =>
      isName(key, part) ? [] : [[key, withoutHostNames(part)]],
    ),
  );
}

interface Answer {
  readonly result: string;
  readonly error: string;
}

interface Change {
  readonly line: string;
  readonly body: unknown;
  /** There is nothing wrong with it. */
  readonly right: boolean;
}

type Right = readonly [line: string, body: object];

function changeOf([line, body]: Right): Change {
  return { line, body, right: true };
}

/** Nonsense mostly, and now and then one of these. */
function changes(hostile: fc.Arbitrary<unknown>, right: readonly Right[]) {
  const wrong = fc.record({
    line: fc.constantFrom('lan', 'bench'),
    body: hostile.map(withoutHostNames),
    right: fc.constant(false),
  });
  const good = fc.constantFrom(...right.map(changeOf));
  return fc.oneof<fc.WeightedArbitrary<Change>[]>(
    { weight: 9, arbitrary: wrong },
    { weight: 1, arbitrary: good },
  );
}

async function served() {
  const { rest } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
        bench: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
      },
    }),
  );
  const views = async () => {
    const { body } = await rest.send<{ lines: Record<string, unknown>[] }>('GET', '/api/v1/lines');
    return body.lines.map(({ uptime, ...rest }) => rest);
  };
  return { rest, views };
}

it('no body of a PUT is an internal error, what is right is done, and what is refused changes nothing', async () => {
  const { rest, views } = await served();
  const right: readonly Right[] = [
    ['lan', { units: { '1-9': { copyOf: 'meter' } } }],
    ['lan', { missingUnit: 'silence' }],
    ['lan', { tcp: { host: '127.0.0.2' }, framing: 'rtu' }],
    ['bench', { serial: { baudRate: 9600 }, timing: { turnaround: 30 } }],
    ['bench', { framing: 'ascii' }],
    ['bench', { serial: null, udp: { port: 0 } }],
  ];
  const change = changes(nonsense, right);
  const seen = new Set<number>();
  let done = 0;
  await fc.assert(
    fc.asyncProperty(change, async ({ line, body, right }) => {
      const before = await views();
      const settings = before.find(({ name }) => name === line)?.settings;
      const { status } = await rest.send('PUT', `/api/v1/lines/${line}`, JSON.stringify(body));
      seen.add(status);
      expect(right ? [200] : [200, 400, 409]).toContain(status);
      if (right) done++;
      if (status !== 200) {
        expect(await views()).toEqual(before);
        return;
      }
      // What was right is taken back.
      const back = { serial: null, tcp: null, udp: null, ...(settings as object) };
      expect(await rest.send('PUT', `/api/v1/lines/${line}`, back)).toMatchObject({ status: 200 });
    }),
    { numRuns: tries(500), examples: right.map((each) => [changeOf(each)]) },
  );
  expect(done).toBeGreaterThanOrEqual(right.length);
  expect(seen).toContain(400);
  const [lan] = await views();
  const master = await tcpMaster(Number(String(lan?.place).split(':')[1]));
  expect((await master.readHoldingRegisters(0, 3)).data).toEqual([1, 2, 3]);
});

it('no request to /restapi/server is an internal error, what is right is done, and what is refused changes nothing', async () => {
  const { rest, views } = await served();
  const submit = fc.constantFrom('Status', 'Set', 'Set', 'Set');
  const fields = fc.dictionary(fc.constantFrom(...KEYS), nonsense, { maxKeys: 5 });
  const hostile = fc.tuple(submit, fields).map(([submit, fields]) => ({ ...fields, submit }));
  const right: readonly Right[] = [
    ['lan', { submit: 'Set', host: '127.0.0.1', port: '0', framer: 'socket' }],
    ['lan', { submit: 'Set', units: { 1: 'meter', 9: { copyOf: 'meter' }, '*': 'meter' } }],
    ['bench', { submit: 'Set', port: 'virtual', baudrate: '9600', t3_5: null, gap: null }],
    ['bench', { submit: 'Set', framer: 'ascii', bytesize: 7 }],
    ['bench', { submit: 'Set', framer: 'rtu', bytesize: 8, t3_5: null, gap: null }],
  ];
  const change = changes(hostile, right);
  let done = 0;
  await fc.assert(
    fc.asyncProperty(change, fc.boolean(), async ({ line, body, right }, names) => {
      const before = await views();
      const request = JSON.stringify({ ...(body as object), ...((right || names) && { line }) });
      const answer = await rest.send<Answer>('POST', '/restapi/server', request);
      // What could change the prototypes of objects is no JSON for the server.
      const mayBeRefused = /"(__proto__|prototype)":/.test(request);
      expect(mayBeRefused ? [200, 400] : [200]).toContain(answer.status);
      if (right) {
        expect(answer.body).toMatchObject({ result: 'ok' });
        done++;
      }
      if (answer.body.result === 'ok') return;
      expect(answer.body.error).toMatch(/./);
      expect(await views()).toEqual(before);
    }),
    { numRuns: tries(500), examples: right.map((each) => [changeOf(each), true]) },
  );
  expect(done).toBeGreaterThanOrEqual(right.length);
});
