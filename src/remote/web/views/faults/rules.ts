import { type Answer, pathOf } from '../../../../common/rest-client/client.js';
import type { RuleView } from '../../../../simulator/commands/schemas/fault.js';
import { ask } from '../../api.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { together } from '../../ui/element.js';

/** The rules, in the order in which they act. */
export const rules = resource(
  () => '/faults',
  ({ faults }: { readonly faults: readonly RuleView[] }) => faults,
  () => summary.value?.faults,
);

/**
 * Interval in ms in which rules are read while one has windows of time, which open and close without a change
 * of the summary.
 */
const CLOCK_MS = 5000;

/** Reads the rules whenever they may have changed, until the function that is returned is called. */
export function followRules(): () => void {
  const isTimed = ({ when, schedule }: RuleView) => schedule !== undefined || 'from' in when || 'for' in when;
  const timer = setInterval(() => {
    if (rules.current.peek()?.some(isTimed)) void rules.read();
  }, CLOCK_MS);
  return together(rules.follow(), () => clearInterval(timer));
}

/** Changes the rules, and then reads them. */
export async function change<Value>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  parts: readonly string[],
  body?: object,
): Promise<Answer<Value>> {
  const answer = await ask<Value>(method, pathOf('faults', ...parts), body);
  if (answer.ok) await rules.read();
  return answer;
}

/** A rule as a user writes it, without counts and state. */
export function written({ name, enabled, when, schedule, do: faults, seed }: RuleView): object {
  return { name, ...(!enabled && { enabled }), when, ...(schedule && { schedule }), do: faults, seed };
}

/** The state of a rule. `spent`: it has acted as often as it may. `not now`: its times do not allow it. */
export function stateOf({ enabled, open, remaining }: RuleView): 'armed' | 'not now' | 'spent' | 'off' {
  if (!enabled) return 'off';
  if (remaining === 0) return 'spent';
  return open ? 'armed' : 'not now';
}

/** The conditions of a rule in words: `line lan · function 3, 4 · count 1`. */
export function conditionText({ when, schedule }: Pick<RuleView, 'when' | 'schedule'>): string {
  const parts = Object.entries(when).map(([key, value]) => `${key} ${valueText(value)}`);
  if (schedule) parts.push(`schedule ${schedule.map(valueText).join(', ')}`);
  return parts.length > 0 ? parts.join(' · ') : 'every request';
}

/** The faults of a rule in words: `delay 250, crc invert`. */
export function faultsText({ do: faults }: Pick<RuleView, 'do'>): string {
  const parts = faults
    .flatMap((fault) => Object.entries(fault))
    .map(([kind, value]) => (value === true ? kind : `${kind} ${valueText(value)}`));
  return listText(parts);
}

/** Most parts of a list that are shown; the others are counted. The form has all of them. */
const MOST_SHOWN = 12;

/** A list in words: `a, b … 40 more`. */
function listText(parts: readonly string[]): string {
  const more = parts.length - MOST_SHOWN;
  return more > 0 ? `${parts.slice(0, MOST_SHOWN).join(', ')} … ${more} more` : parts.join(', ');
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return listText(value.map(valueText));
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([key, each]) => `${key} ${valueText(each)}`);
  return `(${parts.join(', ')})`;
}
