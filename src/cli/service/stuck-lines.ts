import type { ReplyPlan } from '../../modbus/protocol/reply-plan.js';

/** The properties of a line that {@link StuckLines} needs. */
export interface WatchedLine {
  readonly name: string;
  /** Time of one character on the wire, in ms; 0 when the line has no wire. */
  readonly characterTime: number;
  /** The reply plan that has been playing for longest; the same object on each look. */
  readonly oldestPlan: ReplyPlan | undefined;
}

/**
 * Time in ms after which an overdue reply counts as stuck. It is far above the delays of a busy machine or a
 * slow client.
 */
const PATIENCE_MS = 60_000;

/** Finds lines that have planned a reply but do not finish playing it. */
export class StuckLines {
  /** The oldest unfinished reply of each line, and the time in ms since when it has been the oldest. */
  readonly #oldest = new Map<string, { readonly plan: ReplyPlan; readonly since: number }>();

  /**
   * Finds stuck lines. Call regularly.
   * @param now in ms
   * @returns names of the lines that are stuck
   */
  look(lines: Iterable<WatchedLine>, now: number): string[] {
    return Array.from(lines).flatMap(({ name, characterTime, oldestPlan: plan }) => {
      if (plan === undefined) {
        this.#oldest.delete(name);
        return [];
      }
      // A reply waits for those before it, so its time counts from the moment when it became the oldest.
      const known = this.#oldest.get(name);
      const since = known?.plan === plan ? known.since : now;
      this.#oldest.set(name, { plan, since });
      return now - since > durationOf(plan, characterTime) + PATIENCE_MS ? [name] : [];
    });
  }
}

/** The time that a plan takes when nothing delays it, in ms. Faults can make a plan last an hour. */
function durationOf(plan: ReplyPlan, characterTime: number): number {
  if (plan.kind === 'silence') return 0;
  return plan.steps.reduce((sum, step) => {
    const length =
      step.kind === 'bytes' ? step.bytes.length * characterTime : step.kind === 'break' ? step.ms : 0;
    return sum + step.waitMs + length;
  }, 0);
}
