import type { FaultRule } from '../faults/rule.js';
import { FaultRules } from '../faults/rules.js';

/** The fault rules of a simulator: those of the configuration, and those that come and go while it runs. */
export class FaultControl {
  readonly rules = new FaultRules({ now: () => new Date(), random: Math.random });
  readonly #configured: readonly FaultRule[];

  constructor(configured: readonly FaultRule[]) {
    this.#configured = configured;
    this.reset();
  }

  /** Back to the rules of the configuration, with their counts at zero, as after a restart. */
  reset(): void {
    for (const { rule } of this.rules.list()) this.rules.remove(rule.name);
    for (const rule of this.#configured) this.rules.set(rule);
  }
}
