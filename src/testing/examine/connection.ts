import type { TrafficEvent } from '../../traffic/event.js';
import type { Exam } from './exam.js';
import type { Disturbance } from './exam-parts.js';
import type { Exchange } from './exchange.js';
import { spoilUntil } from './spoil.js';

/** How long a client may take to come back, in ms, in poll periods and in time-outs. */
const SHORTEST_MS = 30_000;
const PERIODS = 20;
const TIMEOUTS = 10;
const LONGEST_MS = 300_000;

/** What a client did after it had lost its connection. */
export interface AfterLoss {
  /** The request on whose connection the fault acted. */
  readonly spoilt: Exchange;
  /** When the connection was closed, in ms; undefined when the fault closed none. */
  readonly goneAt: number | undefined;
  /** The next request, on another connection; undefined when none came. */
  readonly next: Exchange | undefined;
  /** From the end of the connection to the next one, in ms; undefined when the client had that one already. */
  readonly reconnectedAfterMs: number | undefined;
  readonly evidence: readonly (Exchange | TrafficEvent)[];
}

/** How long a client that has lost its connection is waited for, in ms. */
export function patienceOf({ periodMs, found }: Exam): number {
  const timeouts = TIMEOUTS * (found.timeoutMs?.value ?? 0);
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, PERIODS * periodMs, timeouts));
}

/**
 * Lets a fault end the connection of one poll, and waits until the client asks again.
 * @returns why that could not be done, as a sentence
 */
export async function loseConnection(exam: Exam, faults: Disturbance['faults']): Promise<AfterLoss | string> {
  const limit = patienceOf(exam) + PERIODS * exam.periodMs;
  const first = await spoilUntil(exam, faults, (poll) => elsewhere(exam, poll), limit);
  if (typeof first === 'string') return first;
  const next = elsewhere(exam, first);
  const gone = clientEvent(exam, first.seq, 'client gone', first.request.clientId);
  const connected = next && clientEvent(exam, first.seq, 'client', next.request.clientId);
  return {
    spoilt: first,
    goneAt: gone?.at,
    next,
    reconnectedAfterMs: gone && connected && connected.at - gone.at,
    evidence: [first, gone, connected, next].filter((each) => each !== undefined),
  };
}

/** A client came or went after an event. */
export function clientEvent(
  { log }: Exam,
  seq: number,
  kind: 'client' | 'client gone',
  clientId: number,
): TrafficEvent | undefined {
  return log.othersAfter(seq).find((event) => event.kind === kind && event.clientId === clientId);
}

/** The first request after an exchange that came over another connection, and is one of those of the client. */
function elsewhere({ log, questions }: Exam, { seq, request }: Exchange): Exchange | undefined {
  return log
    .after(seq)
    .find(
      (each) =>
        each.request.clientId !== request.clientId && questions.some(({ key }) => key === each.question),
    );
}
