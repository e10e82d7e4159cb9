import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { CatalogueView } from '../../../../simulator/commands/schemas/catalogue.js';
import { ask, mayWrite } from '../../api.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { Button, into, Select } from '../../ui/controls.js';
import { sayAnswer } from '../../ui/toast.js';
import { rules } from './rules.js';

const entries = resource(
  () => '/catalogue',
  ({ catalogue }: CatalogueView) => catalogue,
);

/**
 * The catalogue of what real devices do wrong, by what a client sees. An entry is played on a line, or ended
 * on all lines.
 */
export function Catalogue() {
  useEffect(entries.follow, []);
  const chosen = useSignal('');
  const chosenLine = useSignal('');
  const all = entries.current.value ?? [];
  const entry = all.find(({ id }) => id === chosen.value) ?? all[0];
  if (!entry) return null;
  const lines = summary.value?.lines.map(({ name }) => name) ?? [];
  const line = chosenLine.value || lines[0] || '';
  const change = async (method: 'POST' | 'DELETE', done: string) => {
    const answer = await ask(method, pathOf('catalogue', entry.id), method === 'POST' ? { line } : undefined);
    if (sayAnswer(answer, `${entry.id} is ${done}.`)) await rules.read();
  };
  return html`<details class="panel catalogue"><summary>What real devices do wrong</summary>
    <${Select} label="a client sees" value=${entry.id} onChange=${into(chosen)}
      choices=${all.map(({ id, sees }) => [id, sees])} />
    <p class="long">${entry.title}. A robust client: ${entry.robust}</p>
    <ul>${entry.sources.map(({ url, fact }) => html`<li class="long"><a href=${url}>${fact}</a></li>`)}</ul>
    <div class="flow"><${Select} label="line" value=${line} choices=${lines} onChange=${into(chosenLine)} />
      <${Button} kind="main" disabled=${!mayWrite()} onClick=${() => void change('POST', 'played')}>Play<//>
      <${Button} disabled=${!mayWrite()} onClick=${() => void change('DELETE', 'taken back')}>Take back<//></div>
  </details>`;
}
