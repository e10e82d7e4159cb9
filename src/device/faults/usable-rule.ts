import type { Issue } from '../../common/schema/problem.js';
import type { FaultLine } from './ability.js';
import { type FaultRule, type FindValue, lineProblems, resolveNames } from './rule.js';

/** The lines and the named values that a rule is checked against. */
export interface RuleHome {
  /** The lines; undefined where some lines are not known, and the rule may be for one of them. */
  readonly lines: readonly FaultLine[] | undefined;
  /** Finds the named values; undefined where some values are not known. */
  readonly find: FindValue | undefined;
}

export type UsableRule =
  | { readonly ok: true; readonly rule: FaultRule }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Decides whether a rule can be used here; no other place does. A usable rule has the addresses of the values
 * that it names. Otherwise the issues say what is missing, with paths in the rule.
 */
export function usableRule(rule: FaultRule, { lines, find }: RuleHome): UsableRule {
  const issues = lines ? lineProblems(rule, lines) : [];
  const resolved = find ? resolveNames(rule, find) : { ok: true as const, rule };
  if (!resolved.ok) return { ok: false, issues: [...issues, resolved.issue] };
  return issues.length > 0 ? { ok: false, issues } : resolved;
}
