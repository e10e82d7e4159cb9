import { pino } from 'pino';
import { expect, it } from 'vitest';
import { shownReport } from '../../../src/cli/verbs/bench-here.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { htmlReport } from '../../../src/testing/report/html.js';
import { junitReport } from '../../../src/testing/report/junit.js';
import type { Report } from '../../../src/testing/report/report.js';
import { replyEvent } from '../../simulator/traffic/events.js';
import { nativeSetup } from '../../support/configuration.js';

it('shows the values of registers in the reports of test and test-client, with names where they have one', async () => {
  const holding = [
    { address: 0, type: 'float32', value: 230.1, name: 'voltage', unit: 'V' },
    { address: 2, type: 'float32', value: 50.02 },
  ];
  const setup = nativeSetup({
    devices: { meter: { registers: { holding } } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  });
  const frames = [replyEvent('03 0000 0004', '03 08 4366 199a 4248 147b', { line: 'lan', unitId: 1 })];
  const report: Report = {
    kind: 'scenario',
    name: 'reads',
    startedAt: 0,
    durationMs: 1,
    verdict: 'fail',
    isStopped: false,
    line: 'lan',
    seed: 1,
    conclusions: [],
    parameters: [],
    findings: [{ id: '1', title: 'a step', verdict: 'fail', summary: '', frames, durationMs: 1 }],
    versions: [],
  };
  const view = await shownReport(report, new Simulator(setup, pino({ level: 'silent' })), 0);
  const text = 'read holding registers 0–3: voltage 230.1 V, 2–3 float32 50.02';
  expect(htmlReport([view])).toContain(text);
  expect(junitReport([view])).toContain(text);
});
