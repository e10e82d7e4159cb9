import type { Exchange } from '../heard/exchange.js';
import { suppressReplies } from './chain.js';
import type { Exam } from './exam.js';
import type { Seen } from './value-oracle.js';
import { DECIDES, type Evidence, type Trial } from './verdict.js';

/** Whether a client took the values of spoilt replies, as its observer has shown it. */
export interface AcceptedValue {
  /** As of `Seen`; `unknown` without an observer that could be asked. */
  readonly kind: Seen['kind'] | 'unknown';
  /** What the observer showed, or why that is not known, as part of a sentence. */
  readonly text: string;
  /** The observer did not come back to the true value, although the replies were good again. */
  readonly isForEver: boolean;
  readonly evidence: Evidence;
}

/** A client that reads less than comes falls behind further with each reply, so it may have kept many. */
const MANY_REQUESTS = 100;
/** A client whose time-out and attempts are not known yet is taken for this one. */
const USUAL_TIMEOUT_MS = 1_000;
const USUAL_ATTEMPTS = 3;

/**
 * Waits until the observer shows the value of good replies, so that a fault can be blamed when it does so no more. A client
 * that an earlier fault has put out of step is given requests without a reply.
 */
export async function seesGoodReplies(exam: Exam): Promise<void> {
  const { values } = exam;
  if (!values || (await values.ready(exam)) !== undefined) return;
  if (!(await values.follows(exam))) {
    await suppressReplies(exam, MANY_REQUESTS);
    await values.follows(exam);
  }
  values.rest();
}

/**
 * Asks the observer whether the client takes spoilt replies for good ones. All replies to the question are spoilt for a
 * while, and carry a value of their own: an observer that is slow to follow would miss a single one.
 * @param faults what spoils the replies, or makes it for the mark that they carry
 * @param isVoid any client would take the spoilt reply to this request, so nothing is shown
 */
export async function acceptedValue(
  exam: Exam,
  faults: readonly object[] | ((mark: object) => readonly object[]),
  isVoid: (spoilt: Exchange) => boolean = () => false,
): Promise<AcceptedValue> {
  const { values } = exam;
  if (!values) return unknown('there is no observer of its values');
  const unusable = await values.ready(exam);
  if (unusable !== undefined) return unknown(unusable);
  if (!values.isFollowing) return unknown('the observer did not follow good replies before the check');
  const [before, sent, after] = values.threeMarks();
  if (!(await values.settles(exam, before))) {
    values.rest();
    return unknown('the observer did not follow the values of good replies');
  }
  values.mark(sent);
  const { found, parts, periodMs } = exam;
  const wait = parts.known.waitMs ?? found.timeoutMs?.value ?? USUAL_TIMEOUT_MS;
  // Time for one poll with all its attempts.
  const limit = values.patienceMs + periodMs + (found.attempts ?? USUAL_ATTEMPTS) * wait;
  let seen: Seen | undefined;
  void values.watch(exam, { before, sent }, limit).then((result) => {
    seen = result;
  });
  const wanted = typeof faults === 'function' ? faults(values.faultFor(sent)) : faults;
  const { spoilt } = await exam.disturb({ faults: wanted }, () => seen, limit);
  values.mark(after);
  const isBack =
    (await exam.recover()) && ((await values.settles(exam, after)) || (await values.settles(exam, after)));
  values.rest();
  if (spoilt.length === 0) return unknown('no request came while the observer was watched');
  if (spoilt.some(isVoid)) return unknown('a spoilt reply fitted its request');
  if (seen?.kind === 'sent' && spoilt.some(isUnspoilt)) {
    return unknown('the fault could not act on one of the replies, so that one was good');
  }
  const { kind, text } = seen ?? { kind: 'kept', text: values.textOf(before) };
  return { kind, text: textOf(kind, text), isForEver: !isBack, evidence: spoilt.slice(0, 3) };
}

/** What it says of a client that its observer has kept its value, or shows that of the spoilt reply, or another one. */
export type ValueMeaning = Readonly<Record<Seen['kind'], Trial['shows']>>;

/** A value that was seen counts as two trials on the line. */
const SEEN = 2;

interface ValueBlame {
  /** What the client was shown. */
  readonly what: string;
  /** What is wrong with one that takes it, for the first page. */
  readonly blame: string;
  /** See `acceptedValue`. */
  readonly isVoid?: (spoilt: Exchange) => boolean;
}

/** One trial that looks at the values. */
export async function valueTrial(
  exam: Exam,
  faults: Parameters<typeof acceptedValue>[1],
  meaning: ValueMeaning,
  { what, blame, isVoid }: ValueBlame,
): Promise<Trial> {
  const { kind, text, isForEver, evidence } = await acceptedValue(exam, faults, isVoid);
  const trial = { text, evidence, isOfValues: true };
  if (kind === 'unknown') return { ...trial, shows: 'unclear' };
  const shows = meaning[kind];
  if (shows === 'wrong') {
    const ever = isForEver ? ', and did not come back to the true value' : '';
    return { ...trial, shows, text: `${text}${ever}`, weight: SEEN, conclusion: blame };
  }
  if (!isForEver) return { ...trial, shows, weight: SEEN };
  const lost = 'the observer did not follow the good replies afterwards';
  return {
    ...trial,
    shows: 'wrong',
    text: lost,
    weight: DECIDES,
    conclusion: `keeps an old value after ${what}`,
  };
}

/** A fault of the examination could not act on its reply, which then carried the mark as a good one. */
function isUnspoilt({ reply }: Exchange): boolean {
  return reply?.acted.some(({ notAchieved }) => notAchieved !== undefined) === true;
}

function textOf(kind: Seen['kind'], text: string): string {
  if (kind === 'kept') return 'the observer kept its value';
  const quoted = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  const whose = kind === 'sent' ? 'the value of the spoilt reply' : 'which no good reply carried';
  return `the observer then showed ${quoted}, ${whose}`;
}

function unknown(text: string): AcceptedValue {
  return { kind: 'unknown', text, isForEver: false, evidence: [] };
}
