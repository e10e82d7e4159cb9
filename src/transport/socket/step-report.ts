import type { StepReport } from '../../protocol/play-report.js';

/**
 * @param achievedAt before the bytes were given to the operating system, so no client can have them earlier. It is not
 * known how long they stay there and on the network, so the uncertainty is not known either.
 */
export function achieved(plannedAt: number, achievedAt: number): StepReport {
  return { plannedAt, achievedAt, uncertainty: undefined, outcome: 'achieved' };
}

/** @param gaveUpAt when it was clear that the step is not done */
export function notAchieved(plannedAt: number, gaveUpAt: number, reason: string): StepReport {
  return { plannedAt, achievedAt: gaveUpAt, uncertainty: undefined, outcome: 'not achieved', reason };
}
