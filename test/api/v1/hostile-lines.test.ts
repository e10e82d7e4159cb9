import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tcpMaster } from '../masters.js';
import { closeServed, nativeSetup, serve } from '../rest.js';

closeServed();

const KEYS = [
  ...['serial', 'tcp', 'udp', 'tls', 'framing', 'timing', 'whenBusy', 'units', 'missingUnit'],
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

async function served() {
  const { rest } = await serve(
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

it('no body of a PUT is an internal error, and what is refused changes nothing', async () => {
  const { rest, views } = await served();
  const [lan] = await views();
  const master = await tcpMaster(Number(String(lan?.place).split(':')[1]));
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('lan', 'bench'), nonsense, async (name, body) => {
      const before = await views();
      const settings = before.find((view) => view.name === name)?.settings;
      const { status } = await rest.send('PUT', `/api/v1/lines/${name}`, JSON.stringify(body));
      seen.add(status);
      expect([200, 400, 409]).toContain(status);
      if (status !== 200) expect(await views()).toEqual(before);
      // What happened to be right is taken back.
      else
        await rest.send('PUT', `/api/v1/lines/${name}`, { serial: null, tcp: null, ...(settings as object) });
    }),
    { numRuns: 500 },
  );
  expect(seen).toContain(400);
  expect((await master.readHoldingRegisters(0, 3)).data).toEqual([1, 2, 3]);
});

it('no request to /restapi/server is an internal error, and what is refused changes nothing', async () => {
  const { rest, views } = await served();
  const submit = fc.constantFrom('Status', 'Set', 'Set', 'Set');
  const fields = fc.dictionary(fc.constantFrom(...KEYS), nonsense, { maxKeys: 5 });
  const line = fc.constantFrom<object>({}, { line: 'lan' }, { line: 'bench' });
  await fc.assert(
    fc.asyncProperty(submit, fields, line, async (submit, fields, line) => {
      const before = await views();
      const answer = await rest.send<{ result: string; error: string }>('POST', '/restapi/server', {
        ...fields,
        submit,
        ...line,
      });
      expect(answer.status).toBe(200);
      if (answer.body.result === 'ok') return;
      expect(answer.body.error).toMatch(/./);
      expect(await views()).toEqual(before);
    }),
    { numRuns: 500 },
  );
});
