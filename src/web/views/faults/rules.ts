import { computed, effect, signal } from '@preact/signals';
import type { RuleView } from '../../../control/schemas/fault.js';
import { type Answer, ask, pathOf, type Refusal } from '../../api.js';
import { comebacks, restarts, summary } from '../../live.js';
import { session } from '../../session.js';

/** The rules in force, in the order in which they act; undefined before they are known. */
export const rules = signal<readonly RuleView[] | undefined>(undefined);

/** Why they are not known. */
export const unread = signal<Refusal | undefined>(undefined);

/** Differs when a rule has come, gone, changed or acted. */
const occasion = computed(() => {
  const faults = summary.value?.faults;
  return faults && JSON.stringify([restarts.value, comebacks.value, session.value?.role, faults]);
});

/** Windows of time open and close without a word. */
const CLOCK_MS = 5000;

/** Reads the rules whenever they may be other ones, until the function that is returned is called. */
export function followRules(): () => void {
  const stop = effect(() => {
    if (occasion.value !== undefined) void readRules();
  });
  const timer = setInterval(() => {
    if (rules.peek()?.some(isTimed)) void readRules();
  }, CLOCK_MS);
  return () => {
    stop();
    clearInterval(timer);
  };
}

function isTimed({ when, schedule }: RuleView): boolean {
  return schedule !== undefined || 'from' in when || 'for' in when;
}

/** Reads them now. */
async function readRules(): Promise<void> {
  const answer = await ask<{ faults: RuleView[] }>('GET', '/faults');
  unread.value = answer.ok ? undefined : answer.problem;
  if (answer.ok) rules.value = answer.value.faults;
}

/** Does something to the rules and reads them. */
export async function change<Value>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  parts: readonly string[],
  body?: object,
): Promise<Answer<Value>> {
  const answer = await ask<Value>(method, pathOf('faults', ...parts), body);
  if (answer.ok) await readRules();
  return answer;
}

/** A rule as it is written, without what has come of it. */
export function written({ name, enabled, when, schedule, do: faults, seed }: RuleView): object {
  return { name, ...(!enabled && { enabled }), when, ...(schedule && { schedule }), do: faults, seed };
}
