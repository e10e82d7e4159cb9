import { durationText } from '../../../scenario/words.js';
import { believed } from '../../believed.js';
import { type Check, fail, inconclusive, type Outcome, pass } from '../../check.js';
import type { Exam } from '../../exam.js';
import { type Exchange, repliedUntil } from '../../exchange.js';
import { numberText } from '../../found.js';

/** The exception is given for so many poll periods, and for so long at least, in ms. */
const PERIODS = 4;
const SHORTEST_MS = 2_000;
/** Asking so many times as often as usual is asking without end, unless the client repeats more after silence. */
const MOST_PER_POLL = 5;

interface ExceptionDefinition extends Pick<Check, 'matters' | 'source'> {
  readonly code: number;
  /** As in the specification, in lower case. */
  readonly name: string;
  /** The server may have a value soon, so to ask again after a pause is right. */
  readonly isPassing?: boolean;
}

const RULE = `Passes when the client polls on at about its usual pace, fails when it asks more than five times as often, or no \
longer polls afterwards, or when the witness shows a value that no reply carried.`;

const RULE_PASSING = `Passes when the client asks again after a pause or at its next poll, fails when it asks more than five \
times as often as usual, or no longer polls afterwards, or when the witness shows a value that no reply carried.`;

/** The check of what a client does about one exception. */
export function exceptionCheck({
  code,
  name,
  matters,
  source,
  isPassing = false,
}: ExceptionDefinition): Check {
  return {
    id: `exception-${code}`,
    group: 'exceptions',
    title: isPassing
      ? `Asks again after a pause after exception ${code}`
      : `Does not ask again at once after exception ${code}`,
    does: `Answers every asking of one question with exception ${code} (${name}) for some poll periods.`,
    matters,
    rule: isPassing ? RULE_PASSING : RULE,
    source,
    run: (exam) => run(exam, code),
  };
}

async function run(exam: Exam, code: number): Promise<Outcome> {
  const ms = Math.max(SHORTEST_MS, PERIODS * exam.periodMs);
  const faults = [{ exception: code }];
  const { spoilt, since } = await exam.disturb({ faults }, () => undefined, ms);
  if (spoilt.length === 0) return inconclusive('no request came that could be disturbed');
  const usual = Math.max(1, ms / exam.periodMs);
  const asked = `asked ${spoilt.length} times in ${durationText(ms)}, usually ${Math.round(usual)} times`;
  const most = usual * Math.max(MOST_PER_POLL, exam.found.attempts ?? 0) + 1;
  if (spoilt.length > most) return fail(asked, spoilt, `asks again and again after exception ${code}`);
  const told = `${asked}${againText(exam, since)}`;
  if (!(await exam.recover())) {
    const summary = `${told}, and did not poll as before afterwards`;
    return fail(summary, spoilt, `no longer polls after exception ${code}`);
  }
  const belief = await believed(exam, faults);
  if (belief.kind === 'other') {
    return fail(
      `${told}; ${belief.text}`,
      [...spoilt, ...belief.evidence],
      `takes exception ${code} for a value: dangerous`,
    );
  }
  if (belief.isForEver) {
    const summary = `${told}; the witness did not follow the good replies afterwards`;
    return fail(summary, [...spoilt, ...belief.evidence], `keeps an old value after exception ${code}`);
  }
  return pass(belief.kind === 'kept' ? `${told}; ${belief.text}` : told, spoilt);
}

/** How long after the exception the client asked again, if that was before its time. */
function againText(exam: Exam, since: number): string {
  const asked = exam.askedAfter(since);
  const times = asked.slice(1).flatMap((each, i) => {
    const before = asked[i] as Exchange;
    const from = repliedUntil(before);
    const isEarly = before.isSpoilt && each.at - before.at < exam.periodMs * 0.75;
    return isEarly && from !== undefined ? [each.at - from] : [];
  });
  return times.length === 0 ? '' : `, again after ${numberText(Math.min(...times))} ms`;
}
