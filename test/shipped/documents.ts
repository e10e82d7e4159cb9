import { expect } from 'vitest';
import type { Bench } from './bench.js';

/** A scenario for a running simulator, in YAML. */
const SCENARIO = `
name: a test by REST
steps: [{wait: 50ms}]
`;

/** Runs of each kind that REST starts, each on a line that no verb is tried on. */
const RUNS = [
  ['runs?kind=scenario', () => SCENARIO],
  ['runs', () => ({ kind: 'client', line: 'secured', checks: ['legal-requests'], limit: '1m' })],
  ['runs', () => ({ kind: 'fuzz', line: 'secured', moves: 1 })],
  ['runs', () => ({ kind: 'server', device: 'mirror', checks: ['answers'] })],
] as const;

/** Asks REST for each document that it has without parameters, the console, and a report of each kind of run. */
export async function askForEveryDocument(bench: Bench): Promise<void> {
  const document = await (await bench.ask('/api/v1/openapi.json')).json();
  const { paths } = document as { paths: Record<string, { get?: { responses: { 200?: Content } } }> };
  interface Content {
    readonly content?: object;
  }
  for (const [path, { get }] of Object.entries(paths)) {
    const types = Object.keys(get?.responses[200]?.content ?? {});
    if (types.length === 0 || path.includes('{') || types.includes('text/event-stream')) continue;
    expect((await (await bench.ask(path)).arrayBuffer()).byteLength).toBeGreaterThan(0);
  }
  expect(await (await bench.ask('/api/v1/checks?kind=server')).text()).toContain('"answers"');
  expect(await (await bench.ask('/')).text()).toMatch(/<html/);
  const table = {
    file: 'meter.csv',
    content: Buffer.from('Register;Name\n40001;level\n').toString('base64'),
  };
  expect(await (await bench.ask('/api/v1/import', table)).text()).toContain('level');
  const traffic = await (await bench.ask('/api/v1/traffic?format=ndjson&limit=10')).arrayBuffer();
  const { url } = (await (await bench.ask('/api/v1/view', new Uint8Array(traffic))).json()) as {
    url: string;
  };
  expect(await (await bench.ask(url)).text()).toMatch(/<html/);
  for (const [place, body] of RUNS) {
    const { id } = (await (await bench.ask(`/api/v1/${place}`, body())).json()) as { id: number };
    const run = `/api/v1/runs/${id}`;
    for (const report of ['report.html', 'junit.xml', 'report.json'])
      expect(await (await bench.ask(`${run}/${report}`)).text()).not.toBe('');
    await bench.ask(run, undefined, 'DELETE');
  }
}
