import { isDeepStrictEqual } from 'node:util';
import { type FaultRule, type FindValue, resolveNames } from '../device/faults/rule.js';
import { FaultRules, type RuleSource } from '../device/faults/rules.js';

/** The fault rules of a simulator: the configured rules, and rules that were added at run time. */
export class FaultControl {
  readonly rules: FaultRules;
  #configured: readonly FaultRule[];

  constructor(configured: readonly FaultRule[], source: RuleSource) {
    this.rules = new FaultRules(source);
    this.#configured = configured;
    for (const rule of configured) this.rules.set(rule);
  }

  /**
   * Restores the configured rules with their counts at zero, as after a restart. A rule for the name of a
   * value is for the value that has this name now: REST may have replaced the device since the file was read.
   * Without such a value, the rule acts on nothing.
   */
  reset(find: FindValue): void {
    for (const { rule } of this.rules.list()) this.rules.remove(rule.name);
    for (const rule of this.#configured) this.#set(rule, find, { ...rule, values: [] });
  }

  /**
   * Makes these rules the configured ones, and puts them in force in place of all others but those of tests.
   * Rules that are in force already keep their counts.
   */
  become(configured: readonly FaultRule[], find: FindValue): void {
    const now = this.rules.list().filter(({ temporary }) => !temporary);
    const isSo = now.length === configured.length && now.every(({ rule }, i) => isSame(configured[i], rule));
    this.#configured = configured;
    if (isSo) return;
    for (const { rule } of now) this.rules.remove(rule.name);
    for (const rule of configured) this.#set(rule, find);
  }

  /**
   * Takes the rules of a configuration that was read again. Rules that it no longer has are removed; new and
   * changed rules are set. Unchanged rules keep their counts. Rules of other origin stay. A name means the
   * running value, if there is one: a device that is defined differently now changes at the next restart.
   * @returns true when the configured rules have changed
   */
  configure(configured: readonly FaultRule[], find: FindValue): boolean {
    const before = new Map(this.#configured.map((rule) => [rule.name, rule]));
    const gone = without(this.#configured, configured);
    const different = configured.filter((rule) => !isSame(before.get(rule.name), rule));
    for (const { name } of gone) this.rules.remove(name);
    for (const rule of different) this.#set(rule, find);
    this.#configured = configured;
    return gone.length > 0 || different.length > 0;
  }

  /** @param otherwise the rule to set when a name has no value */
  #set(rule: FaultRule, find: FindValue, otherwise = rule): void {
    const resolved = resolveNames(rule, find);
    this.rules.set(resolved.ok ? resolved.value : otherwise);
  }
}

/** The rules whose names do not occur in `others`. */
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
