import type { FaultRules } from '../../faults/rules.js';
import { MARK_RULE } from './witness/testimony.js';

/** The fault rules of one examination, among those of the bench. */
export class OwnRules {
  readonly #rules: FaultRules;
  /** Rules that were there before, and are left alone. */
  readonly #others: ReadonlySet<string>;

  constructor(rules: FaultRules) {
    this.#rules = rules;
    this.#others = new Set(rules.list().map(({ rule }) => rule.name));
  }

  /** How often the rules that spoil something have acted. */
  hits(): number {
    const spoiling = this.#list().filter(({ rule }) => rule.name !== MARK_RULE);
    return spoiling.reduce((sum, { hits }) => sum + hits, 0);
  }

  removeAll(): void {
    for (const { rule } of this.#list()) this.#rules.remove(rule.name);
  }

  #list() {
    return this.#rules.list().filter(({ rule }) => isOurs(rule.name) && !this.#others.has(rule.name));
  }
}

/** Names of rules as `Exam.disturb` makes them. */
function isOurs(name: string): boolean {
  return name.startsWith('examine-');
}
