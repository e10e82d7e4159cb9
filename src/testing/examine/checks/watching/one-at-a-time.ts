import { type Check, fail, inconclusive, pass } from '../../check.js';
import type { Exam } from '../../exam.js';
import { type Exchange, repliedUntil } from '../../exchange.js';
import { numberText } from '../../found.js';
import { usualNext } from '../../reaction.js';

/** Replies are delayed to this part of the time-out, so that no client gives up. */
const PART_OF_TIMEOUT = 0.75;
/** Where the time-out is not known, to this multiple of the time after which the next request usually comes. */
const PART_OF_GAP = 1.5;
/** No client on a serial line gives up after less than this, in ms; the specification names a second and more. */
const SHORTEST_TIMEOUT_MS = 100;
const DELAYED = 3;
const SHORTEST_WAIT_MS = 5_000;
const PERIODS = 10;
const MOST_SHOWN = 4;

/** Nothing is asked while a reply is pending. */
export const oneAtATime: Check = {
  id: 'one-at-a-time',
  group: 'watching',
  title: 'Asks nothing while a reply is pending',
  does: 'Delays three replies by less than the time-out, so that the next poll would be due, and watches for a request meanwhile.',
  matters: 'Two that speak at once on a serial line spoil both frames.',
  rule: 'Passes when no request comes while a reply is pending, fails when one does; inconclusive when the client may have given up the reply before.',
  source: 'Modbus over Serial Line V1.02, 2.1 and 2.4.1',
  transports: ['serial'],
  needs: ['time-out'],
  async run(exam) {
    const collided = overlapping(exam.log.after(0).filter(({ isSpoilt }) => !isSpoilt));
    if (collided.length > 0) return failed('while its device was answering at its usual pace', collided);
    const usual = usualNext(exam);
    if (!usual) return inconclusive('what usually comes after a poll is not known');
    const { timeoutMs } = exam.found;
    const delay = timeoutMs
      ? PART_OF_TIMEOUT * (timeoutMs.value - timeoutMs.plusMinus)
      : PART_OF_GAP * usual.afterMs;
    if (timeoutMs && delay <= usual.afterMs + usual.tolerance) {
      return pass(
        `its next request is due ${numberText(usual.afterMs)} ms after the last one; by then it has a reply or is close to giving up`,
        exam.askedAfter(0).slice(-2),
      );
    }
    if (!(await exam.recover())) return inconclusive('the client did not poll as usual');
    const delayed = await delayReplies(exam, delay);
    if (delayed.length === 0) return inconclusive('no request came that could be disturbed');
    const early = overlapping(exam.log.after((delayed[0] as Exchange).seq - 1));
    const about = `while a reply was pending that came ${numberText(delay)} ms late`;
    if (early.length === 0) return pass(`asked nothing ${about}`, delayed);
    if (timeoutMs || usual.afterMs < SHORTEST_TIMEOUT_MS) return failed(about, early);
    return inconclusive(
      `asked ${about}, but may have given it up before; its time-out is not known`,
      early.flat().slice(0, MOST_SHOWN),
    );
  },
};

async function delayReplies(exam: Exam, delay: number): Promise<readonly Exchange[]> {
  const limit = SHORTEST_WAIT_MS + DELAYED * (delay + PERIODS * exam.periodMs);
  const { spoilt } = await exam.disturb(
    { faults: [{ delay }], count: DELAYED },
    ({ spoilt }) => spoilt.filter(({ reply }) => reply).length >= DELAYED || undefined,
    limit,
  );
  return spoilt;
}

function failed(about: string, pairs: readonly (readonly Exchange[])[]) {
  return fail(
    `asked ${about}, ${pairs.length} times`,
    pairs.flat().slice(0, MOST_SHOWN),
    'asks while a reply is pending',
  );
}

/** Requests that began before the reply to the one before was over, each with that one. */
function overlapping(exchanges: readonly Exchange[]): (readonly [Exchange, Exchange])[] {
  return exchanges.slice(1).flatMap((next, i) => {
    const before = exchanges[i] as Exchange;
    const until = repliedUntil(before);
    const isPending =
      before.reply?.report.ended === 'superseded' || (until !== undefined && next.request.startedAt < until);
    return isPending || next.request.kind === 'dropped' ? [[before, next] as const] : [];
  });
}
