import { ExchangeLog } from '../../../src/testing/client/heard/log.js';
import type { Observer } from '../../../src/testing/client/observer.js';
import type { Report } from '../../../src/testing/report/report.js';
import { untrueIn } from './sentences.js';
import { Hands, type Stranger } from './strangers.js';
import { newClientTest, untilOver, type VirtualBench, virtualBench } from './virtual-bench.js';

interface Tested {
  readonly report: Report;
  /** What is not so in its sentences. */
  readonly untrue: readonly string[];
  readonly failed: readonly string[];
}

/** Tests a client that somebody else wrote, from its first request to the report. */
export async function testStranger(
  poll: Stranger,
  on: 'serial' | 'tcp',
  order: Parameters<typeof newClientTest>[1] = {},
  isObserved = false,
): Promise<Tested> {
  const bench: VirtualBench = await virtualBench(on);
  const all: Hands[] = [];
  const hands = () => {
    const pair = new Hands(bench);
    all.push(pair);
    return pair;
  };
  const log = new ExchangeLog(() => undefined);
  bench.simulator.traffic.subscribe((event) => log.add(event));
  const first = hands();
  const page: Observer = {
    name: 'http://localhost/value',
    paceMs: 200,
    read: async () =>
      first.shown ? { ok: true, text: first.shown } : { ok: false, error: 'showed nothing' },
  };
  const { clientTest } = newClientTest(bench, order, isObserved ? page : undefined);
  void poll(first, hands);
  const report = await untilOver(bench.clock, clientTest.run());
  for (const pair of all) pair.isOver = true;
  log.usualUntil = log.after(0).find(({ reply }) => (reply?.acted.length ?? 0) > 0)?.seq ?? log.last;
  const untrue = report.findings
    .filter(({ verdict }) => verdict !== 'not run')
    .flatMap((finding) =>
      untrueIn(finding, { log, report }).map((text) => `${finding.id}, "${finding.summary}": ${text}`),
    );
  const failed = report.findings.flatMap(({ id, verdict }) => (verdict === 'fail' ? id : []));
  return { report, untrue, failed };
}
