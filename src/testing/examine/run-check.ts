import { seesGoodReplies } from './believed.js';
import type { Check, Outcome } from './check.js';
import type { Exam } from './exam.js';
import { helpedByNewConnection } from './help.js';
import { hasSpoiltBytes, quiet } from './quiet.js';

/** What became of a check that was run. */
export type Ended = Outcome | { readonly verdict: 'error'; readonly summary: string };

/** A client that asks nothing for this long, in ms, or for so many poll periods, has stopped. */
const STOPPED_MS = 120_000;
const STOPPED_PERIODS = 5;
/** Bytes that a client has kept are read out by so many requests: half a reply, and what it then takes for another. */
const QUIET_REQUESTS = 2;
/** Frames that show what a client did instead of polling. */
const LAST_FRAMES = 4;

/**
 * Runs one check, and disturbs the client only while it polls as usual.
 * @returns `hasStopped`: the client asked nothing for a long time afterwards
 */
export async function runCheck(
  check: Check,
  exam: Exam,
): Promise<{ readonly outcome: Ended; readonly hasStopped: boolean }> {
  if (check.group === 'watching') return { outcome: await outcomeOf(check, exam), hasStopped: false };
  if (!(await exam.recover()) && !(await helpedByNewConnection(exam))) {
    const summary = 'before the check the client did not poll as usual, so it was not disturbed';
    const evidence = exam.log.after(exam.since).slice(-LAST_FRAMES);
    return { outcome: { verdict: 'inconclusive', summary, evidence }, hasStopped: await polledNoMore(exam) };
  }
  await seesGoodReplies(exam);
  const outcome = await outcomeOf(check, exam);
  if (hasSpoiltBytes(exam)) await quiet(exam, QUIET_REQUESTS);
  const hasStopped = await polledNoMore(exam);
  return { outcome: hasStopped ? stopped(check, outcome) : outcome, hasStopped };
}

async function outcomeOf(check: Check, exam: Exam): Promise<Ended> {
  try {
    return await check.run(exam);
  } catch (error) {
    return { verdict: 'error', summary: `the check itself has failed: ${(error as Error).message}` };
  }
}

async function polledNoMore(exam: Exam): Promise<boolean> {
  const { last } = exam.log;
  const limit = Math.max(STOPPED_MS, STOPPED_PERIODS * exam.periodMs);
  return (await exam.until(() => exam.askedAfter(last)[0], limit)) === undefined;
}

/** A check that a client does not survive has failed, whatever it was about. */
function stopped({ title }: Check, outcome: Ended): Ended {
  if (outcome.verdict === 'fail' || outcome.verdict === 'error') return outcome;
  const summary = `${outcome.summary}; afterwards the client polled no more`;
  return { ...outcome, verdict: 'fail', summary, conclusion: `polls no more after the check "${title}"` };
}
