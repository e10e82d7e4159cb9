import type { At } from '../schema/at.js';
import type { Issue } from '../schema/problem.js';
import { conditionSchema } from './condition.js';
import type { FindValue, NamedValue } from './named-value.js';
import type { FaultRule } from './rule.js';

/** A rule with the places of its names, or the first name that no value has. */
export type ResolvedRule =
  | { readonly ok: true; readonly rule: FaultRule }
  | { readonly ok: false; readonly issue: Issue };

/** A rule that has mistakes, as far as the names of its lines and values can be checked. The mistakes were reported. */
export function namesIn(at: At): FaultRule {
  return { name: '', when: at.key('when').fitting(conditionSchema), faults: [] };
}

/** Finds the values that `when.name` of a rule means. */
export function resolveNames(rule: FaultRule, find: FindValue): ResolvedRule {
  const { name } = rule.when;
  if (name === undefined) return { ok: true, rule };
  const values: NamedValue[] = [];
  for (const each of [name].flat()) {
    const found = find(each);
    if (typeof found === 'string') {
      return { ok: false, issue: { path: ['when', 'name'], message: found, code: 'rule.unknown_value' } };
    }
    values.push(found);
  }
  return { ok: true, rule: { ...rule, values } };
}
