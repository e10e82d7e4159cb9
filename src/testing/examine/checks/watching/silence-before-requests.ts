import { type Check, fail, inconclusive, pass } from '../../check.js';
import { type Exchange, wentWell } from '../../exchange.js';
import { numberText } from '../../found.js';

/** The client is watched until so many pauses are known, or for so long, in ms. */
const ENOUGH = 8;
const LONGEST_MS = 30_000;
/** A pause is measured from user space, so one that is a little too short may not be. */
const SURELY_SHORT = 0.8;
/** One short pause may be a mistake of the clock. */
const SURELY_MANY = 2;
const MOST_SHOWN = 6;

/** t3.5 before every request. */
export const silenceBeforeRequests: Check = {
  id: 'silence-before-requests',
  group: 'watching',
  title: 'Keeps t3.5 before its requests',
  does: 'Measures the silence between the last reply and the next request.',
  matters:
    'A device finds the beginning of a frame by this silence; without it, the device may miss the request.',
  rule: 'Passes when every silence is at least t3.5, fails when two are shorter than 0.8 of it; inconclusive between the two.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.1',
  transports: ['serial'],
  async run(exam) {
    const { t35, framing } = exam.line;
    if (framing !== 'rtu') return inconclusive('ASCII frames need no silence before them');
    const known = () => pausesIn(exam.log.after(0));
    await exam.until(() => (known().length >= ENOUGH ? true : undefined), LONGEST_MS);
    const pauses = known();
    if (pauses.length < ENOUGH) return inconclusive('too few requests came after a reply');
    const shortest = Math.min(...pauses.map(({ pause }) => pause));
    const told = `the shortest of ${pauses.length} silences was ${numberText(shortest)} ms; t3.5 is ${numberText(t35)} ms`;
    const short = pauses.filter(({ pause }) => pause < t35).sort((a, b) => a.pause - b.pause);
    const evidence = (short.length > 0 ? short : pauses).slice(0, MOST_SHOWN).flatMap(({ shown }) => shown);
    if (short.length === 0) return pass(told, evidence);
    const sure = short.filter(({ pause }) => pause < SURELY_SHORT * t35);
    if (sure.length < SURELY_MANY) return inconclusive(`${told}, which is too close to decide`, evidence);
    return fail(
      `${told}, and ${sure.length} were shorter than 0.8 of it`,
      evidence,
      'does not keep t3.5 before its requests',
    );
  },
};

/** The silences before requests that came after a good reply: only then the client knows when the line fell silent. */
function pausesIn(exchanges: readonly Exchange[]) {
  return exchanges.flatMap((exchange, i) => {
    const before = exchanges[i - 1];
    const { pause } = exchange.request;
    return before && wentWell(before) && pause !== undefined ? [{ pause, shown: [before, exchange] }] : [];
  });
}
