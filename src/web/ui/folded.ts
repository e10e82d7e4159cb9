import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import './folded.css';

const query = matchMedia('(max-width: 600px)');
const isNarrow = signal(query.matches);
query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});

interface FoldedProps {
  /** What there is to do, or how it is set. */
  readonly summary: string;
  readonly children: ComponentChildren;
}

/** Controls that a phone shows when asked. Anywhere else they stand as if this were not there. */
export function Folded({ summary, children }: FoldedProps) {
  if (!isNarrow.value) return children;
  return html`<details class="folded"><summary>${summary}</summary><div>${children}</div></details>`;
}
