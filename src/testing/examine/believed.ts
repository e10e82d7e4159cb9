import type { Outcome } from './check.js';
import type { Exam } from './exam.js';
import type { Exchange } from './exchange.js';
import { quiet } from './quiet.js';
import type { Seen } from './witness/testimony.js';

/** Whether a client took the values of spoilt replies, as the witness has shown it. */
export interface Believed {
  /** As of `Seen`; `unknown` without a witness that could be asked. */
  readonly kind: Seen['kind'] | 'unknown';
  /** What the witness showed, or why that is not known, as part of a sentence. */
  readonly text: string;
  /** The witness did not come back to the true value, although the replies were good again. */
  readonly isForEver: boolean;
  readonly evidence: Outcome['evidence'];
}

/** A client that reads less than comes falls behind further with each reply, so it may have kept many. */
const MANY_REQUESTS = 100;
/** The client is given time for so many rounds of attempts while its replies are spoilt. */
const ROUNDS = 2;
/** A client whose time-out and attempts are not known yet is taken for this one. */
const USUAL_TIMEOUT_MS = 1_000;
const USUAL_ATTEMPTS = 3;

/**
 * Waits until the witness shows the value of good replies, so that a fault can be blamed when it does so no more. A client
 * that an earlier fault has put out of step is given requests without a reply.
 */
export async function seesGoodReplies(exam: Exam): Promise<void> {
  const { testimony } = exam;
  if (!testimony || (await testimony.ready(exam)) !== undefined) return;
  if (!(await testimony.follows(exam))) {
    await quiet(exam, MANY_REQUESTS);
    await testimony.follows(exam);
  }
  testimony.rest();
}

/**
 * Asks the witness whether the client takes spoilt replies for good ones. All replies to the question are spoilt for a
 * while, and carry a value of their own: a witness that is slow to follow would miss a single one.
 * @param faults what spoils the replies, or makes it for the mark that they carry
 */
export async function believed(
  exam: Exam,
  faults: readonly object[] | ((mark: object) => readonly object[]),
): Promise<Believed> {
  const { testimony } = exam;
  if (!testimony) return unknown('there is no witness');
  const unusable = await testimony.ready(exam);
  if (unusable !== undefined) return unknown(unusable);
  if (!testimony.isFollowing) return unknown('the witness did not follow good replies before the check');
  const [before, sent, after] = testimony.threeMarks();
  if (!(await testimony.settles(exam, before))) {
    testimony.rest();
    return unknown('the witness did not follow the values of good replies');
  }
  testimony.mark(sent);
  const { timeoutMs, attempts = USUAL_ATTEMPTS } = exam.found;
  const round = exam.periodMs + attempts * (timeoutMs?.value ?? USUAL_TIMEOUT_MS);
  const limit = testimony.patienceMs + ROUNDS * round;
  let seen: Seen | undefined;
  void testimony.watch(exam, { before, sent }, limit).then((result) => {
    seen = result;
  });
  const wanted = typeof faults === 'function' ? faults(testimony.faultFor(sent)) : faults;
  const { spoilt } = await exam.disturb({ faults: wanted }, () => seen, limit);
  testimony.mark(after);
  const isBack = (await exam.recover()) && (await testimony.settles(exam, after));
  testimony.rest();
  if (spoilt.length === 0) return unknown('no request came while the witness was watched');
  if (seen?.kind === 'sent' && spoilt.some(isUnspoilt)) {
    return unknown('the fault could not act on one of the replies, so that one was good');
  }
  const { kind, text } = seen ?? { kind: 'kept', text: testimony.textOf(before) };
  return {
    kind,
    text:
      kind === 'kept'
        ? `the witness kept its value`
        : `the witness then showed ${quoted(text)}${known(kind)}`,
    isForEver: !isBack,
    evidence: spoilt.slice(0, 3),
  };
}

/** A fault of the examination could not act on its reply, which then carried the mark as a good one. */
function isUnspoilt({ reply }: Exchange): boolean {
  return reply?.acted.some(({ notAchieved }) => notAchieved !== undefined) === true;
}

function known(kind: 'sent' | 'other'): string {
  return kind === 'sent' ? ', the value of the spoilt reply' : ', which no good reply carried';
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

function unknown(text: string): Believed {
  return { kind: 'unknown', text, isForEver: false, evidence: [] };
}
