import { useSignal } from '@preact/signals';
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

/** The view `/lines`: every line with its state, its figures and its controls. */
export function LinesView() {
  useEffect(followDetails, []);
  const isAdding = useSignal(false);
  const lines = summary.value?.lines;
  if (!lines) return html`<${Empty} title="Lines">Waiting for the simulator.<//>`;
  const open = lines.filter(({ state }) => state === 'open').length;
  const [device = ''] = [...details.value.values()].flatMap(({ units }) => Object.values(units));
  return html`<div class="bar">
      <span>${lines.length} ${lines.length === 1 ? 'line' : 'lines'}, ${open} open</span>
      <${Button} kind="main" disabled=${!mayWrite() || details.value.size === 0} onClick=${() => {
        isAdding.value = true;
      }}>Add a line<//>
    </div>
    <div class="list">
      ${lines.map((line) => html`<${LinePanel} key=${line.name} line=${line} detail=${details.value.get(line.name)} />`)}
    </div>
    ${
      isAdding.value
        ? html`<${AddLine} device=${device} onClose=${() => {
            isAdding.value = false;
          }} />`
        : null
    }`;
}
