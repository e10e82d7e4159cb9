import { counted } from '../../../../common/words.js';
import './faults.css';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { PastRules, RuleView } from '../../../../simulator/commands/schemas/fault.js';
import { whyOff } from '../../api.js';
import { past } from '../../past.js';
import { resource } from '../../resource.js';
import { go, hrefOf, route } from '../../route.js';
import { Button, Checkbox, Empty, State, type Tone } from '../../ui/controls.js';
import { AskingButton } from '../../ui/dialog.js';
import { count, timeOfDay } from '../../ui/format.js';
import { sayAnswer } from '../../ui/toast.js';
import { Editor } from './editor.js';
import { change, followRules, rules } from './rules.js';
import { conditionText, faultsText, stateOf, thenText, written } from './texts.js';

const then = resource(
  () => `/past/faults?${new URLSearchParams({ at: past.peek() ?? '' })}`,
  (body: PastRules) => body.faults,
  () => past.value,
);

/** The rules at an earlier time. */
function PastFaults() {
  useEffect(then.follow, []);
  const all = then.current.value;
  const problem = then.problem.value;
  if (problem || !all)
    return html`<${Empty} title="Faults">${problem?.detail ?? 'Waiting for the simulator.'}<//>`;
  return html`<div class="stack"><p>${overview(all)} then</p>
    ${all.map(
      (rule) => html`<article key=${rule.name} class="rule panel columns" aria-label=${`Rule ${rule.name}`}>
      <div class="flow"><h2 class="long">${rule.name}</h2>
        <${State} tone=${rule.enabled ? 'good' : 'off'}>${rule.enabled ? 'armed' : 'off'}<//></div>
      <${RuleTexts} rule=${rule} />
    </article>`,
    )}</div>`;
}

/** What a rule applies to, what it does, and the state that it sets. */
function RuleTexts({ rule }: { readonly rule: PastRules['faults'][number] }) {
  const texts = [conditionText(rule), faultsText(rule), thenText(rule)];
  return texts.map((text) => (text === '' ? null : html`<p class="mono long">${text}</p>`));
}

/** The view `/faults`: the rules with their counts, and a form for a rule; or the rules at an earlier time. */
export function FaultsView() {
  return past.value === undefined ? html`<${PresentFaults} />` : html`<${PastFaults} />`;
}

function PresentFaults() {
  useEffect(followRules, []);
  const { query } = route.value;
  const isEditing = query.has('new') || query.has('edit') || query.has('like');
  const all = rules.current.value;
  const reset = async () => sayAnswer(await change('POST', ['reset']), 'The rules were reset.');
  return html`<div class="stack"><div class="flow apart">
      <span>${overview(all)}</span>
      <div class="flow">
        <a href=${hrefOf('catalogue')}>What real devices do wrong</a>
        <${AskingButton} writes title="Reset the rules?" onYes=${() => void reset()}
          text="Only the rules of the configuration are kept. Their counts restart at zero.">Reset<//>
        <${Button} kind="main" disabled=${isEditing} onClick=${() => go(hrefOf('faults', [], { new: '' }))}>New rule<//>
      </div>
    </div>
    ${isEditing ? html`<${Editor} key=${query.toString()} />` : null}
    ${all?.length === 0 && !isEditing ? html`<${Empty} title="No fault rules">Replies are sent unchanged. Add a rule here, or from a traffic event.<//>` : null}
    ${all === undefined ? html`<${Empty} title="Faults">${rules.problem.value?.detail ?? 'Waiting for the simulator.'}<//>` : null}
    ${all?.map((rule) => html`<${RuleRow} key=${rule.name} rule=${rule} />`)}</div>`;
}

function overview(all: readonly Pick<RuleView, 'enabled'>[] | undefined): string {
  if (!all) return '';
  const on = all.filter(({ enabled }) => enabled).length;
  return `${counted(all.length, 'rule')}, ${on} on`;
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
  const turn = (isOn: boolean) =>
    act(isOn ? 'switched on' : 'switched off', 'PATCH', [name], { enabled: isOn });
  return html`<article class="rule panel columns" aria-label=${`Rule ${name}`}>
    <div class="flow">
      <h2 class="long">${name}</h2>
      <${State} tone=${TONES[state]}>${state}<//>
    </div>
    <${RuleTexts} rule=${rule} />
    <dl>
      <div><dt>hits</dt><dd>${count(hits)}</dd></div>
      <div><dt>matches</dt><dd>${count(matches)}</dd></div>
      <div><dt>left</dt><dd>${remaining === null ? '–' : count(remaining)}</dd></div>
      <div><dt>last</dt><dd>${lastHit === null ? '–' : timeOfDay(Date.parse(lastHit))}</dd></div>
    </dl>
    <div class="flow">
      <label class="switch"><${Checkbox} isOn=${enabled} label=${`Rule ${name} is on`} why=${whyOff()} onTurn=${turn}>on<//></label>
      <a href=${hrefOf('faults', [], { edit: name })} aria-label=${`Edit ${name}`}>Edit</a>
      <${Button} label=${`Rearm ${name}`} writes disabled=${!enabled}
        onClick=${() => void act('rearmed', 'PUT', [name], written(rule))}>Rearm<//>
      <${AskingButton} label=${`Remove ${name}`} writes title=${`Remove ${name}?`}
        text="The rule and its counts are removed." onYes=${() => void act('removed', 'DELETE', [name])}>Remove<//>
    </div>
    ${warnings.map((warning) => html`<p class="warning warn long">${warning}</p>`)}
  </article>`;
}
