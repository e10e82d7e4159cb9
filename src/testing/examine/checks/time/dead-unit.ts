import { durationText } from '../../../scenario/words.js';
import { type Check, fail, inconclusive, pass } from '../../check.js';
import type { Exam } from '../../exam.js';
import { isReading, median, type Question, questionsIn } from '../../rhythm.js';

/** The unit is dead for so many of its poll periods, and so many rounds of attempts, and at least so many ms. */
const PERIODS = 10;
const ROUNDS = 4;
const SHORTEST_MS = 5_000;
const LONGEST_MS = 180_000;

/** One unit is silent: whether the others are asked meanwhile. */
export const deadUnit: Check = {
  id: 'dead-unit',
  group: 'time',
  title: 'Asks the other units while one is dead',
  does: 'Leaves one unit without any reply, and measures how often the others are read meanwhile.',
  matters: 'One dead device must not take all others with it.',
  rule: 'Passes when every reading question to another unit is asked at least twice meanwhile, and tells how much slower; fails when one is not; inconclusive when the client reads from one unit only.',
  source: 'node-red-contrib-modbus issue 446: one dead unit stalls all',
  needs: ['time-out', 'attempts'],
  async run(exam) {
    // A write may pass on what was read from the dead unit, so that there is nothing to write meanwhile.
    const others = exam.questions.filter((question) => {
      const { unitId, periodMs, isAnswered } = question;
      return unitId !== exam.target.unitId && periodMs !== undefined && isAnswered && isReading(question);
    });
    if (others.length === 0) return inconclusive('the client reads from one unit only');
    const { spoilt, since } = await exam.disturb(
      { faults: [{ silence: true }], scope: 'unit' },
      () => undefined,
      howLong(exam, others),
    );
    if (spoilt.length === 0) return inconclusive('no request came that could be disturbed');
    const { unitId } = exam.target;
    const meanwhile = exam.log.after(since);
    const evidence = meanwhile.slice(0, 24);
    const asked = new Map(questionsIn(meanwhile).map((question) => [question.key, question]));
    const slower = others.map((question) => ({
      question,
      times: slowdown(question, asked.get(question.key)),
    }));
    const left = slower.find(({ times }) => times === undefined)?.question;
    if (left) {
      const took = durationText(howLong(exam, others));
      const summary = `while unit ${unitId} was dead for ${took}, ${left.text} was not asked twice`;
      return fail(summary, evidence, 'one dead unit stalls the others');
    }
    const most = Math.max(...slower.map(({ times = 1 }) => times));
    const pace = most < 1.2 ? 'at the usual pace' : `up to ${most.toFixed(1)} times as slowly as usual`;
    return pass(`while unit ${unitId} was dead, the others were asked ${pace}`, evidence);
  },
};

function howLong({ found, questions, target }: Exam, others: readonly Question[]): number {
  const { value: timeout = 1000 } = found.timeoutMs ?? {};
  const pauses = (found.pausesMs ?? []).reduce((sum, ms) => sum + ms, 0);
  const asked = questions.filter(({ unitId }) => unitId === target.unitId).length;
  const longest = Math.max(...[target, ...others].map(({ periodMs = 0 }) => periodMs));
  const round = longest + asked * ((found.attempts ?? 3) * timeout + pauses);
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, PERIODS * (target.periodMs ?? 0), ROUNDS * round));
}

/** How many times as long as usual the intervals are; undefined when it was not asked twice. */
function slowdown({ periodMs = 0 }: Question, meanwhile: Question | undefined): number | undefined {
  if (!meanwhile || meanwhile.intervals.length === 0) return undefined;
  return median(meanwhile.intervals) / periodMs;
}
