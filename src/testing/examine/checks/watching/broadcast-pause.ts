import { type Check, fail, inconclusive, pass } from '../../check.js';
import type { Exchange } from '../../exchange.js';
import { numberText } from '../../found.js';

/** Broadcasts are waited for so long, in ms. */
const LONGEST_MS = 10_000;
/** The specification gives devices 100 ms to 200 ms for a broadcast at 9600 baud. */
const TYPICAL_MS = 100;
/** No device of usual speed has carried out a broadcast by then. */
const TOO_SHORT_MS = 20;
const MOST_SHOWN = 4;

/** The turnaround delay after a broadcast. */
export const broadcastPause: Check = {
  id: 'broadcast-pause',
  group: 'watching',
  title: 'Gives broadcasts time',
  does: 'Measures the time from each broadcast to the next request.',
  matters:
    'Nobody answers a broadcast, so a client that goes on at once asks devices that are still busy with it.',
  rule: 'Passes when at least 100 ms pass after each broadcast, fails when less than 20 ms do; inconclusive between the two and without broadcasts.',
  source: 'Modbus over Serial Line V1.02, 2.4.1: turnaround delay, typically 100 ms to 200 ms at 9600 baud',
  transports: ['serial'],
  async run(exam) {
    const isKnown = () => (pausesIn(exam.log.after(0)).length > 0 ? true : undefined);
    await exam.until(isKnown, LONGEST_MS);
    const pauses = pausesIn(exam.log.after(0)).sort((a, b) => a.ms - b.ms);
    const [shortest] = pauses;
    if (!shortest) return inconclusive('the client sent no broadcast');
    const told = `the next request came ${numberText(shortest.ms)} ms after a broadcast at the soonest (${pauses.length} watched)`;
    const evidence = pauses.slice(0, MOST_SHOWN).flatMap(({ shown }) => shown);
    if (shortest.ms >= TYPICAL_MS) return pass(told, evidence);
    if (shortest.ms < TOO_SHORT_MS) return fail(told, evidence, 'gives broadcasts no time');
    return inconclusive(`${told}: enough for fast devices only`, evidence);
  },
};

function pausesIn(exchanges: readonly Exchange[]) {
  return exchanges.slice(1).flatMap((next, i) => {
    const before = exchanges[i] as Exchange;
    if (before.request.kind !== 'broadcast') return [];
    return [{ ms: next.request.startedAt - before.at, shown: [before, next] }];
  });
}
