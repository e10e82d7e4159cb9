import { resolve } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { At } from '../../src/common/schema/at.js';
import { Findings } from '../../src/common/schema/findings.js';
import { loadNative } from '../../src/document/load.js';
import { Simulator } from '../../src/simulator/simulator.js';
import type { TrafficEvent } from '../../src/simulator/traffic/event.js';
import { trafficView } from '../../src/simulator/traffic/view.js';
import type { Poll } from '../../src/testing/client/heard/exchange.js';
import { fuzzReport } from '../../src/testing/fuzz/fuzz-report.js';
import { fleetHtml, htmlReport } from '../../src/testing/report/html.js';
import { jsonReport } from '../../src/testing/report/json.js';
import { junitReport } from '../../src/testing/report/junit.js';
import { type Report, viewReport } from '../../src/testing/report/report.js';
import { readScenario } from '../../src/testing/scenario/read-scenario.js';
import { writeTested } from '../../src/testing/server/as-file.js';
import { claimsTemplate } from '../../src/testing/server/claims.js';
import { serverTestReport } from '../../src/testing/server/server-test-report.js';
import { bytesOf, frameEvent, replyEvent } from '../simulator/traffic/events.js';
import { nativeSetup } from '../support/configuration.js';
import { ABOUT } from './report/about.js';
import { testModelServer } from './server/virtual-server.js';

/*
 * What the wing promises: the reports and files that it writes, each from one small run. `npx vitest run test/testing/contract.test.ts -u`
 * writes the goldens again; a commit that has one of them says why.
 */

const golden = (name: string) => resolve('test/goldens/written', name);

/** Without what differs from machine to machine, and without the program and the style of a page. */
const kept = (text: string) =>
  text
    .replace(/<style>.*?<\/style>/gs, '<style>STYLE</style>')
    .replace(/<script type="module">.*?<\/script>/gs, '<script type="module">PROGRAM</script>')
    .replace(/'sha256-[^']*'/g, "'sha256-HASH'")
    .replace(/"version":"[^"]*","title"/, '"version":"VERSION","title"');
const CONFIGURATION = 'devices: {}\n';
const VERSIONS = [{ name: 'modbus-sim', version: 'VERSION' }];
const STARTED_AT = Date.UTC(2026, 0, 2, 3, 4, 5);

const shown = (event: TrafficEvent) => trafficView(event, () => undefined);
const frames = [frameEvent('03 0000 0001'), replyEvent('03 0000 0001', '03 02 0007')];

const RUN: Report = {
  kind: 'scenario',
  name: 'a <test> & "more"',
  startedAt: STARTED_AT,
  durationMs: 2500,
  verdict: 'fail',
  isStopped: false,
  line: 'bench',
  seed: 4711,
  about: { client: 'gateway 2.1', tester: 'A. Bee', remark: 'new firmware' },
  conclusions: ['1 of 3 steps passed.'],
  parameters: [{ name: 'response time-out', value: '487 ± 3 ms' }],
  findings: [
    { id: '1', title: 'polls', verdict: 'pass', summary: '', frames, durationMs: 1000 },
    {
      id: '2',
      title: 'goes on',
      verdict: 'fail',
      summary: 'asks no more\nfor 10 s',
      frames: [],
      durationMs: 1500,
    },
    { id: '3', title: 'writes', verdict: 'not run', summary: '', frames: [], durationMs: 0 },
  ],
  versions: VERSIONS,
};
const TEST = viewReport(RUN, CONFIGURATION, shown);
const CLIENT_TEST = viewReport(
  {
    ...RUN,
    kind: 'client',
    name: 'the client on line bench',
    conclusions: ['Gives up after 487 ± 3 ms.'],
    found: {
      timeoutMs: { value: 487.123, plusMinus: 2.999 },
      retries: 2,
      pausesMs: [100],
      pollPeriodMs: 1000,
    },
    findings: RUN.findings.map((each) => ({ ...each, about: ABOUT })),
  },
  CONFIGURATION,
  shown,
);

/** What was heard of a client that ends after an exception. */
function fuzzed(): { readonly report: Report; readonly simulator: Simulator } {
  const simulator = new Simulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
      lines: { bench: { serial: { path: 'virtual' }, units: { 17: 'meter' } } },
    }),
    pino({ level: 'silent' }),
  );
  const line = simulator.lines.get('bench');
  if (!line) throw new Error('no line');
  const target: Poll = {
    key: '17 03 0000 0001',
    unitId: 17,
    functionCode: 3,
    pdu: bytesOf('03 0000 0001'),
    text: 'unit 17 read holding registers 0',
    asked: [],
    intervals: [1000, 1000, 1010],
    periodMs: 1000,
    isAnswered: true,
  };
  const course = {
    startedAt: STARTED_AT,
    durationMs: 90_000,
    isOver: true,
    isStopped: false,
    whyEnded: undefined,
    suspended: undefined,
    refusal: undefined,
  };
  const client = { course, target, polls: [target] };
  const report = fuzzReport({ line, unitId: undefined, limitMs: 60_000, seed: 4711 }, client, {
    moves: 12,
    plays: 5,
    leftOut: [],
    seen: [
      {
        schedule: [{ after: 2, requests: 1, does: { fault: { do: [{ exception: 4 }] } } }],
        met: ['exception 4 to one request'],
        failure: { kind: 'ended', text: 'has ended with exit code 1' },
        plays: { failed: 2, played: 2 },
        without: { failed: 0, played: 2 },
        frames,
        since: 0,
        last: 2,
      },
    ],
  });
  return { report: { ...report, versions: VERSIONS }, simulator };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the report that is written is as it was', () => {
  it.each<[name: string, text: () => string]>([
    ['scenario.xml', () => junitReport([TEST])],
    ['scenario.json', () => jsonReport([TEST])],
    ['scenario.html', () => htmlReport([TEST])],
    ['client.json', () => jsonReport([CLIENT_TEST])],
    ['client.html', () => htmlReport([CLIENT_TEST])],
    ['fuzz.json', () => jsonReport([viewReport(fuzzed().report, CONFIGURATION, shown)])],
    [
      'fleet.html',
      () => fleetHtml([{ bench: 'bench-1', report: CLIENT_TEST, url: 'http://bench-1/' } as const]),
    ],
  ])('%s', async (name, text) => {
    await expect(kept(text())).toMatchFileSnapshot(golden(`report-${name}`));
  });
});

it('the scenario of a fuzz run is as it was', async () => {
  const { report, simulator } = fuzzed();
  const text = report.fuzzed?.scenario ?? '';
  const findings = new Findings();
  readScenario(new At(parse(text), findings), simulator);
  expect(findings.listed).toEqual([]);
  await expect(text).toMatchFileSnapshot(golden('fuzz-scenario.yaml'));
});

const CHECKS = ['fc03-quantity-125', 'map-end', 'same-value'];

it('the report, the file and the claims that a server test writes are as they were', async () => {
  const { serverTest } = await testModelServer({
    device: {
      identity: { vendorName: 'Acme', productCode: 'M1', majorMinorRevision: '1.0' },
      registers: { holding: [{ address: 0, value: [1, 2, 3] }] },
    },
    manners: { most: { registers: 2, otherwise: 3 } },
    order: { survey: [[0, 9]], checks: CHECKS },
  });
  const report = serverTestReport(serverTest, STARTED_AT);
  const json = JSON.parse(jsonReport([report])) as { checks: { id: string; exchanges: unknown[] }[] };
  const checks = json.checks
    .filter(({ id }) => CHECKS.includes(id))
    .map((check) => ({ ...check, exchanges: check.exchanges.slice(0, 1) }));
  await expect(`${JSON.stringify({ ...json, checks, versions: VERSIONS }, null, 2)}\n`).toMatchFileSnapshot(
    golden('report-server.json'),
  );
  const file = writeTested(serverTest) ?? '';
  expect(loadNative(file, '.')).toMatchObject({ ok: true });
  await expect(file).toMatchFileSnapshot(golden('server.yaml'));
  await expect(claimsTemplate(serverTest)).toMatchFileSnapshot(golden('server-claims.yaml'));
});
