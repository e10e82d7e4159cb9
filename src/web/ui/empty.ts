import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import './empty.css';

/** Stands where there is nothing to show, and says why and what to do. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return html`<div class="empty"><h2>${title}</h2><p class="dim">${children}</p></div>`;
}
