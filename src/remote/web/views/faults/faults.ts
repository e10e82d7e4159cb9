import { counted } from '../../../../common/words.js';
import './faults.css';
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Answer, pathOf, type RemoteRefusal } from '../../../../common/rest-client/client.js';
import { countOf, type Piece, piecesOf, type Wire } from '../../../../common/timeline/pieces.js';
import { msText } from '../../../../common/timeline/times.js';
import type { CatalogueView } from '../../../../simulator/commands/schemas/catalogue.js';
import type { PastRules, RuleView } from '../../../../simulator/commands/schemas/fault.js';
import type { FaultPreviewView } from '../../../../simulator/commands/schemas/fault-preview.js';
import type { StreamedView } from '../../../../simulator/traffic/view-schema.js';
import type { ServedSchema } from '../../../api/v1/schemas.js';
import { ask, whyOff } from '../../api.js';
import { summary } from '../../live.js';
import { past } from '../../past.js';
import { resource } from '../../resource.js';
import { go, hrefOf, route } from '../../route.js';
import { StripModel, sourceOf } from '../../strip/model.js';
import { Strip } from '../../strip/strip.js';
import {
  Button,
  Empty,
  into,
  Refused,
  Select,
  State,
  sent,
  switched,
  type Tone,
  useRequest,
} from '../../ui/controls.js';
import { AskingButton } from '../../ui/dialog.js';
import { together } from '../../ui/element.js';
import { count, timeOfDay } from '../../ui/format.js';
import {
  type Draft,
  draftOf,
  type ObjectDraft,
  type ObjectShape,
  readDraft,
  shapeOf,
} from '../../ui/schema-form/draft.js';
import { SchemaPart } from '../../ui/schema-form/schema-form.js';
import { say, sayAnswer } from '../../ui/toast.js';
import {
  aimed,
  conditionText,
  faultsText,
  freeName,
  likeThis,
  READY_MADE,
  stateOf,
  thenText,
  written,
} from './texts.js';

/** The rules, in the order in which they act. */
const rules = resource(
  () => '/faults',
  ({ faults }: { readonly faults: readonly RuleView[] }) => faults,
  () => summary.value?.faults,
);

/**
 * Interval in ms in which rules are read while one has windows of time, which open and close without a change
 * of the summary.
 */
const CLOCK_MS = 5000;

/** Reads the rules whenever they may have changed, until the function that is returned is called. */
function followRules(): () => void {
  const isTimed = ({ when, schedule }: RuleView) => schedule !== undefined || 'from' in when || 'for' in when;
  const timer = setInterval(() => {
    if (rules.current.peek()?.some(isTimed)) void rules.read();
  }, CLOCK_MS);
  return together(rules.follow(), () => clearInterval(timer));
}

/** Changes the rules, and then reads them. */
async function change<Value>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  parts: readonly string[],
  body?: object,
): Promise<Answer<Value>> {
  const answer = await ask<Value>(method, pathOf('faults', ...parts), body);
  if (answer.ok) await rules.read();
  return answer;
}

/** Time between the last change of the form and the preview, in ms. */
const PAUSE_MS = 250;

interface PreviewProps {
  readonly rule: unknown;
  /** Sequence number of the request whose reply is previewed; the newest matching request when absent. */
  readonly like: number | undefined;
}

/** Shows what a rule would make of a reply, as a strip and as a table. */
function Preview({ rule, like }: PreviewProps) {
  const view = useSignal<FaultPreviewView | undefined>(undefined);
  const refusal = useSignal<RemoteRefusal | undefined>(undefined);
  const model = useMemo(() => new StripModel(), []);
  const text = JSON.stringify({ rule, like });
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(async () => {
      if (rule === undefined) return;
      const answer = await ask<FaultPreviewView>('POST', '/faults/preview', { rule, like });
      if (isGone) return;
      refusal.value = answer.ok ? undefined : answer.problem;
      if (!answer.ok) return;
      view.value = answer.value;
      const wire = wireOf(answer.value);
      model.setSource(sourceOf(previewPieces(answer.value, wire), wire, 0));
      model.fit();
    }, PAUSE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [text]);

  const shown = view.value;
  return html`<section class="stack" aria-label="Preview">
    <h3>Preview ${shown ? html`<span class="dim">${subject(shown)}</span>` : null}</h3>
    <${Strip} model=${model} label="What the rule will look like" />
    <p class=${refusal.value || shown?.matches === false ? 'long warn' : 'long dim'} role="status">${
      refusal.value
        ? `No preview: ${refusal.value.detail}`
        : shown
          ? summaryOf(shown)
          : 'Waiting for the simulator.'
    }</p>
    ${shown && !refusal.value ? html`<${Steps} view=${shown} />` : null}
  </section>`;
}

function wireOf({ characterUs, t35Us }: FaultPreviewView): Wire {
  return { characterUs: characterUs ?? undefined, t35Us: t35Us ?? undefined };
}

/** Width of a character in µs, on lines whose characters take no time. */
const NO_CHARACTER_US = 20;

/** The pieces of the request, which ends at 0, and of the reply that would follow. */
function previewPieces({ request, steps, silence, faults }: FaultPreviewView, wire: Wire): Piece[] {
  const { bytes } = request;
  const text = `function ${request.function}`;
  const never = { seq: 0, text, monotonicUs: 0, requestedUs: 0 };
  const sent = steps.map((step) => ({
    ...step,
    achievedUs: step.plannedUs,
    endedUs: Math.max(step.endedUs, step.plannedUs + (wire.characterUs ? 0 : NO_CHARACTER_US)),
  }));
  const startedUs = -countOf(bytes) * (wire.characterUs ?? NO_CHARACTER_US);
  return [
    ...piecesOf({ ...never, kind: 'request', startedUs, bytes }, wire),
    ...piecesOf({ ...never, kind: 'reply', steps: sent, silence, faults }, wire),
  ];
}

function subject({ request: { line, unit, function: code, seq } }: FaultPreviewView): string {
  const which = seq === null ? 'a made-up request' : `a request like #${seq}`;
  return `for ${which}: line ${line}, unit ${unit}, function ${code}`;
}

function summaryOf({ matches, silence, faults }: FaultPreviewView): string {
  if (!matches) return 'The rule does not match this request. This is the reply without the rule.';
  const failed = faults.filter(({ outcome }) => outcome !== 'applied');
  const lost = failed.map(({ kind, reason }) => `${kind} can’t act: ${reason}.`);
  const sent = silence === null ? [] : ['No reply is sent.'];
  return [...sent, ...lost, 'Preview only; nothing was sent.'].join(' ');
}

function Steps({ view }: { readonly view: FaultPreviewView }) {
  const { steps, omittedSteps } = view;
  if (steps.length === 0) return null;
  return html`<div class="steps"><table>
    <caption>Steps of the reply, after the request</caption>
    <thead><tr><th>step</th><th>begins</th><th>ends</th><th>bytes</th></tr></thead>
    <tbody class="mono">${steps.map(
      ({ kind, bytes = '', plannedUs, endedUs }) => html`<tr>
        <td>${kind}</td><td>${msText(plannedUs)}</td><td>${msText(endedUs)}</td><td class="long">${bytes}</td></tr>`,
    )}</tbody>
    ${omittedSteps > 0 ? html`<tfoot><tr><td colspan="4">and ${omittedSteps} more</td></tr></tfoot>` : null}
  </table></div>`;
}

type Event = Exclude<StreamedView, { kind: 'left out' }>;

/** The fields that are always shown. */
const FIRST = ['name', 'when', 'do'];

const schema = resource(
  () => '/schemas/fault-rule',
  (body: ServedSchema) => shapeOf(body) as ObjectShape,
);

/** A form for a rule with its preview. Its address is `?new`, `?edit=NAME` or `?like=SEQ`. */
function Editor() {
  const { query } = route.value;
  const [edited, like] = [query.get('edit'), query.get('like')];
  useEffect(schema.follow, []);
  const shape = schema.current.value;
  const draft = useSignal<Draft | undefined>(undefined);
  const event = useSignal<Event | undefined>(undefined);
  const { isBusy, refusal, send } = useRequest();
  const self = useRef<HTMLFormElement>(null);

  const names = () => rules.current.peek()?.map(({ name }) => name) ?? [];
  const fill = (rule: object) => {
    if (shape) draft.value = draftOf(shape, rule);
    refusal.value = undefined;
  };
  useEffect(() => {
    let isGone = false;
    const begin = async () => {
      const [first, found] = await Promise.all([ruleToEdit(edited), like ? requestOf(like) : undefined]);
      if (isGone) return;
      const when = typeof found === 'object' ? likeThis(found) : {};
      fill(first ?? { name: freeName('rule', names()), when, do: [{ delay: '250ms' }] });
      if (typeof found === 'string') refusal.value = { detail: found, problems: [] };
      else event.value = found;
      self.current?.scrollIntoView({ block: 'nearest' });
    };
    // Text that somebody has typed stays, whatever is read again.
    if (shape && !draft.peek()) void begin();
    return () => {
      isGone = true;
    };
  }, [edited, like, shape]);

  const close = () => go(hrefOf('faults'));
  const rule = shape && draft.value && readDraft(shape, draft.value);
  const submit = async () => {
    if (!rule) return;
    const { name = '' } = rule as { name?: string };
    const answer = await send(edited === name ? change('PUT', [name], rule) : change('POST', [], rule));
    if (!answer.ok) return;
    if (edited !== null && edited !== name) await change('DELETE', [edited]);
    say(`Rule ${name} is ${edited === null ? 'armed' : 'changed'}.`);
    close();
  };

  const { lines = [] } = summary.value ?? {};
  const offers = { 'when.line': lines.map(({ name }) => name) };
  const values = (draft.value ?? {}) as ObjectDraft;
  const problem = refusal.value ?? schema.problem.value;
  const part = ({ key, shape: field }: ObjectShape['fields'][number]) =>
    html`<${SchemaPart} key=${key} shape=${field} label=${key} path=${key} draft=${values[key] ?? ''}
      refusal=${refusal.value} offers=${offers} onChange=${(next: Draft) => {
        draft.value = { ...values, [key]: next };
      }} />`;
  const fields = (draft.value !== undefined && shape?.fields) || [];
  const seldom = fields.filter(({ key }) => !FIRST.includes(key));
  const current = (rule as { when?: object } | undefined)?.when ?? {};
  return html`<form class="editor panel stack" ref=${self} aria-label=${edited === null ? 'New rule' : `Rule ${edited}`}
    onSubmit=${sent(submit)}>
    <div class="flow apart">
      <h2 class="long">${edited === null ? 'New rule' : `Change ${edited}`}</h2>
      <div class="flow"><${Button} onClick=${close}>Cancel<//>
        <${Button} kind="main" type="submit" writes disabled=${isBusy.value || !rule}>
          ${edited === null ? 'Arm' : 'Change'}<//></div>
    </div>
    ${event.value ? html`<p class="long">For the next request like <a class="mono" href=${hrefOf('traffic', [], { at: String(event.value.seq) })}>#${event.value.seq}</a> ${event.value.text}</p>` : null}
    ${problem && html`<${Refused}>Refused: ${problem.detail}<//>`}
    <div class="ready flow" role="group" aria-label="Ready-made rules">${READY_MADE.map(
      (each) =>
        html`<${Button} disabled=${!rule} onClick=${() => fill(aimed(each, current as never, names()))}>${each.title}<//>`,
    )}</div>
    <div class="two columns">
      <div class="stack">
        ${FIRST.map((key) => fields.filter((field) => field.key === key).map(part))}
        <details><summary>${seldom.map(({ key }) => key).join(', ')}</summary><div class="stack">${seldom.map(part)}</div></details>
      </div>
      <${Preview} rule=${rule} like=${event.value?.seq} />
    </div>
  </form>`;
}

async function ruleToEdit(name: string | null): Promise<object | undefined> {
  if (name === null) return undefined;
  const answer = await ask<Parameters<typeof written>[0]>('GET', pathOf('faults', name));
  return answer.ok ? written(answer.value) : { name };
}

/**
 * The request of an event: the event itself, or the request to which it is the reply. A sentence says why
 * there is none.
 */
async function requestOf(seq: string): Promise<Event | string> {
  const answer = await ask<{ events: readonly Event[] }>('GET', `/traffic?${oneEvent(seq)}`);
  if (!answer.ok) return answer.problem.detail;
  const [found] = answer.value.events;
  if (found?.seq !== Number(seq)) return `The simulator does not keep event ${seq} any more.`;
  return found.kind === 'reply' && found.request !== undefined ? requestOf(String(found.request)) : found;
}

function oneEvent(seq: string): URLSearchParams {
  return new URLSearchParams({ after: String(Number(seq) - 1), limit: '1' });
}

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
      <${Button} kind="main" writes onClick=${() => void change('POST', 'played')}>Play<//>
      <${Button} writes onClick=${() => void change('DELETE', 'taken back')}>Take back<//></div>
  </details>`;
}

const then = resource(
  () => `/past/faults?${new URLSearchParams({ at: past.peek() ?? '' })}`,
  (body: PastRules) => body.faults,
  () => past.value,
);

/** The rules of a moment of the past. */
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

/** What a rule is for, does and brings about. */
function RuleTexts({ rule }: { readonly rule: PastRules['faults'][number] }) {
  const texts = [conditionText(rule), faultsText(rule), thenText(rule)];
  return texts.map((text) => (text === '' ? null : html`<p class="mono long">${text}</p>`));
}

/** The view `/faults`: the rules with their counts, and a form for a rule; or those of a moment of the past. */
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
        <${AskingButton} writes title="Reset the rules?" onYes=${() => void reset()}
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
  /** Where the switch was put, until the answer comes: rules that are read meanwhile do not turn it back. */
  const isPut = useSignal<boolean | undefined>(undefined);
  const act = async (done: string, ...request: Parameters<typeof change>) =>
    sayAnswer(await change(...request), `Rule ${name} was ${done}.`);
  const turn = async (isOn: boolean) => {
    isPut.value = isOn;
    await act(isOn ? 'switched on' : 'switched off', 'PATCH', [name], { enabled: isOn });
    if (isPut.peek() === isOn) isPut.value = undefined;
  };
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
      <label class="switch"><input type="checkbox" checked=${isPut.value ?? enabled} disabled=${whyOff() !== undefined} title=${whyOff()}
        aria-label=${`Rule ${name} is on`} onChange=${switched((isOn) => void turn(isOn))} />on</label>
      <a href=${hrefOf('faults', [], { edit: name })} aria-label=${`Edit ${name}`}>Edit</a>
      <${Button} label=${`Rearm ${name}`} writes disabled=${!enabled}
        onClick=${() => void act('rearmed', 'PUT', [name], written(rule))}>Rearm<//>
      <${AskingButton} label=${`Remove ${name}`} writes title=${`Remove ${name}?`}
        text="The rule and its counts are removed." onYes=${() => void act('removed', 'DELETE', [name])}>Remove<//>
    </div>
    ${warnings.map((warning) => html`<p class="warning warn long">${warning}</p>`)}
  </article>`;
}
