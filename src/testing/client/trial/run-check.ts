import { durationText } from '../../report/words.js';
import type { Check, Exam } from './exam.js';
import { type EndedCheck, LAST_FRAMES, sure } from './verdict.js';

/** How long to wait for a poll after which the connection is closed, in ms and in poll periods, whichever is longer. */
const HELP_MS = 10_000;
const HELP_PERIODS = 5;

/** Runs one check, and disturbs the client only while it polls as usual. */
export async function runCheck(check: Check, exam: Exam): Promise<EndedCheck> {
  if (check.beside !== 'watches') {
    if (!(await pollsAsUsual(exam))) {
      const text = 'the client did not poll as usual before the check, so it was not disturbed';
      return sure('unclear', text, exam.log.after(exam.since).slice(-LAST_FRAMES));
    }
    exam.wasSlow = !(await exam.pollsInTime());
    await seesGoodReplies(exam);
  }
  try {
    return await check.run(exam);
  } catch (error) {
    return { verdict: 'error', summary: `the check itself failed: ${(error as Error).message}` };
  }
}

/**
 * How many requests get no reply. A client that reads more slowly than replies arrive falls further behind
 * with each reply, so it may have kept many.
 */
const MANY_REQUESTS = 100;

/**
 * Waits until the observer shows the value of good replies, so that a fault can be blamed if it stops doing
 * so. If an earlier fault has put the client out of step, it gets requests without a reply.
 */
async function seesGoodReplies(exam: Exam): Promise<void> {
  const { values } = exam.client;
  if (!values || (await values.ready(exam)) !== undefined) return;
  if (await values.follows(exam)) return;
  await exam.suppressReplies(MANY_REQUESTS);
  // It may be waiting for the rest of a reply that never comes.
  if (!(await values.follows(exam)) && (await helpedByNewConnection(exam))) await values.follows(exam);
  // Such a client may continue without a reply as it does after one.
  for (const each of exam.log.after(exam.since)) each.isStuck = true;
}

/**
 * Waits until the client polls as usual. If it does not, helps it with a new connection, and then accepts any
 * polls as usual.
 */
async function pollsAsUsual(exam: Exam): Promise<boolean> {
  const { client } = exam;
  const { isLost } = client;
  if (!client.isDisturbed || (!isLost && (await exam.recover()))) return true;
  client.isLost = false;
  for (const each of exam.log.after(exam.log.usualUntil)) each.isStuck = true;
  const { target, periodMs } = exam;
  const since = exam.askedAfter(exam.since);
  const arrivals =
    since.length === 0 ? 'no such poll' : since.length === 1 ? '1 such poll' : `${since.length} such polls`;
  const every = `${target.text} every ${durationText(Math.round(periodMs))}`;
  const came = isLost ? '' : `; ${arrivals} in ${waited(exam)}`;
  client.note(`waiting for the client to poll as before, ${every}${came}`);
  if (await helpedByNewConnection(exam)) return true;
  if (client.isWithoutRhythm) return false;
  client.lostRhythm();
  if (!(await exam.recover())) return false;
  client.note(
    'the client polls in a different rhythm than before; checks that do not need the rhythm still run',
  );
  return true;
}

function waited({ clock, log, since }: Exam): string {
  const last = log.newest().findLast(({ seq }) => seq <= since);
  return durationText(Math.round(clock.now() - (last?.at ?? clock.now())));
}

/**
 * Gives a client that does not poll as usual a new connection. A client that has lost its place in the stream
 * of replies never finds it again on the old one, and nothing more could be tested.
 * @returns whether the client now polls as usual; false at once if there are no connections
 */
export async function helpedByNewConnection(exam: Exam): Promise<boolean> {
  const { kind } = exam.client.line;
  if (kind !== 'tcp' && kind !== 'tls') return false;
  await exam.disturb(
    { faults: [{ close: 'end' }], count: 1, scope: 'line', isHelp: true },
    ({ spoilt: [first] }) => first?.reply,
    Math.max(HELP_MS, HELP_PERIODS * exam.periodMs),
  );
  return exam.recover();
}

/**
 * Describes how a client exited: a headline with its exit code and last line, and a string with everything
 * known.
 * @param after what the client met last: `after exception 4`
 */
export function crashOf(how: string, after?: string): { readonly headline: string; readonly text: string } {
  const lines = how.split('\n').map((line) => line.trim());
  const [exit = how] = /exit code \d+|killed by \w+|could not be started.*/.exec(lines[0] ?? '') ?? [];
  const verb = exit === 'exit code 0' ? 'ended' : 'crashed';
  const when = after === undefined ? '' : ` ${after}`;
  // Node prints its version at the end of a stack trace.
  const last = lines.slice(1).findLast((line) => line !== '' && !/^Node\.js v/.test(line));
  return {
    headline: `${verb}${when}: ${exit}${last === undefined ? '' : `, last line ${JSON.stringify(last)}`}`,
    text: `${verb}${when}: ${how}`,
  };
}
