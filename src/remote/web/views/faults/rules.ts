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
 * How often rules are read, in ms, while one has time windows, which open and close without a change of the
 * summary.
 */
const CLOCK_MS = 5000;

/** Reads the rules whenever they may have changed, until the returned function is called. */
export function followRules(): () => void {
  const isTimed = ({ when, schedule }: RuleView) => schedule !== undefined || 'from' in when || 'for' in when;
  const timer = setInterval(() => {
    if (rules.current.peek()?.some(isTimed)) void rules.read();
  }, CLOCK_MS);
  return together(rules.follow(), () => clearInterval(timer));
}

/** Changes the rules, then reads them. */
export async function change<Value>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  parts: readonly string[],
  body?: object,
): Promise<Answer<Value>> {
  const answer = await ask<Value>(method, pathOf('faults', ...parts), body);
  if (answer.ok) await rules.read();
  return answer;
}
