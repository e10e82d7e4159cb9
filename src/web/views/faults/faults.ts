import { html } from 'htm/preact';
import { Empty } from '../../ui/empty.js';

/** The view `/faults`. */
export function FaultsView() {
  return html`<${Empty} title="Faults">This view is not there yet. Use the API meanwhile.<//>`;
}
