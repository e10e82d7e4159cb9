import { expect, it } from 'vitest';
import { countsOf } from '../../../src/remote/web/views/report/first-page.js';
import { jsonReport } from '../../../src/testing/report/json.js';
import { junitReport } from '../../../src/testing/report/junit.js';
import { cardText } from '../../../src/testing/server/card.js';
import { serverTestReport } from '../../../src/testing/server/server-test-report.js';
import { answering, modelDevice } from './model-device.js';
import { testModel } from './model-servers.js';

/* One card, one set of counts: the terminal, HTML, JUnit and JSON (which the console and REST show) say the same. */

it('every form of the report has the counts of the card', async () => {
  const serverTest = await testModel(answering(modelDevice()), {
    checks: ['refusals', 'has', 'identification'],
  });
  const line = cardText(serverTest).split('\n')[3] ?? '';
  const counts = line
    .split(' · ')
    .map((each) => [Number.parseInt(each, 10), each.replace(/^\d+ /, '')] as const);
  expect(counts.length, line).toBeGreaterThan(2);
  expect(counts.reduce((sum, [many]) => sum + many, 0)).toBe(serverTest.findings.length);

  const report = serverTestReport(serverTest, 0);
  const xml = junitReport([report]);
  for (const [many, word] of counts) {
    expect(xml).toContain(`<property name="checks: ${word}" value="${many}"/>`);
  }
  expect(countsOf(report).map(({ many, word }) => [many, word])).toEqual(counts);

  const json = JSON.parse(jsonReport([report])) as {
    counts: Record<string, number>;
    checks: { verdict: string }[];
  };
  expect(Object.values(json.counts)).toEqual(counts.map(([many]) => many));
  for (const [verdict, many] of Object.entries(json.counts))
    expect(json.checks.filter((each) => each.verdict === verdict)).toHaveLength(many);
});

it('a server that was not asked for its identification is not one without', async () => {
  const serverTest = await testModel(answering(modelDevice()), { checks: ['frames'] });
  expect(cardText(serverTest)).toMatch(/^A server · /);
  const asked = await testModel(answering(modelDevice()), { checks: ['identification'] });
  expect(cardText(asked)).toMatch(/^A server without identification · /);
});

it('a server whose identification is empty has no empty name', async () => {
  const answer = answering(modelDevice());
  const serverTest = await testModel(
    (pdu) => (pdu[0] === 43 ? [0x2b, 0x0e, pdu[2] ?? 0, 0x83, 0, 0, 0] : answer(pdu)),
    { checks: ['identification'] },
  );
  const card = cardText(serverTest);
  expect(card).toMatch(/^A server · /);
  expect(card).not.toContain('; level');
});
