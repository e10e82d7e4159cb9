import type { RuleView } from '../../../control/schemas/fault.js';

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

/** So many parts of a list are told. The form has all of them. */
const MOST_TOLD = 12;

/** What a rule does: `delay 250, crc invert`. */
export function faultsText({ do: faults }: Pick<RuleView, 'do'>): string {
  const parts = faults
    .flatMap((fault) => Object.entries(fault))
    .map(([kind, value]) => (value === true ? kind : `${kind} ${valueText(value)}`));
  return listText(parts);
}

/** `a, b … 40 more`. */
function listText(parts: readonly string[]): string {
  const more = parts.length - MOST_TOLD;
  return more > 0 ? `${parts.slice(0, MOST_TOLD).join(', ')} … ${more} more` : parts.join(', ');
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return listText(value.map(valueText));
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([key, each]) => `${key} ${valueText(each)}`);
  return `(${parts.join(', ')})`;
}
