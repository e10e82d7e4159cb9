import { computed, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { summary } from '../../live.js';
import { mayWrite } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Empty } from '../../ui/empty.js';
import { AddLine } from './add-line.js';
import { details, followDetails } from './details.js';
import { LinePanel } from './line-panel.js';
import './lines.css';

/** No name has a control character. */
const SEPARATOR = '\n';

/** As one text, which differs only when a line has come or gone: so the list is not made anew every second. */
const names = computed(() => summary.value?.lines.map(({ name }) => name).join(SEPARATOR) ?? '');

const overview = computed(() => {
  const { lines = [] } = summary.value ?? {};
  const open = lines.filter(({ state }) => state === 'open').length;
  return `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}, ${open} open`;
});

/** The view `/lines`: every line with its state, its figures and its controls. */
export function LinesView() {
  useEffect(followDetails, []);
  const isAdding = useSignal(false);
  if (names.value === '') return html`<${Empty} title="Lines">Waiting for the simulator.<//>`;
  const [device = ''] = [...details.value.values()].flatMap(({ units }) => Object.values(units));
  return html`<div class="bar">
      <span>${overview}</span>
      <${Button} kind="main" disabled=${!mayWrite() || details.value.size === 0} onClick=${() => {
        isAdding.value = true;
      }}>Add a line<//>
    </div>
    <div class="list">
      ${names.value.split(SEPARATOR).map((name) => html`<${LinePanel} key=${name} name=${name} />`)}
    </div>
    ${
      isAdding.value
        ? html`<${AddLine} device=${device} onClose=${() => {
            isAdding.value = false;
          }} />`
        : null
    }`;
}
