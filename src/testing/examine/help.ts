import type { Exam } from './exam.js';

/** A poll to close the connection after is waited for so long, in ms and in poll periods. */
const SHORTEST_MS = 10_000;
const PERIODS = 5;

/**
 * Gives a client that does not poll as usual a new connection. A client that has lost its place in the stream of
 * replies never finds it again on the old one, and nothing more could be examined.
 * @returns whether it polls as usual now; false at once where there are no connections
 */
export async function helpedByNewConnection(exam: Exam): Promise<boolean> {
  const { kind } = exam.line;
  if (kind !== 'tcp' && kind !== 'tls') return false;
  await exam.disturb(
    { faults: [{ close: 'end' }], count: 1, scope: 'line' },
    ({ spoilt: [first] }) => first?.reply,
    Math.max(SHORTEST_MS, PERIODS * exam.periodMs),
  );
  return exam.recover();
}
