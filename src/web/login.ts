import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { logIn } from './session.js';
import { Button } from './ui/button.js';
import { Dialog } from './ui/dialog.js';
import { Field } from './ui/field.js';

/** Asks for the token. The view behind it stays as it is, so that nobody loses the place. */
export function LogIn() {
  const token = useSignal('');
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const submit = async () => {
    isBusy.value = true;
    const answer = await logIn(token.value);
    isBusy.value = false;
    if (!answer.ok) problem.value = answer.problem.detail;
  };
  return html`<${Dialog} title="Log in" onSubmit=${() => void submit()}
    buttons=${html`<${Button} type="submit" kind="main" disabled=${isBusy.value}>Log in<//>`}>
    <p>This simulator asks for a token: <span class="mono">api.token</span> of its configuration, or one
    of <span class="mono">api.readTokens</span>.</p>
    <${Field} label="Token" type="password" mono value=${token.value} problem=${problem.value}
      onInput=${(value: string) => {
        token.value = value;
      }} />
  <//>`;
}
