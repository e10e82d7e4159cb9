import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Fleet } from '../../../src/extensions/fleet/benches.js';
import { runOnAll } from '../../../src/extensions/fleet/runs.js';
import { makeTempDir } from '../../support/program.mjs';

const FINDING = { id: '1', title: 'step 1', verdict: 'pass', summary: 'as expected', durationMs: 1 };
const REPORT = {
  ...{ kind: 'scenario', name: 'steps', startedAt: 1e12, durationMs: 1, verdict: 'pass', isStopped: false },
  ...{ seed: 1, conclusions: [], parameters: [], findings: [FINDING], versions: [] },
};
const { startedAt: _, conclusions: __, ...OLD } = REPORT;
const ANSWERS: Readonly<Record<string, object>> = {
  good: REPORT,
  old: OLD,
  late: { ...REPORT, startedAt: 1e300 },
  hostile: { ...REPORT, findings: [{ ...FINDING, title: { toString: 1 } }] },
};

it('writes the reports on all benches, whatever one of them answers as its run', async () => {
  const directory = makeTempDir();
  const [html, junit, json] = ['html', 'xml', 'json'].map((kind) => join(directory, `report.${kind}`));
  const benches = Object.keys(ANSWERS).map((topic) => ({ topic, rest: [] }));
  const ask = async ({ topic }: { readonly topic: string }) => ({
    ok: true,
    value: { id: 1, isOver: true, lines: [], report: ANSWERS[topic] },
  });
  const code = await runOnAll(
    { ask } as unknown as Fleet,
    benches as unknown as Parameters<typeof runOnAll>[1],
    { timeout: 1000 } as unknown as Parameters<typeof runOnAll>[2],
    [{ kind: 'scenario', name: 'steps', body: {} }],
    { html, junit, json } as Parameters<typeof runOnAll>[4],
  );
  expect(code).toBe(1);
  const written = JSON.parse(readFileSync(json ?? '', 'utf8')) as { bench: string; verdict: string }[];
  expect(written.map(({ bench, verdict }) => [bench, verdict])).toEqual([
    ['good', 'pass'],
    ['old', 'error'],
    ['late', 'error'],
    ['hostile', 'error'],
  ]);
  expect(readFileSync(junit ?? '', 'utf8').match(/answer is not a run/g)?.length).toBeGreaterThan(2);
  expect(readFileSync(html ?? '', 'utf8')).toContain('good: steps');
});
