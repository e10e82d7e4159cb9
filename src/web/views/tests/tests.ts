import { html } from 'htm/preact';
import { Empty } from '../../ui/empty.js';

/** The view `/tests`. */
export function TestsView() {
  return html`<${Empty} title="Tests">This view is not there yet. Use the API meanwhile.<//>`;
}
