import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { Exchange } from '../traffic/ledger.js';

/** A line, as far as it matters here. */
export interface WatchedLine {
  readonly name: string;
  /** Of one character on the wire, in ms; 0 where there is no wire. */
  readonly characterTime: number;
}

/** Far above what a busy machine or a slow client takes, so that a line is called stuck only when it is; ms. */
const PATIENCE_MS = 60_000;

/** Finds lines that took a request, have decided what to answer, and do not get it done. */
export class StuckLines {
  /** The oldest reply of each line that has not ended, and since when it is the oldest. */
  readonly #oldest = new Map<string, { readonly id: number; readonly since: number }>();

  /**
   * To be called again and again.
   * @param exchanges the newest first
   * @param now in ms
   * @returns names of the lines that are stuck
   */
  look(lines: Iterable<WatchedLine>, exchanges: readonly Exchange[], now: number): string[] {
    const pending = exchanges.filter(({ report }) => report === undefined);
    return Array.from(lines).flatMap(({ name, characterTime }) => {
      const exchange = pending.findLast(({ line }) => line === name);
      if (exchange === undefined) {
        this.#oldest.delete(name);
        return [];
      }
      // A reply waits for those before it, so its time counts from when it became the oldest.
      const known = this.#oldest.get(name);
      const since = known?.id === exchange.id ? known.since : now;
      this.#oldest.set(name, { id: exchange.id, since });
      return now - since > durationOf(exchange.plan, characterTime) + PATIENCE_MS ? [name] : [];
    });
  }
}

/** How long a plan takes when all goes well, in ms; faults can make it an hour. */
function durationOf(plan: ReplyPlan, characterTime: number): number {
  if (plan.kind === 'silence') return 0;
  return plan.steps.reduce((sum, step) => {
    const length =
      step.kind === 'bytes' ? step.bytes.length * characterTime : step.kind === 'break' ? step.ms : 0;
    return sum + step.waitMs + length;
  }, 0);
}
