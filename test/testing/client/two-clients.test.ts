import { expect, it } from 'vitest';
import type { Stranger } from './strangers.js';
import { testStranger } from './test-stranger.js';
import { inVirtualTime } from './virtual-bench.js';

/* Two clients are on one line; what one of them does is not taken for what the other did next. */

inVirtualTime();

const OWN = [3, 0, 0, 0, 4];
const OTHER = [3, 0, 10, 0, 4];
const CHECKS = ['time-out', 'retries', 'exception-2', 'junk', 'noise-before'];

/** Asks two questions in turn, each once. */
const asksOnce =
  (closes: boolean): Stranger =>
  async (hands) => {
    for (let i = 0; !hands.isOver; i++) {
      const got = await hands.ask(1, i % 2 ? OTHER : OWN, 1000);
      if (closes && got.kind === 'none') {
        hands.close();
        await hands.sleep(400);
      }
      await hands.sleep(250);
    }
  };

/** Opens a connection every 0.7 s, and asks one question. */
const another =
  (question: readonly number[], isLeft: boolean): Stranger =>
  async (hands, second) => {
    while (!hands.isOver) {
      const one = second();
      await one.ask(1, question, 1000);
      if (!isLeft) one.close();
      await hands.sleep(700);
    }
  };

it.each<[what: string, ...Parameters<typeof another>]>([
  ['opens connections and leaves them open', [3, 0, 5, 0, 1], true],
  ['closes each connection', [3, 0, 5, 0, 1], false],
])('a client beside another one that %s', async (_, ...other) => {
  for (const closes of [false, true]) {
    const both: Stranger = async (hands, second) => {
      void another(...other)(hands, second);
      await asksOnce(closes)(hands, second);
    };
    const alone = await testStranger(asksOnce(closes), 'tcp', { checks: CHECKS });
    const { report, failed } = await testStranger(both, 'tcp', { checks: CHECKS });
    const verdicts = (of: typeof report) => of.findings.map(({ id, verdict }) => `${id} ${verdict}`);
    expect(verdicts(report)).toEqual(verdicts(alone.report));
    expect(failed).toEqual(['retries']);
    expect(report.conclusions.join(' ')).toMatch(
      /^Does not retry when a reply is lost\. Gives up after (9\d\d|10\d\d)(\.\d)? ± [\d.]+ ms, does not retry\.$/,
    );
  }
});
