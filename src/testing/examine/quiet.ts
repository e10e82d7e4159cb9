import type { Exam } from './exam.js';
import { repliedFrom } from './exchange.js';

/** With a client that polls seldom this would take too long, in ms. */
const SLOWEST_MS = 10_000;
/** Requests to leave out are waited for so long, in ms and in poll periods. */
const LONGEST_MS = 30_000;
const PERIODS = 5;

/**
 * Leaves some requests without a reply. A client that has kept bytes, or a whole reply, takes them for the answer to its
 * next request and stays behind for ever. Where that request gets no reply of its own, nothing is left to be behind with.
 */
export async function quiet(exam: Exam, requests: number): Promise<void> {
  if (exam.periodMs > SLOWEST_MS) return;
  await exam.disturb(
    { faults: [{ silence: true }], count: requests, scope: 'line' },
    ({ spoilt }) => spoilt.length >= requests || undefined,
    LONGEST_MS + PERIODS * exam.periodMs,
  );
}

/** Whether spoilt replies were sent since the check began, whose bytes the client may have kept. */
export function hasSpoiltBytes({ log, since }: Exam): boolean {
  return log.after(since).some((exchange) => exchange.isSpoilt && repliedFrom(exchange) !== undefined);
}
