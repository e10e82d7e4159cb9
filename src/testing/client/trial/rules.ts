import { type FaultRule, ruleSchema } from '../../../device/faults/rule.js';
import type { FaultRules, RuleStatus } from '../../../device/faults/rules.js';
import type { OwnRule } from '../heard/exchange.js';

/** A fault rule in file form. It gets its own name when it is put in force. */
interface RuleWanted {
  readonly when: object;
  readonly do?: object | readonly object[];
  readonly seed: number;
  /** False if the rule leaves replies good, as in `OwnRule`; default true. */
  readonly isSpoiling?: boolean;
}

interface Held extends OwnRule {
  /**
   * The conditions of the rule in force. Disabling or enabling a rule keeps this object; another rule with
   * the same name has a different one.
   */
  readonly when: FaultRule['when'];
  /** How many times the rule had acted when the last request came. */
  hits: number;
}

/** The fault rules of one client test. Each is identified by its conditions in force, never by its name alone. */
export class OwnRules {
  readonly #rules: FaultRules;
  readonly #held = new Set<Held>();
  #number = 0;

  constructor(rules: FaultRules) {
    this.#rules = rules;
  }

  /**
   * Puts a rule in force under a unique name.
   * @param about name of the check, for readers of the list of rules
   */
  put(about: string, { isSpoiling = true, ...written }: RuleWanted): OwnRule {
    let name = '';
    do name = `test-${about}-${++this.#number}`;
    while (this.#rules.has(name));
    const { rule: put } = this.#rules.set(ruleSchema.parse({ ...written, name }), { temporary: true });
    const { do: does = [] } = written;
    const faults: readonly object[] = Array.isArray(does) ? does : [does];
    const rule: Held = { name, faults, isSpoiling, hits: 0, when: put.when };
    this.#held.add(rule);
    return rule;
  }

  remove(rule: OwnRule): void {
    const held = [...this.#held].find((each) => each === rule);
    if (!held) return;
    this.#held.delete(held);
    if (this.#statusOf(held)) this.#rules.remove(held.name);
  }

  removeAll(): void {
    for (const rule of this.#held) this.remove(rule);
  }

  /** The altering rule that has acted since the last call. Call it with each request. */
  acted(): OwnRule | undefined {
    let acted: OwnRule | undefined;
    for (const rule of this.#held) {
      if (!rule.isSpoiling) continue;
      const hits = this.#statusOf(rule)?.hits ?? rule.hits;
      if (hits > rule.hits) acted = rule;
      rule.hits = hits;
    }
    return acted;
  }

  /** The status of a rule; undefined if the rule is gone, even if another one now has its name. */
  #statusOf({ name, when }: Held): RuleStatus | undefined {
    const status = this.#rules.get(name);
    return status?.rule.when === when ? status : undefined;
  }
}
