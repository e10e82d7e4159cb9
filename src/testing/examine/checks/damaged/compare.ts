import { type BrokenChain, type Chain, isBroken, likeWhich, runChain } from '../../chain.js';
import type { Exam } from '../../exam.js';
import type { Exchange } from '../../exchange.js';

type Steps = readonly (readonly object[] | undefined)[];

/** What a client did, and how that was found out. */
export interface Compared {
  /** `taken`: it went on as after a good reply. `left`: as without it. `unclear`: both look the same for this client. */
  readonly answer: 'taken' | 'left' | 'unclear';
  readonly chain: Chain;
  readonly evidence: readonly Exchange[];
}

/**
 * Finds out whether a client has taken a reply: it is shown the reply, then what would have been had it not come, and
 * then a good one in its place.
 */
export async function compare(
  exam: Exam,
  { shown, ifLeft, ifTaken }: { readonly shown: Steps; readonly ifLeft: Steps; readonly ifTaken: Steps },
): Promise<Compared | BrokenChain> {
  const chain = await runChain(exam, shown);
  if (isBroken(chain)) return chain;
  const left = await runChain(exam, ifLeft);
  if (isBroken(left)) return left;
  const taken = await runChain(exam, ifTaken);
  if (isBroken(taken)) return taken;
  const like = likeWhich(exam, chain, { good: taken, lost: left });
  const answer = like === 'good' ? 'taken' : like === 'lost' ? 'left' : 'unclear';
  return { answer, chain, evidence: [...chain.asked, chain.next, ...left.asked, left.next] };
}
