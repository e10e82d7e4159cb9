import { computed, effect, signal } from '@preact/signals';
import type { LineView } from '../../../control/schemas/line.js';
import { ask } from '../../api.js';
import { comebacks, restarts, summary } from '../../live.js';
import { session } from '../../session.js';

/** What the summary does not have: settings, units, times and ports, by line. */
export const details = signal<ReadonlyMap<string, LineView>>(new Map());

/** Differs when a line has come, gone or changed. */
const lineUp = computed(() =>
  JSON.stringify([
    restarts.value,
    comebacks.value,
    session.value?.role,
    summary.value?.lines.map(({ name, edition, state, place }) => [name, edition, state, place]),
  ]),
);

/** Reads them whenever they may have changed, until the function that is returned is called. */
export function followDetails(): () => void {
  return effect(() => {
    if (lineUp.value !== '') void read();
  });
}

async function read(): Promise<void> {
  const answer = await ask<{ lines: LineView[] }>('GET', '/lines');
  if (answer.ok) details.value = new Map(answer.value.lines.map((line) => [line.name, line]));
}
