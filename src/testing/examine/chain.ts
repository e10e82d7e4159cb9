import type { Exam } from './exam.js';
import { type Exchange, repliedUntil } from './exchange.js';
import { jitterOf } from './pace.js';
import { nextOf } from './spoil.js';

/** The reply is lost on its way, although the device has executed the request. */
export const LOST = [{ truncate: 0 }] as const;
/** The reply comes as it should. */
export const GOOD = undefined;

/** Requests that the client sent one after the other, and the one that came then. */
export interface Chain {
  readonly asked: readonly Exchange[];
  readonly next: Exchange;
  /** From the last of `asked` to `next`, in ms. */
  readonly afterMs: number;
}

/** Why a chain did not come about: the client asked nothing more, or something else came between. */
export interface BrokenChain {
  readonly isEnd: boolean;
  readonly why: string;
  readonly asked: readonly Exchange[];
}

/** Each request is waited for so long, in ms, and for so many poll periods. */
const NEXT_MS = 30_000;
const NEXT_PERIODS = 3;
/** Times are the same when they differ by no more than this, in ms, besides the jitter of the client. */
const FINEST_MS = 2;

/**
 * Treats requests that follow each other, beginning with a poll of the target. Two chains that differ in a single step
 * show what this client does about that step, whatever its rhythm is.
 * @param steps the faults on the reply to each request
 */
export async function runChain(
  exam: Exam,
  steps: readonly (readonly object[] | undefined)[],
): Promise<Chain | BrokenChain> {
  await exam.recover(1);
  const limit = NEXT_MS + NEXT_PERIODS * exam.periodMs;
  const asked: Exchange[] = [];
  const { last } = exam.log;
  const broken = (why: string, isEnd = false) => ({ isEnd, why, asked });
  const find = () => {
    const before = asked.at(-1);
    return before ? nextOf(exam, before) : exam.askedAfter(last)[0];
  };
  for (const faults of steps) {
    const scope = asked.length === 0 ? 'question' : 'line';
    const wanted = faults && ({ faults, count: 1, scope } as const);
    const done = wanted && (await exam.disturb(wanted, ({ spoilt: [first] }) => first, limit));
    const came = await exam.until(find, done ? 0 : limit);
    if (!came) return broken('asked nothing more', asked.length > 0);
    if (done && done.result !== came) return broken('another client asked in between');
    if (done?.notAchieved !== undefined) return broken(`the fault could not act: ${done.notAchieved}`);
    asked.push(came);
  }
  const next = await exam.until(find, limit);
  if (!next) return broken('asked nothing more', true);
  return { asked, next, afterMs: next.at - (asked.at(-1) as Exchange).at };
}

export function isBroken<Whole extends object>(chain: Whole | BrokenChain): chain is BrokenChain {
  return 'why' in chain;
}

/**
 * Whether a client went on as after a good reply, or as without one; undefined when that can't be told.
 * @param good the same chain with a good reply at its end
 * @param lost the same chain without a reply at its end
 */
export function likeWhich(
  exam: Exam,
  chain: Chain,
  { good, lost }: { readonly good: Chain; readonly lost: Chain },
): 'good' | 'lost' | undefined {
  const questionsOf = ({ asked }: Chain) => asked.map(({ question }) => question).join();
  if (new Set([chain, good, lost].map(questionsOf)).size > 1) return undefined;
  const tolerance = FINEST_MS + 2 * jitterOf(exam);
  // A client that takes what is in its buffer goes on before a reply could have come.
  const earlier = tolerance + replyTime(good.asked.at(-1));
  const isNear = ({ next, afterMs }: Chain, to: Chain, before: number) => {
    const difference = afterMs - to.afterMs;
    return next.question === to.next.question && difference >= -before && difference <= tolerance;
  };
  if (isNear(lost, good, earlier + tolerance) || isNear(good, lost, 2 * tolerance)) return undefined;
  if (isNear(chain, good, earlier)) return 'good';
  return isNear(chain, lost, tolerance) ? 'lost' : undefined;
}

/** From a request to the end of its reply, in ms. */
function replyTime(exchange: Exchange | undefined): number {
  if (!exchange) return 0;
  return (repliedUntil(exchange) ?? exchange.at) - exchange.at;
}
