import { html } from 'htm/preact';
import { Empty } from '../../ui/empty.js';

/** The view `/registers`. */
export function RegistersView() {
  return html`<${Empty} title="Registers">This view is not there yet. Use the API meanwhile.<//>`;
}
