import type { RuleView } from '../../../api/v1/rule-view.js';

/** How a rule is, in a word. `spent`: it has acted as often as it may. `not now`: its times do not allow it. */
export function stateOf({ enabled, open, remaining }: RuleView): 'armed' | 'not now' | 'spent' | 'off' {
  if (!enabled) return 'off';
  if (remaining === 0) return 'spent';
  return open ? 'armed' : 'not now';
}

/** Which requests a rule is for: `line lan · function 3, 4 · count 1`. */
export function conditionText({ when, schedule }: Pick<RuleView, 'when' | 'schedule'>): string {
  const parts = Object.entries(when).map(([key, value]) => `${key} ${valueText(value)}`);
  if (schedule) parts.push(`schedule ${schedule.map(valueText).join(', ')}`);
  return parts.length > 0 ? parts.join(' · ') : 'every request';
}

/** What a rule does: `delay 250, crc invert`. */
export function faultsText({ do: faults }: Pick<RuleView, 'do'>): string {
  return faults
    .flatMap((fault) => Object.entries(fault))
    .map(([kind, value]) => (value === true ? kind : `${kind} ${valueText(value)}`))
    .join(', ');
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([key, each]) => `${key} ${valueText(each)}`);
  return `(${parts.join(', ')})`;
}
