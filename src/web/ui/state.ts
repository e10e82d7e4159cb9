import { html } from 'htm/preact';
import './state.css';

/** `good`: works. `warn`: waits, or is about to. `bad`: failed. `off`: is off on purpose. */
export type Tone = 'good' | 'warn' | 'bad' | 'off';

/** A state in a word; form and colour only repeat it. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return html`<span class=${`state ${tone}`}>${children}</span>`;
}
