import { isDeepStrictEqual } from 'node:util';
import type { FaultRule } from '../faults/rule.js';
import { FaultRules } from '../faults/rules.js';

/** The fault rules of a simulator: those of the configuration, and those that come and go while it runs. */
export class FaultControl {
  readonly rules = new FaultRules({ now: () => new Date(), random: Math.random });
  #configured: readonly FaultRule[];

  constructor(configured: readonly FaultRule[]) {
    this.#configured = configured;
    this.reset();
  }

  /** Back to the rules of the configuration, with their counts at zero, as after a restart. */
  reset(): void {
    for (const { rule } of this.rules.list()) this.rules.remove(rule.name);
    for (const rule of this.#configured) this.rules.set(rule);
  }

  /**
   * Takes the rules of a configuration that was read again: what is gone there is removed, what is new or different
   * is set. Rules that are the same there keep their counts, and rules of other origin stay.
   * @returns whether there was a difference
   */
  configure(configured: readonly FaultRule[]): boolean {
    const before = new Map(this.#configured.map((rule) => [rule.name, rule]));
    const gone = without(this.#configured, configured);
    const different = configured.filter((rule) => !isSame(before.get(rule.name), rule));
    for (const { name } of gone) this.rules.remove(name);
    for (const rule of different) this.rules.set(rule);
    this.#configured = configured;
    return gone.length > 0 || different.length > 0;
  }
}

/** The rules whose names are not among those of the others. */
function without(rules: readonly FaultRule[], others: readonly FaultRule[]): FaultRule[] {
  const names = new Set(others.map(({ name }) => name));
  return rules.filter(({ name }) => !names.has(name));
}

function isSame(one: FaultRule | undefined, other: FaultRule): boolean {
  return one !== undefined && isDeepStrictEqual(asWritten(one), asWritten(other));
}

function asWritten({ faults, ...rule }: FaultRule) {
  return { ...rule, faults: faults.map(({ kind, written }) => ({ [kind]: written })) };
}
