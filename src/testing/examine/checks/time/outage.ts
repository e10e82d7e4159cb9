import { durationText } from '../../../scenario/words.js';
import { type Check, fail, inconclusive, pass } from '../../check.js';
import { type Exchange, wentWell } from '../../exchange.js';

/** After an outage the client may take as long as the outage was, or this, or two of its rounds, in ms. */
const SHORTEST_MS = 10_000;
const ROUNDS = 2;
/** How long it is waited for, in ms. */
const LONGEST_MS = 120_000;

/** All devices of the line are silent for a while. */
function outage(seconds: number, needs?: readonly string[]): Check {
  const ms = seconds * 1000;
  return {
    id: `outage-${seconds}s`,
    group: 'time',
    title: `Polls again after an outage of ${seconds} s`,
    does: `Leaves everything that is asked on the line without a reply for ${seconds} s, and waits until the client polls again.`,
    matters: 'After a power cut or a pulled plug nobody wants to restart every client by hand.',
    rule: 'Passes when the client polls again within 10 s, as long as the outage was, or two of its rounds, whichever is longest; fails when it takes longer or does not at all.',
    source: 'Common practice',
    ...(needs && { needs }),
    async run(exam) {
      const before = exam.log.newest().at(-1);
      const { spoilt, at } = await exam.disturb(
        { faults: [{ silence: true }], scope: 'line' },
        () => undefined,
        ms,
      );
      if (spoilt.length === 0)
        return inconclusive('nothing was asked during the outage', before ? [before] : []);
      const endedAt = exam.clock.now();
      const { last } = exam.log;
      const first = await exam.until(() => exam.askedAfter(last).find(wentWell), LONGEST_MS);
      const evidence: readonly Exchange[] = [
        ...spoilt.slice(0, 4),
        ...spoilt.slice(-4),
        ...(first ? [first] : []),
      ];
      if (!first) {
        const told = `asked nothing for ${durationText(LONGEST_MS)} after an outage of ${seconds} s`;
        return fail(told, evidence, `does not poll again after an outage of ${seconds} s`);
      }
      const { value: timeout = 0 } = exam.found.timeoutMs ?? {};
      const tries = exam.found.attempts ?? 1;
      const round = exam.periodMs + exam.questions.length * tries * timeout;
      const most = Math.max(SHORTEST_MS, endedAt - at, ROUNDS * round);
      const took = first.at - endedAt;
      const told = `polled again ${durationText(took)} after an outage of ${seconds} s, during which it asked ${spoilt.length} times`;
      if (took <= most) return pass(told, evidence);
      return fail(told, evidence, `polls again only ${durationText(took)} after an outage of ${seconds} s`);
    },
  };
}

export const outage5 = outage(5);
// A client that does not survive the short one needs no long one.
export const outage60 = outage(60, ['outage-5s']);
