import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { go, place } from '../../route.js';
import { mayWrite } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Empty } from '../../ui/empty.js';
import { say } from '../../ui/toast.js';
import { Editor, editorHref } from './editor.js';
import { RuleRow } from './rule-row.js';
import { change, followRules, rules, unread } from './rules.js';
import './faults.css';

/** The view `/faults`: the rules with what has come of them, and a form for one. */
export function FaultsView() {
  useEffect(followRules, []);
  const isResetting = useSignal(false);
  const { query } = place.value;
  const isEditing = query.has('new') || query.has('edit') || query.has('like');
  const all = rules.value;
  const close = () => {
    isResetting.value = false;
  };
  const reset = async () => {
    close();
    const answer = await change('POST', ['reset']);
    if (answer.ok) say('The rules of the configuration are in force, and no others.');
    else say(answer.problem.detail, 'refused');
  };
  return html`<div class="bar">
      <span>${overview(all)}</span>
      <div class="buttons">
        <${Button} disabled=${!mayWrite()} onClick=${() => {
          isResetting.value = true;
        }}>Reset<//>
        <${Button} kind="main" disabled=${isEditing} onClick=${() => go(editorHref({ new: '' }))}>New rule<//>
      </div>
    </div>
    ${isEditing ? html`<${Editor} key=${query.toString()} />` : null}
    ${all?.length === 0 && !isEditing ? html`<${Empty} title="No fault rules">Every reply is as its device gives it. Add a rule here, or from a frame of the traffic.<//>` : null}
    ${all === undefined ? html`<${Empty} title="Faults">${unread.value?.detail ?? 'Waiting for the simulator.'}<//>` : null}
    <div class="list">${all?.map((rule) => html`<${RuleRow} key=${rule.name} rule=${rule} />`)}</div>
    ${
      isResetting.value
        ? html`<${Dialog} title="Reset the rules?" onSubmit=${() => void reset()} onClose=${close}
            buttons=${html`<${Button} onClick=${close}>Cancel<//><${Button} kind="danger" type="submit">Reset<//>`}>
            <p>The rules of the configuration are in force again, all others are gone, and counts begin anew.</p>
          <//>`
        : null
    }`;
}

function overview(all: typeof rules.value): string {
  if (!all) return '';
  const on = all.filter(({ enabled }) => enabled).length;
  return `${all.length} ${all.length === 1 ? 'rule' : 'rules'}, ${on} on`;
}
