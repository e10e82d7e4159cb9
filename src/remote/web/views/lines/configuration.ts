import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { ConfigurationChange } from '../../../../simulator/commands/schemas/program.js';
import { ask, send as sendTo } from '../../api.js';
import { Button, Field, into, put, Refused, useRequest } from '../../ui/controls.js';
import { Dialog } from '../../ui/dialog.js';
import { say } from '../../ui/toast.js';

/** Describes a step: `changed device meter`. */
const stepText = ({ change, of, name }: ConfigurationChange['steps'][number]) => `${change} ${of} ${name}`;

/** Describes the steps in one sentence. */
function stepsText({ steps }: ConfigurationChange): string {
  return steps.length === 0 ? 'nothing changes' : steps.map(stepText).join(', ');
}

/** The buttons for the configuration as a whole: undo the last change, and edit the file. */
export function ConfigurationButtons() {
  const isEditing = useSignal(false);
  const undo = async () => {
    const answer = await ask<ConfigurationChange>('POST', '/configuration/undo');
    if (answer.ok) say(`Undone: ${stepsText(answer.value)}.`);
    else say(answer.problem.detail, 'refused');
  };
  return html`<${Button} writes label="Undo the last change" onClick=${() => void undo()}>Undo<//>
    <${Button} writes onClick=${put(isEditing, true)}>Edit as file<//>
    ${isEditing.value ? html`<${Editor} onClose=${put(isEditing, false)} />` : null}`;
}

/** A form with the file that would start what is running now. */
function Editor({ onClose }: { readonly onClose: () => void }) {
  const text = useSignal('');
  const preview = useSignal('');
  const { isBusy, refusal, send } = useRequest();
  useEffect(() => {
    const read = async () => {
      text.value = await (await sendTo('/configuration', {})).text();
    };
    void read().catch(({ message }: Error) => say(message, 'refused'));
  }, []);
  const put = async (query: string) => {
    preview.value = '';
    const file = new Blob([text.value], { type: 'application/yaml' });
    const answer = await send(ask<ConfigurationChange>('PUT', `/configuration${query}`, file));
    return answer.ok ? stepsText(answer.value) : undefined;
  };
  const show = async () => {
    const steps = await put('?preview=true');
    if (steps !== undefined) preview.value = `Would do: ${steps}.`;
  };
  const apply = async () => {
    const steps = await put('');
    if (steps === undefined) return;
    say(`Applied: ${steps}.`);
    onClose();
  };
  const isOff = isBusy.value || text.value === '';
  const buttons = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} disabled=${isOff} onClick=${() => void show()}>Preview<//>
    <${Button} kind="main" type="submit" writes disabled=${isOff}>Apply<//>`;
  const at = refusal.value?.problems.find(({ line }) => line !== undefined);
  return html`<${Dialog} title="Edit as file" onSubmit=${() => void apply()} onClose=${onClose} buttons=${buttons}>
    ${refusal.value && html`<${Refused}>Refused${at ? `, line ${at.line}` : ''}: ${refusal.value.detail}<//>`}
    <${Field} label="devices, lines and fault rules as they are now" mono rows=${20} value=${text.value} onInput=${into(text)} />
    <p class="long" role="status">${preview.value}</p>
  <//>`;
}
