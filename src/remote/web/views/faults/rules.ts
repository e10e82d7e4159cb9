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
