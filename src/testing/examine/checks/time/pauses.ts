import { type Check, inconclusive, pass } from '../../check.js';
import { numberText } from '../../found.js';
import { sameness, silentRun } from '../../silent-run.js';

/** Pauses that grow by less are equal. */
const GROWTH = 1.3;
const NO_PAUSE_MS = 3;

/** Intervals between attempts, and back-off. */
export const pauses: Check = {
  id: 'pauses',
  group: 'time',
  title: 'Pauses between attempts',
  does: 'Leaves one question without any reply and measures the times from one attempt to the next.',
  matters:
    'The intervals tell how long a question holds up the others, and whether a device that starts gets time for it.',
  rule: 'Passes when the intervals are measured; inconclusive when the client asks once, or the attempts of one poll are not known.',
  source: 'Modbus over Serial Line V1.02, 2.4.1; common practice is a fixed or a growing pause',
  needs: ['time-out', 'attempts'],
  async run(exam) {
    const { asked, after, intervals, attempts } = await silentRun(exam);
    const evidence = after ? [...asked, after] : asked;
    if (attempts === undefined) return inconclusive('the attempts of one poll are not known', evidence);
    if (attempts === 1) return inconclusive('the client asks once', evidence);
    const between = intervals.slice(0, attempts - 1);
    const times = `attempts come ${between.map(numberText).join(', ')} ms apart`;
    const { timeoutMs } = exam.found;
    if (!timeoutMs) return pass(`${times}; without a time-out the pauses in them are not known`, evidence);
    // The next attempt comes no sooner than the time-out, and the error of that is in the pause.
    const pausesMs = between
      .map((ms) => Math.max(0, ms - timeoutMs.value))
      .map((ms) => (ms <= timeoutMs.plusMinus + NO_PAUSE_MS ? 0 : ms));
    exam.found.pausesMs = pausesMs;
    return pass(`${times}: ${kindOf(pausesMs, sameness(exam))}`, evidence);
  },
};

function kindOf(pausesMs: readonly number[], isSame: ReturnType<typeof sameness>): string {
  const told = pausesMs.map(numberText).join(', ');
  const [first = 0] = pausesMs;
  if (pausesMs.every((ms) => ms === 0)) return 'no pause after the time-out';
  if (pausesMs.every((ms) => isSame(ms, first)))
    return `a pause of ${numberText(first)} ms after each time-out`;
  const grows = pausesMs.every((ms, i) => i === 0 || ms >= GROWTH * (pausesMs[i - 1] as number));
  return `${grows ? 'growing pauses' : 'pauses'} of ${told} ms after the time-outs`;
}
