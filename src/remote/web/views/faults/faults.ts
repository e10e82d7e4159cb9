import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { CatalogueView } from '../../../../simulator/commands/schemas/catalogue.js';
import type { RuleView } from '../../../../simulator/commands/schemas/fault.js';
import { ask, mayWrite } from '../../api.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { go, hrefOf, route } from '../../route.js';
import { Button, Empty, into, Select, State, switched, type Tone } from '../../ui/controls.js';
import { AskingButton } from '../../ui/dialog.js';
import { count, timeOfDay } from '../../ui/format.js';
import { sayAnswer } from '../../ui/toast.js';
import { Editor } from './editor.js';
import { change, followRules, rules } from './rules.js';
import { conditionText, faultsText, stateOf, thenText, written } from './texts.js';
import './faults.css';

const entries = resource(
  () => '/catalogue',
  ({ catalogue }: CatalogueView) => catalogue,
);

/**
 * The catalogue of what real devices do wrong, by what a client sees. An entry is played on a line, or ended
 * on all lines.
 */
function Catalogue() {
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

/** The view `/faults`: the rules with their counts, and a form for a rule. */
export function FaultsView() {
  useEffect(followRules, []);
  const { query } = route.value;
  const isEditing = query.has('new') || query.has('edit') || query.has('like');
  const all = rules.current.value;
  const reset = async () => sayAnswer(await change('POST', ['reset']), 'The rules were reset.');
  return html`<div class="stack"><div class="flow apart">
      <span>${overview(all)}</span>
      <div class="flow">
        <${AskingButton} disabled=${!mayWrite()} title="Reset the rules?" onYes=${() => void reset()}
          text="Only the rules of the configuration stay. Their counts begin at zero.">Reset<//>
        <${Button} kind="main" disabled=${isEditing} onClick=${() => go(hrefOf('faults', [], { new: '' }))}>New rule<//>
      </div>
    </div>
    <${Catalogue} />
    ${isEditing ? html`<${Editor} key=${query.toString()} />` : null}
    ${all?.length === 0 && !isEditing ? html`<${Empty} title="No fault rules">No reply is changed. Add a rule here, or from an event of the traffic.<//>` : null}
    ${all === undefined ? html`<${Empty} title="Faults">${rules.problem.value?.detail ?? 'Waiting for the simulator.'}<//>` : null}
    ${all?.map((rule) => html`<${RuleRow} key=${rule.name} rule=${rule} />`)}</div>`;
}

function overview(all: readonly RuleView[] | undefined): string {
  if (!all) return '';
  const on = all.filter(({ enabled }) => enabled).length;
  return `${all.length} ${all.length === 1 ? 'rule' : 'rules'}, ${on} on`;
}

const TONES: Readonly<Record<ReturnType<typeof stateOf>, Tone>> = {
  armed: 'good',
  'not now': 'warn',
  spent: 'off',
  off: 'off',
};

/** A rule with its counts and its buttons. */
function RuleRow({ rule }: { readonly rule: RuleView }) {
  const { name, enabled, hits, matches, lastHit, remaining, warnings = [] } = rule;
  const state = stateOf(rule);
  const act = async (done: string, ...request: Parameters<typeof change>) =>
    sayAnswer(await change(...request), `Rule ${name} was ${done}.`);
  return html`<article class="rule panel columns" aria-label=${`Rule ${name}`}>
    <div class="flow">
      <h3 class="long">${name}</h3>
      <${State} tone=${TONES[state]}>${state}<//>
    </div>
    <p class="mono long">${conditionText(rule)}</p>
    <p class="mono long">${faultsText(rule)}</p>
    ${thenText(rule) === '' ? null : html`<p class="mono long">${thenText(rule)}</p>`}
    <dl>
      <div><dt>hits</dt><dd>${count(hits)}</dd></div>
      <div><dt>matches</dt><dd>${count(matches)}</dd></div>
      <div><dt>left</dt><dd>${remaining === null ? '–' : count(remaining)}</dd></div>
      <div><dt>last</dt><dd>${lastHit === null ? '–' : timeOfDay(Date.parse(lastHit))}</dd></div>
    </dl>
    <div class="flow">
      <label class="switch"><input type="checkbox" checked=${enabled} disabled=${!mayWrite()}
        aria-label=${`Rule ${name} is on`}
        onChange=${switched((isOn) => void act(isOn ? 'switched on' : 'switched off', 'PATCH', [name], { enabled: isOn }))} />on</label>
      <a href=${hrefOf('faults', [], { edit: name })} aria-label=${`Edit ${name}`}>Edit</a>
      <${Button} label=${`Rearm ${name}`} disabled=${!mayWrite() || !enabled}
        onClick=${() => void act('rearmed', 'PUT', [name], written(rule))}>Rearm<//>
      <${AskingButton} label=${`Remove ${name}`} disabled=${!mayWrite()} title=${`Remove ${name}?`}
        text="The rule is removed, with its counts." onYes=${() => void act('removed', 'DELETE', [name])}>Remove<//>
    </div>
    ${warnings.map((warning) => html`<p class="warning warn long">${warning}</p>`)}
  </article>`;
}
