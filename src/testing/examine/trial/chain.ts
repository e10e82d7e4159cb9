import type { Exchange } from '../heard/exchange.js';
import type { Exam } from './exam.js';
import { type Continuation, continuationOf, LOST, type Treatment } from './observation.js';

/** Requests that the client sent one after the other, each treated as was wanted, and how it went on after them. */
export interface Chain {
  readonly asked: readonly Exchange[];
  readonly continuation: Continuation;
}

/** Why a chain did not come about. */
export interface BrokenChain {
  /** `gone`: the client asked nothing any more. `stuck`: it did not poll as usual, so nothing was tried. */
  readonly kind: 'gone' | 'stuck' | 'other';
  readonly why: string;
  readonly asked: readonly Exchange[];
}

/** Each request is waited for so long, in ms, and for so many poll periods, and as many waits for a reply. */
const NEXT_MS = 30_000;
const NEXT_TIMES = 3;
/** A client that is not known yet may wait so long for a reply, in ms. */
const LONG_WAIT_MS = 15_000;

/**
 * How long the next request of the client is waited for, in ms.
 * @param waitMs how long it waits for a reply, where that is not known
 */
export function patienceOf({ periodMs, parts: { known } }: Exam, waitMs = 0): number {
  return NEXT_MS + NEXT_TIMES * (periodMs + (known.waitMs ?? waitMs));
}

/**
 * Treats requests that follow each other, beginning with a poll of the target while the client polls as usual.
 * @param moreMs the treatments themselves may take so long
 */
export async function runChain(
  exam: Exam,
  treatments: readonly Treatment[],
  moreMs = 0,
): Promise<Chain | BrokenChain> {
  const broken = (why: string, kind: BrokenChain['kind'] = 'other'): BrokenChain => ({ kind, why, asked });
  const asked: Exchange[] = [];
  if (!(await exam.recover(1))) return broken('did not poll as usual', 'stuck');
  const limit = patienceOf(exam, LONG_WAIT_MS) + moreMs;
  const { last } = exam.log;
  const find = () => {
    const before = asked.at(-1);
    return before ? exam.log.nextOf(before) : exam.askedAfter(last)[0];
  };
  for (const treatment of treatments) {
    const scope = asked.length === 0 ? 'question' : 'line';
    const done =
      treatment === 'good'
        ? undefined
        : await exam.disturb({ faults: treatment, count: 1, scope }, ({ spoilt: [first] }) => first, limit);
    const came = await exam.until(find, done ? 0 : limit);
    if (!came)
      return broken(
        `asked nothing more for ${Math.round(limit / 1000)} s`,
        asked.length > 0 ? 'gone' : 'stuck',
      );
    if (done && done.result !== came) return broken('another client asked in between');
    asked.push(came);
  }
  const of = asked.at(-1) as Exchange;
  // The reply must be over, too: only then it is known whether the fault could act.
  const isOver = () => (of.reply ? continuationOf(exam, of) : undefined);
  const continuation = await exam.until(isOver, limit);
  const failed = asked.flatMap((each) => whyNotActed(each) ?? []);
  if (failed[0] !== undefined) return broken(`the fault could not act: ${failed[0]}`);
  return continuation
    ? { asked, continuation }
    : broken(`asked nothing more for ${Math.round(limit / 1000)} s`, 'gone');
}

function whyNotActed({ rule, reply }: Exchange): string | undefined {
  const acted = reply?.acted.filter((each) => each.rule === rule?.name) ?? [];
  return acted.some(({ notAchieved }) => notAchieved === undefined) ? undefined : acted[0]?.notAchieved;
}

export function isBroken<Whole extends object>(chain: Whole | BrokenChain): chain is BrokenChain {
  return 'why' in chain;
}

/** With a client that polls seldom this would take too long, in ms. */
const SLOWEST_MS = 10_000;
const QUIET_PERIODS = 5;

/**
 * Leaves some requests without a reply. A client that has kept bytes, or a whole reply, takes them for the answer to its
 * next request and stays behind for ever. Where that request gets no reply of its own, nothing is left to be behind with.
 */
export async function suppressReplies(exam: Exam, requests: number): Promise<void> {
  if (exam.periodMs > SLOWEST_MS) return;
  await exam.disturb(
    { faults: LOST, count: requests, scope: 'line' },
    ({ spoilt }) => spoilt.length >= requests || undefined,
    NEXT_MS + QUIET_PERIODS * exam.periodMs,
  );
}
