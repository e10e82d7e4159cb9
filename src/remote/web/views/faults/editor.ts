import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { StreamedView } from '../../../../simulator/traffic/view-schema.js';
import type { ServedSchema } from '../../../api/v1/schemas.js';
import { ask } from '../../api.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { go, hrefOf, route } from '../../route.js';
import { Preview } from '../../strip/preview.js';
import { Button, into, Refused, sent, useRequest } from '../../ui/controls.js';
import { type Draft, draftOf, type ObjectShape, readDraft, shapeOf } from '../../ui/schema-form/draft.js';
import { SchemaPart } from '../../ui/schema-form/schema-form.js';
import { say } from '../../ui/toast.js';
import { change, rules } from './rules.js';
import { aimed, freeName, likeThis, READY_MADE, written } from './texts.js';

type Event = Exclude<StreamedView, { kind: 'left out' }>;

/** The fields that are always shown, by the path of their parent. Other fields are collapsed while they are empty. */
const FIRST = { '': ['do', 'when', 'name'], when: ['line', 'unit', 'function', 'address', 'count'] };

const schema = resource(
  () => '/schemas/fault-rule',
  (body: ServedSchema) => shapeOf(body) as ObjectShape,
);

/** A form for a rule with its preview. Its address is `?new`, `?edit=NAME` or `?like=SEQ`. */
export function Editor() {
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
    // Text that the user has typed stays, whatever is read again.
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
  const problem = refusal.value ?? schema.problem.value;
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
      ${
        shape && draft.value !== undefined
          ? html`<${SchemaPart} shape=${shape} draft=${draft.value} path="" label="" refusal=${refusal.value} offers=${offers}
              first=${FIRST} onChange=${into(draft)} />`
          : html`<div />`
      }
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
 * Returns the request of an event: the event itself, or the request that it answers. Returns a sentence if
 * there is none.
 */
async function requestOf(seq: string): Promise<Event | string> {
  const answer = await ask<{ events: readonly Event[] }>('GET', `/traffic?${oneEvent(seq)}`);
  if (!answer.ok) return answer.problem.detail;
  const [found] = answer.value.events;
  if (found?.seq !== Number(seq)) return `The simulator no longer keeps event ${seq}.`;
  return found.kind === 'reply' && found.request !== undefined ? requestOf(String(found.request)) : found;
}

function oneEvent(seq: string): URLSearchParams {
  return new URLSearchParams({ after: String(Number(seq) - 1), limit: '1' });
}
