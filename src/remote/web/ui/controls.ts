import { type Signal, signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Answer, RemoteRefusal } from '../../../common/rest-client/client.js';
import { counted } from '../../../common/words.js';
import { capital } from '../../../testing/report/words.js';
import { whyOff } from '../api.js';
import { recorded, recordedEvents } from '../recorded.js';
import './controls.css';

/** Makes a function that stores the value of a control in a signal. */
export function into<Value>(target: Signal<Value>): (value: Value) => void {
  return (value) => {
    target.value = value;
  };
}

/** Makes a function that stores this value in a signal. */
export function put<Value>(target: Signal<Value>, value: Value): () => void {
  return () => into(target)(value);
}

/** Makes a handler for text that is typed or chosen in a control. */
export function typed(act: (value: string) => void): (event: Event) => void {
  return (event) => act((event.target as HTMLInputElement).value);
}

/** Makes a handler for a switch. */
export function switched(act: (isOn: boolean) => void): (event: Event) => void {
  return (event) => act((event.target as HTMLInputElement).checked);
}

/** Makes a handler for a form that does not leave the page. */
export function sent(act: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    act();
  };
}

interface ButtonProps {
  readonly children: ComponentChildren;
  /**
   * The kind of a button. `main`: the purpose of the form. `danger`: can't be undone. `link`: looks like a
   * link.
   */
  readonly kind?: 'plain' | 'main' | 'danger' | 'link';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** Whether it changes something. In a read-only session it is greyed out, with the reason. */
  readonly writes?: boolean;
  /** Why it is disabled; undefined if it is not, or if the reason is obvious. */
  readonly why?: string | undefined;
  /** The subject of the button, if its text alone does not say it. */
  readonly label?: string | undefined;
  readonly onClick?: () => void;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', type = 'button', disabled, writes = false, label, onClick } = props;
  const why = props.why ?? (writes ? whyOff() : undefined);
  const title = [label, why].filter(Boolean).join(': ') || undefined;
  return html`<button class=${`button ${kind}`} type=${type} disabled=${disabled || why !== undefined} aria-label=${label}
    title=${title} onClick=${onClick}>${children}</button>`;
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  /** The values, each with its text if that differs. */
  readonly choices: readonly (string | readonly [value: string, text: string])[];
  readonly disabled?: boolean;
  /** Whether it changes something, as for a button. */
  readonly writes?: boolean;
  readonly onChange: (value: string) => void;
}

/** A select box with its label. */
export function Select({ label, value, choices, disabled, writes = false, onChange }: SelectProps) {
  const why = writes ? whyOff() : undefined;
  const entries = choices.map((each) => (typeof each === 'string' ? ([each, each] as const) : each));
  return html`<label class="select">${label} <select value=${value} disabled=${disabled || why !== undefined}
    title=${why} onChange=${typed(onChange)}>${entries.map(
      ([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`,
    )}</select></label>`;
}

interface CheckboxProps {
  readonly children?: ComponentChildren;
  readonly isOn: boolean;
  /** The name, if no text follows the box. */
  readonly label?: string;
  readonly role?: 'switch';
  /** Why it can't be switched; undefined if it can. */
  readonly why: string | undefined;
  /** Resolves when the change has been made or refused, and read. */
  readonly onTurn: (isOn: boolean) => Promise<unknown>;
}

/** A checkbox that changes something. It keeps its new position until then, even if old values are read in between. */
export function Checkbox({ children, isOn, label, role, why, onTurn }: CheckboxProps) {
  const put = useSignal<boolean | undefined>(undefined);
  const turn = async (next: boolean) => {
    put.value = next;
    await onTurn(next);
    if (put.peek() === next) put.value = undefined;
  };
  return html`<input type="checkbox" role=${role} checked=${put.value ?? isOn} disabled=${why !== undefined} title=${why}
    aria-label=${label} onChange=${switched((next) => void turn(next))} /> ${children}`;
}

/** The tone of a state. `good`: works. `warn`: waits, or is about to. `bad`: failed. `off`: switched off on purpose. */
export type Tone = 'good' | 'warn' | 'bad' | 'off';

/** A state as a word. Shape and colour only repeat it. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return html`<span class=${`state ${tone}`}>${children}</span>`;
}

/** An entry in a list of facts. */
export function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return html`<div><dt>${term}</dt><dd class="long">${children}</dd></div>`;
}

/** A sentence that names the events a file shows. */
export function OfFile() {
  const events = counted(recordedEvents.length, 'event');
  return html`<p class="dim">${
    recorded?.events
      ? [
          `From the ${events} in this file.`,
          ...(recorded.notes ?? []).map((note) => `${capital(note)}.`),
        ].join(' ')
      : `From the ${events} that the findings cite as evidence; the report contains no others.`
  }</p>`;
}

/** A refusal that is not about a field. */
export function Refused({ children }: { readonly children: ComponentChildren }) {
  return html`<p class="refused long" role="alert">${children}</p>`;
}

/** Shown where there is nothing to show: says why and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return html`<div class="empty panel stack"><h2>${title}</h2><p class="dim">${children}</p></div>`;
}

const query = matchMedia('(max-width: 600px)');
const isNarrow = signal(query.matches);
query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});

interface FoldedProps {
  /** What the controls are for, or how they are set. */
  readonly summary: string;
  readonly children: ComponentChildren;
}

/** Controls that a phone shows on demand. Wider screens always show them. */
export function Folded({ summary, children }: FoldedProps) {
  if (!isNarrow.value) return children;
  return html`<details class="folded"><summary>${summary}</summary><div class="flow">${children}</div></details>`;
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** The server's message about the value. */
  readonly problem?: string | undefined;
  readonly hint?: string;
  /** The valid values; makes the field a choice. */
  readonly choices?: readonly string[];
  /** Values suggested while typing; other text is allowed. */
  readonly offers?: readonly string[];
  readonly type?: 'text' | 'password';
  /** Whether the field uses the font for numbers, names and addresses. */
  readonly mono?: boolean;
  readonly rows?: number;
}

/** A control with its label, and the refusal of its value if there is one. */
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

/** The state of a form's request: whether it is in progress, and why the last one was refused. */
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
