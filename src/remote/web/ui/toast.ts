import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { Answer } from '../../../common/rest-client/client.js';
import { Button } from './controls.js';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'warn' | 'refused';
}

const LASTS_MS = { done: 4000, warn: 12_000, refused: 12_000 };
const MOST = 4;

const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Shows a message for a while: what was done, a warning, or a refusal that is not about a field. */
export function say(text: string, kind: Toast['kind'] = 'done'): void {
  const toast = { id: ++last, text, kind };
  toasts.value = [...toasts.value.slice(1 - MOST), toast];
  setTimeout(() => drop(toast.id), LASTS_MS[kind]);
}

/** Shows a message about an answer: what was done, or why it was refused. @returns whether it was done */
export function sayAnswer(answer: Answer<unknown>, done: string): boolean {
  if (answer.ok) say(done);
  else say(answer.problem.detail, 'refused');
  return answer.ok;
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** The messages currently shown. The page contains this once. */
export function Toasts() {
  return html`<div role="status"><ul class="toasts stack">
    ${toasts.value.map(
      ({ id, text, kind }) => html`<li key=${id} class=${`panel ${kind === 'done' ? 'good' : kind}`}>
        <span class="long">${kind === 'refused' ? 'Refused: ' : ''}${text}</span>
        <${Button} label="Close the message" onClick=${() => drop(id)}>×<//>
      </li>`,
    )}
  </ul></div>`;
}
