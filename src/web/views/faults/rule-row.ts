import { html } from 'htm/preact';
import type { RuleView } from '../../../control/schemas/fault.js';
import { mayWrite } from '../../session.js';
import { Button } from '../../ui/button.js';
import { count, timeOfDay } from '../../ui/format.js';
import { State, type Tone } from '../../ui/state.js';
import { say } from '../../ui/toast.js';
import { editorHref } from './editor.js';
import { change, written } from './rules.js';
import { conditionText, faultsText, stateOf } from './words.js';

const TONES: Readonly<Record<ReturnType<typeof stateOf>, Tone>> = {
  armed: 'good',
  'not now': 'warn',
  spent: 'off',
  off: 'off',
};

/** A rule with what has come of it, and what can be done with it. */
export function RuleRow({ rule }: { readonly rule: RuleView }) {
  const { name, enabled, hits, matches, lastHit, remaining, warnings = [] } = rule;
  const state = stateOf(rule);
  const act = async (what: string, answer: ReturnType<typeof change>) => {
    const done = await answer;
    if (done.ok) say(`Rule ${name} ${what}.`);
    else say(done.problem.detail, 'refused');
  };
  return html`<article class="rule" aria-label=${`Rule ${name}`}>
    <div class="what">
      <h3 class="long">${name}</h3>
      <${State} tone=${TONES[state]}>${state}<//>
    </div>
    <p class="mono long">${conditionText(rule)}</p>
    <p class="mono long">${faultsText(rule)}</p>
    <dl>
      <div><dt>hits</dt><dd>${count(hits)}</dd></div>
      <div><dt>matches</dt><dd>${count(matches)}</dd></div>
      <div><dt>left</dt><dd>${remaining === null ? '–' : count(remaining)}</dd></div>
      <div><dt>last</dt><dd>${lastHit === null ? '–' : timeOfDay(Date.parse(lastHit))}</dd></div>
    </dl>
    <div class="actions">
      <label class="switch"><input type="checkbox" checked=${enabled} disabled=${!mayWrite()}
        aria-label=${`Rule ${name} is on`}
        onChange=${() => void act(enabled ? 'is off' : 'is on', change('PATCH', [name], { enabled: !enabled }))} />on</label>
      <a href=${editorHref({ edit: name })} aria-label=${`Edit ${name}`}>Edit</a>
      <${Button} label=${`Again ${name}`} disabled=${!mayWrite() || !enabled}
        onClick=${() => void act('begins anew', change('PUT', [name], written(rule)))}>Again<//>
      <${Button} kind="danger" label=${`Remove ${name}`} disabled=${!mayWrite()}
        onClick=${() => void act('is gone', change('DELETE', [name]))}>Remove<//>
    </div>
    ${warnings.map((warning) => html`<p class="warning long">${warning}</p>`)}
  </article>`;
}
