import { html } from 'htm/preact';
import { useId } from 'preact/hooks';
import { typed } from './controls.js';

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
