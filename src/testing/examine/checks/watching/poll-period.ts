import { type Check, fail, inconclusive, pass } from '../../check.js';
import { numberText } from '../../found.js';
import { median, questionsIn } from '../../rhythm.js';

/** Intervals that are watched besides those that are known, and how long at most, in ms. */
const MORE_POLLS = 8;
const LONGEST_MS = 30_000;
/** Fewer intervals show no rhythm. */
const FEWEST_INTERVALS = 4;
/** An interval may differ from the median by so much, as a part of it, or in ms. */
const TOLERANCE = 0.25;
const TOLERANCE_MS = 25;

/** Poll period and jitter of each question. */
export const pollPeriod: Check = {
  id: 'poll-period',
  group: 'watching',
  title: 'Polls in a regular rhythm',
  does: 'Watches the requests and measures the time from one asking of a question to the next.',
  matters: 'Whoever reads a value has to know how old it may be.',
  rule: 'Passes when every interval is within 25 % or 25 ms of the median, fails otherwise; inconclusive below four intervals.',
  source: 'Common practice; no specification sets a period.',
  async run(exam) {
    const { target, log } = exam;
    const enough = () => (exam.askedAfter(exam.since).length > MORE_POLLS ? true : undefined);
    await exam.until(enough, LONGEST_MS);
    const questions = questionsIn(log.newest()).filter(
      ({ intervals }) => intervals.length >= FEWEST_INTERVALS,
    );
    const polled = questions.find(({ key }) => key === target.key);
    if (!polled) return inconclusive('too few polls came to know their rhythm', target.asked);
    exam.found.pollPeriodMs = median(polled.intervals);
    const told = questions.map(({ text, intervals }) => ({ text, ...spread(intervals) }));
    const uneven = told.filter(({ isEven }) => !isEven);
    const shown = (uneven.length > 0 ? uneven : told).slice(0, 4);
    const summary = shown
      .map(({ text, period, least, most }) => {
        return `${text} every ${numberText(period)} ms (${numberText(least)} to ${numberText(most)} ms)`;
      })
      .join('; ');
    if (uneven.length === 0) return pass(summary, polled.asked);
    const worst = questions.find(({ text }) => text === uneven[0]?.text) ?? polled;
    return fail(summary, worst.asked, 'polls in an uneven rhythm');
  },
};

function spread(intervals: readonly number[]) {
  const period = median(intervals);
  const [least, most] = [Math.min(...intervals), Math.max(...intervals)];
  const tolerance = Math.max(period * TOLERANCE, TOLERANCE_MS);
  return { period, least, most, isEven: most - period <= tolerance && period - least <= tolerance };
}
