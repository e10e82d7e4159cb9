import { signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { RegisterView, SignalKindView } from '../../../control/schemas/value.js';
import { ask, pathOf, type Refusal } from '../../api.js';
import { mayWrite } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { say } from '../../ui/toast.js';
import { type Parameter, parametersOf, textsOf, WHOLE, writtenOf } from './parameters.js';
import { readNow } from './reading.js';

/** Stands in the choice of kinds for a value that stands still. */
const NONE = 'none';

const kinds = signal<readonly SignalKindView[]>([]);

/** What moves a value, as fields and sliders, and what could. Only a value with a name can be moved. */
export function SignalForm({
  device,
  about,
}: {
  readonly device: string;
  readonly about: RegisterView | undefined;
}) {
  useEffect(() => {
    if (kinds.peek().length > 0) return;
    void ask<{ kinds: SignalKindView[] }>('GET', '/signals').then((answer) => {
      if (answer.ok) kinds.value = answer.value.kinds;
    });
  }, []);
  const [moving] = Object.entries(about?.signal ?? {});
  const chosen = useSignal<string | undefined>(undefined);
  const texts = useSignal<Readonly<Record<string, string>> | undefined>(undefined);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const name = about?.name;
  if (about?.name == null || name == null) return null;

  const now = chosen.value ?? moving?.[0] ?? NONE;
  const kind = kinds.value.find((each) => each.name === now);
  const parameters = kind ? parametersOf(kind) : [];
  // Descriptions are Markdown, in which names stand between backticks.
  const does = kind?.value.replaceAll('`', '') ?? 'Nothing moves the value.';
  const shown = texts.value ?? textsOf(parameters, now === moving?.[0] ? moving[1] : undefined);
  const path = pathOf('devices', device, 'signals', name);
  const settle = async (method: 'PUT' | 'DELETE', body: object | undefined, said: string) => {
    const answer = await ask(method, path, body);
    refusal.value = answer.ok ? undefined : answer.problem;
    if (!answer.ok) return;
    [chosen.value, texts.value] = [undefined, undefined];
    say(`${name} ${said}.`);
    await readNow();
  };
  const put = (from = shown) => settle('PUT', { [now]: writtenOf(from) }, `is moved by its ${now}`);
  const problemOf = (parameter: string) =>
    refusal.value?.problems.find(({ path }) => path === (parameter === WHOLE ? now : `${now}.${parameter}`))
      ?.message;
  const isPlaced = parameters.some((each) => problemOf(each.name) !== undefined);
  return html`<form class="signal" onSubmit=${(event: Event) => {
    event.preventDefault();
    void put();
  }}>
    <${Field} label="signal" choices=${[NONE, ...kinds.value.map((each) => each.name)]} value=${now}
      hint=${does} onInput=${(value: string) => {
        chosen.value = value;
        texts.value = undefined;
        refusal.value = undefined;
      }} />
    <div class="parameters">${parameters.map((parameter) => {
      const set = (text: string) => {
        texts.value = { ...shown, [parameter.name]: text };
      };
      return html`<div key=${parameter.name}>
        <${Field} label=${parameter.name === WHOLE ? now : parameter.name} mono value=${shown[parameter.name] ?? ''}
          hint=${parameter.hint} choices=${parameter.choices} problem=${problemOf(parameter.name)} onInput=${set} />
        ${
          parameter.range
            ? html`<${Slider} parameter=${parameter} text=${shown[parameter.name] ?? ''} onInput=${set}
          onChange=${() => void put(texts.peek() ?? shown)} />`
            : null
        }
      </div>`;
    })}</div>
    ${refusal.value && !isPlaced ? html`<p class="refused long" role="alert">${refusal.value.detail}</p>` : null}
    <div class="buttons">
      <${Button} type="submit" kind="main" disabled=${!mayWrite() || !kind}>${moving?.[0] === now ? 'Change' : 'Let it move'}<//>
      <${Button} disabled=${!mayWrite() || !moving} label="Freeze: the value stays as it is now" onClick=${() =>
        void settle('DELETE', undefined, 'stays as it is')}>Freeze<//>
    </div>
  </form>`;
}

function Slider({
  parameter: { name, range },
  text,
  onInput,
  onChange,
}: {
  readonly parameter: Parameter;
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly onChange: () => void;
}) {
  const [min, max] = range ?? [0, 1];
  return html`<input type="range" aria-label=${`${name}, slider`} min=${min} max=${max} step=${(max - min) / 200}
    value=${text === '' ? (min + max) / 2 : text} disabled=${!mayWrite()}
    onInput=${(event: Event) => onInput((event.target as HTMLInputElement).value)} onChange=${onChange} />`;
}
