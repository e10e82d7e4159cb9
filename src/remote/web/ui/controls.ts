import { type Signal, signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Answer, RemoteRefusal } from '../../../common/rest-client/client.js';
import './controls.css';

/** Puts what a control has into a signal. */
export function into<Value>(target: Signal<Value>): (value: Value) => void {
  return (value) => {
    target.value = value;
  };
}

/** Puts a value into a signal. */
export function put<Value>(target: Signal<Value>, value: Value): () => void {
  return () => into(target)(value);
}

/** Handles what is typed or chosen in a control. */
export function typed(act: (value: string) => void): (event: Event) => void {
  return (event) => act((event.target as HTMLInputElement).value);
}

/** Handles a switch that is set or not. */
export function switched(act: (isOn: boolean) => void): (event: Event) => void {
  return (event) => act((event.target as HTMLInputElement).checked);
}

/** Handles a form whose page stays. */
export function sent(act: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    act();
  };
}

interface ButtonProps {
  readonly children: ComponentChildren;
  /** `main`: what the form is for. `danger`: what can't be undone. `link`: looks like one. */
  readonly kind?: 'plain' | 'main' | 'danger' | 'link';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** Says what the button is about where its text alone does not. */
  readonly label?: string | undefined;
  readonly onClick?: () => void;
}

export function Button({ children, kind = 'plain', type = 'button', disabled, label, onClick }: ButtonProps) {
  return html`<button class=${`button ${kind}`} type=${type} disabled=${disabled} aria-label=${label}
    title=${label} onClick=${onClick}>${children}</button>`;
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  /** Values, each with what is shown for it where that is something else. */
  readonly choices: readonly (string | readonly [value: string, text: string])[];
  readonly disabled?: boolean;
  readonly onChange: (value: string) => void;
}

/** A choice with its label beside it. */
export function Select({ label, value, choices, disabled, onChange }: SelectProps) {
  const entries = choices.map((each) => (typeof each === 'string' ? ([each, each] as const) : each));
  return html`<label class="select">${label} <select value=${value} disabled=${disabled}
    onChange=${typed(onChange)}>${entries.map(
      ([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`,
    )}</select></label>`;
}

/** `good`: works. `warn`: waits, or is about to. `bad`: failed. `off`: is off on purpose. */
export type Tone = 'good' | 'warn' | 'bad' | 'off';

/** A state in a word; form and colour only repeat it. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return html`<span class=${`state ${tone}`}>${children}</span>`;
}

/** A line of a list of facts. */
export function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return html`<div><dt>${term}</dt><dd class="long">${children}</dd></div>`;
}

/** Why something was refused, where no field is at fault. */
export function Refused({ children }: { readonly children: ComponentChildren }) {
  return html`<p class="refused long" role="alert">${children}</p>`;
}

/** Stands where there is nothing to show, and says why and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return html`<div class="empty panel stack"><h2>${title}</h2><p class="dim">${children}</p></div>`;
}

const query = matchMedia('(max-width: 600px)');
const isNarrow = signal(query.matches);
query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});

interface FoldedProps {
  /** What there is to do, or how it is set. */
  readonly summary: string;
  readonly children: ComponentChildren;
}

/** Controls that a phone shows when asked. On wider screens they stand as if this were not there. */
export function Folded({ summary, children }: FoldedProps) {
  if (!isNarrow.value) return children;
  return html`<details class="folded"><summary>${summary}</summary><div class="flow">${children}</div></details>`;
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** What is wrong with the value, as the server has said it. */
  readonly problem?: string | undefined;
  readonly hint?: string;
  /** Makes it a choice of these. */
  readonly choices?: readonly string[];
  /** What is offered while the text is written; any other text is allowed. */
  readonly offers?: readonly string[];
  readonly type?: 'text' | 'password';
  /** Numbers, names and addresses stand in the font of the instruments. */
  readonly mono?: boolean;
  readonly rows?: number;
}

/** A control with its label, and with the refusal beside what was asked. */
export function Field(props: FieldProps) {
  const { label, value, onInput, problem, hint, choices, offers, type = 'text', mono = false, rows } = props;
  const id = useId();
  const note = problem ?? hint;
  const shared = {
    id,
    class: mono ? 'mono' : '',
    onInput: typed(onInput),
    'aria-invalid': problem !== undefined,
    'aria-describedby': note === undefined ? undefined : `${id}-note`,
  };
  let control = html`<input ...${shared} type=${type} value=${value} autocomplete="off" spellcheck=${false}
    list=${offers && `${id}-offers`} />`;
  if (rows !== undefined) {
    control = html`<textarea ...${shared} rows=${rows} spellcheck=${false} value=${value}></textarea>`;
  }
  if (choices) {
    const options = choices.map((each) => html`<option selected=${each === value}>${each}</option>`);
    control = html`<select ...${shared}>${options}</select>`;
  }
  return html`<div class=${problem === undefined ? 'field' : 'field wrong'}>
    <label for=${id}>${label}</label>
    ${control}
    ${offers ? html`<datalist id=${`${id}-offers`}>${offers.map((each) => html`<option>${each}</option>`)}</datalist>` : null}
    ${note === undefined ? null : html`<p class="note long" id=${`${id}-note`}>${note}</p>`}
  </div>`;
}

/** What a form sends: whether it is under way, and why the last time it was refused. */
export function useRequest() {
  const isBusy = useSignal(false);
  const refusal = useSignal<RemoteRefusal | undefined>(undefined);
  const send = async <Value>(request: Promise<Answer<Value>>): Promise<Answer<Value>> => {
    isBusy.value = true;
    const answer = await request;
    isBusy.value = false;
    refusal.value = answer.ok ? undefined : answer.problem;
    return answer;
  };
  return { isBusy, refusal, send };
}
