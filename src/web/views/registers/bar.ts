import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { DeviceView } from '../../../control/schemas/device.js';
import type { RegisterView } from '../../../control/schemas/value.js';
import { ask, pathOf } from '../../api.js';
import { go } from '../../route.js';
import { Button } from '../../ui/button.js';
import { Folded } from '../../ui/folded.js';
import { count } from '../../ui/format.js';
import { say } from '../../ui/toast.js';
import { mayRedo, mayUndo, redo, undo } from './changes.js';
import { devices } from './devices.js';
import { FORMATS } from './formats.js';
import { select } from './selection.js';
import { addressOf, format, size, TABLES, type Table } from './state.js';

/** Chooses what is shown, and how. */
export function Bar({ device, table }: { readonly device: DeviceView; readonly table: Table }) {
  const names = (devices.value ?? []).map(({ name }) => name);
  return html`<div class="bar">
    <label>Device <select value=${device.name} onChange=${(event: Event) => {
      go(addressOf({ device: (event.target as HTMLSelectElement).value }));
    }}>${names.map((name) => html`<option value=${name} selected=${name === device.name}>${name}</option>`)}</select></label>
    <nav aria-label="Tables"><ul>${TABLES.map(
      (
        each,
      ) => html`<li><a href=${addressOf({ table: each })} aria-current=${each === table ? 'true' : undefined}>
        ${each} <span class="dim size">${count(device.tables[each] ?? 0)}</span></a></li>`,
    )}</ul></nav>
    <${Folded} summary=${`Shown as ${FORMATS[format.value]}`}>
    <label>Show as <select value=${format.value} onChange=${(event: Event) => {
      go(addressOf({ as: (event.target as HTMLSelectElement).value }), 'replace');
    }}>${Object.entries(FORMATS).map(
      ([key, text]) => html`<option value=${key} selected=${key === format.value}>${text}</option>`,
    )}</select></label>
    <${Find} device=${device} />
    <span class="undo">
      <${Button} disabled=${!mayUndo.value} label="Undo the last change" onClick=${undo}>Undo<//>
      <${Button} disabled=${!mayRedo.value} label="Redo the change" onClick=${redo}>Redo<//>
    </span>
    <//>
  </div>`;
}

/** The most names that the list under the field offers. */
const MOST_NAMES = 500;

/** Leads to an address or to a named value. */
function Find({ device }: { readonly device: DeviceView }) {
  const text = useSignal('');
  const find = async () => {
    const wanted = text.value.trim();
    if (/^(\d+|0x[0-9a-f]+)$/i.test(wanted)) {
      select(Math.min(Number(wanted), size.peek() - 1));
      return;
    }
    const query = new URLSearchParams({ names: wanted });
    const path = `${pathOf('devices', device.name)}/registers?${query}`;
    const answer = await ask<{ registers: RegisterView[] }>('GET', path);
    if (!answer.ok) return say(answer.problem.detail, 'refused');
    const [found] = answer.value.registers;
    if (found) go(addressOf({ table: found.table, from: found.address }));
  };
  return html`<form class="find" onSubmit=${(event: Event) => {
    event.preventDefault();
    void find();
  }}>
    <label>Go to <input list="register-names" class="mono" placeholder="address or name" autocomplete="off"
      spellcheck=${false} value=${text.value} onInput=${(event: Event) => {
        text.value = (event.target as HTMLInputElement).value;
      }} /></label>
    <datalist id="register-names">${device.names.slice(0, MOST_NAMES).map((name) => html`<option value=${name} />`)}</datalist>
  </form>`;
}
