import type { Exam } from './exam.js';
import type { Disturbance } from './exam-parts.js';
import type { Exchange } from './exchange.js';

/** How long a fault waits for its request, in poll periods, and at least in ms. */
const PERIODS = 5;
const SHORTEST_MS = 5_000;
/** What the client does next is waited for as long as this, besides its time-out. */
const NEXT_MS = 10_000;

/** What a client did after one spoilt reply. */
export interface AfterSpoilt {
  readonly spoilt: Exchange;
  /** The next request of the client, and when it came after the spoilt one, in ms; undefined when none came. */
  readonly next: Exchange | undefined;
  readonly afterMs: number | undefined;
  /** The exchanges that show it. */
  readonly evidence: readonly Exchange[];
}

/**
 * Spoils the reply to one poll and waits for the next request.
 * @returns why that could not be done, as a sentence
 */
export async function spoilOne(exam: Exam, faults: Disturbance['faults']): Promise<AfterSpoilt | string> {
  const { value: timeout = 0 } = exam.found.timeoutMs ?? {};
  const limit = Math.max(SHORTEST_MS, PERIODS * exam.periodMs) + timeout + NEXT_MS;
  const spoilt = await spoilUntil(exam, faults, (first) => nextOf(exam, first), limit);
  if (typeof spoilt === 'string') return spoilt;
  const next = nextOf(exam, spoilt);
  return {
    spoilt,
    next,
    afterMs: next && next.at - spoilt.at,
    evidence: next ? [spoilt, next] : [spoilt],
  };
}

/**
 * Spoils the reply to one poll and waits until something is found after it, or `limitMs` are over.
 * @returns the poll, or why that could not be done, as a sentence
 */
export async function spoilUntil(
  exam: Exam,
  faults: Disturbance['faults'],
  find: (spoilt: Exchange) => Exchange | undefined,
  limitMs: number,
): Promise<Exchange | string> {
  const { spoilt, notAchieved } = await exam.disturb(
    { faults, count: 1 },
    ({ spoilt: [first] }) => first && find(first),
    limitMs,
  );
  const [first] = spoilt;
  if (!first) return 'no request came that could be disturbed';
  return notAchieved === undefined ? first : `the fault could not act: ${notAchieved}`;
}

/** The first request of the same client after an exchange. On TCP it may have connected anew for it. */
export function nextOf(exam: Exam, { seq, request: { clientId } }: Exchange): Exchange | undefined {
  const after = exam.log.after(seq);
  if (clientId === 0) return after[0];
  const same = after.find(({ request }) => request.clientId === clientId);
  if (same) return same;
  const others = new Set(
    exam.log.newest().flatMap((each) => (each.seq < seq ? [each.request.clientId] : [])),
  );
  return after.find(({ request }) => !others.has(request.clientId));
}
