import { describe, expect, it } from 'vitest';
import { CHECKS } from '../../../src/testing/checks.js';
import { ExchangeLog } from '../../../src/testing/client/heard/log.js';
import type { Report } from '../../../src/testing/report/report.js';
import { some } from '../../support/tries.js';
import { written } from './observers.js';
import { untrueIn } from './sentences.js';
import { habitsOf, SUBJECTS, type Subject } from './subjects.js';
import { inVirtualTime, newClientTest, untilOver, virtualBench } from './virtual-bench.js';

inVirtualTime();

/** Tests a subject, and says what is not so in the sentences of its findings. */
async function examined(
  subject: Subject,
  checks = subject.checks ?? [],
): Promise<{ report: Report; untrue: string[] }> {
  const bench = await virtualBench(subject.on);
  const client = bench.client(habitsOf(subject));
  const log = new ExchangeLog(() => undefined);
  bench.simulator.traffic.subscribe((event) => log.add(event));
  const observer = subject.isObserved ? written(client, bench) : undefined;
  const { clientTest } = newClientTest(bench, { checks, limitMs: 36_000_000 }, observer);
  void client.poll();
  const report = await untilOver(bench.clock, clientTest.run());
  client.stop();
  log.usualUntil = log.after(0).find(({ reply }) => (reply?.acted.length ?? 0) > 0)?.seq ?? log.last;
  const run = report.findings.filter(({ verdict }) => verdict !== 'not run');
  const untrue = run.flatMap((finding) =>
    untrueIn(finding, { log, report }).map(
      (text) => `${finding.id}, ${finding.verdict}, "${finding.summary}": ${text}`,
    ),
  );
  return { report, untrue };
}

const FAULTLESS = SUBJECTS.filter(({ name, isObserved }) => name.startsWith('faultless') && !isObserved);
/** One fails nobody by its rule; all clients here show what they read; no client here has another time-out once it was found. */
const FAIL_NOBODY = ['pauses', 'shown-value', 'time-out-margins'];
const FAILED = CHECKS.map(({ id }) => id).filter((id) => !FAIL_NOBODY.includes(id));

describe('each sentence of a report says what was on the line', () => {
  it.each(some(FAULTLESS, 5).map((each) => [`${each.name} on ${each.on}`, each] as const))(
    'on a client: %s',
    async (_, subject) => {
      const { untrue } = await examined(subject);
      expect(untrue).toEqual([]);
    },
  );

  it.each(some(FAILED, 5))('on a client that fails %s', async (id) => {
    const subjects = SUBJECTS.filter(({ wrong }) => wrong.includes(id));
    for (const isObserved of [false, true]) {
      const subject = subjects.find((each) => each.isObserved === isObserved);
      if (!subject) continue;
      const { untrue } = await examined(subject, [id]);
      expect(untrue).toEqual([]);
    }
  });
});
