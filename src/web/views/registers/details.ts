import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import type { DeviceView } from '../../../control/schemas/device.js';
import type { RegisterView } from '../../../control/schemas/value.js';
import { mayWrite } from '../../session.js';
import { Button } from '../../ui/button.js';
import { count } from '../../ui/format.js';
import { textOf } from './formats.js';
import { whyNot } from './known.js';
import { valueText } from './layout.js';
import { detail } from './reading.js';
import { editSelected } from './selection.js';
import { SignalForm } from './signal-form.js';
import { known, selected, target, version } from './state.js';
import { ValuePlot } from './value-plot.js';
import { writerText } from './writes.js';

/** All that is known of the register that is selected: what it means, who wrote it, and what moves it. */
export function Details({ device }: { readonly device: DeviceView }) {
  const address = selected.value;
  const word = version.value >= 0 ? known.wordAt(address) : undefined;
  // What is on the screen is known before the answer about the register comes.
  const about = [detail.value, known.valueAt(address)].find((each) => each && holds(each, address));
  const why = whyNot(known, address, mayWrite());
  const key = `${device.name} ${target.value?.table} ${about?.address ?? address}`;
  return html`<aside class="details" tabindex="0" aria-label="The selected register">
    <h2 class="long">${about?.name ?? `${target.value?.table} ${address}`}</h2>
    <p class="now mono long">${about ? cut(valueText(about)) : '–'}</p>
    <p class="dim long">${about?.description ?? ''}</p>
    <dl>
      <${Fact} term="address">${addressText(address)}${about && about.registers > 1 ? `, ${about.registers} registers from ${about.address}` : ''}<//>
      <${Fact} term="type">${about ? about.type : word === null ? 'not defined' : '–'}<//>
      <${Fact} term="raw">${about ? cut(String(about.raw)) : '–'}<//>
      <${Fact} term="register">${typeof word === 'number' ? allForms(word) : '–'}<//>
      <${Fact} term="clients may">${about ? (about.writable ? 'read and write' : 'read') : '–'}<//>
      <${Fact} term="read, written">${about ? `${count(about.reads)} times, ${count(about.writes)} times` : '–'}<//>
      <${Fact} term="last writer">${about ? writerText(about) : '–'}<//>
      ${about?.action ? html`<${Fact} term="action">${about.action}<//>` : null}
      ${about?.trouble ? html`<${Fact} term="trouble">${about.trouble}<//>` : null}
      ${about && about.saturated > 0 ? html`<${Fact} term="did not fit">${`${count(about.saturated)} times`}<//>` : null}
      <${Fact} term="can be set">${why === undefined ? 'yes' : `no: ${why}`}<//>
    </dl>
    <div><${Button} disabled=${why !== undefined} onClick=${editSelected}>Edit<//></div>
    <${ValuePlot} key=${key} about=${about} />
    <${SignalForm} key=${`signal ${key}`} device=${device.name} about=${about} />
  </aside>`;
}

function holds({ table, address, registers }: RegisterView, wanted: number): boolean {
  return table === target.value?.table && wanted >= address && wanted < address + registers;
}

function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return html`<div><dt>${term}</dt><dd class="long">${children}</dd></div>`;
}

const MOST_SHOWN = 120;

/** The beginning of a long text, with its length. */
function cut(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}… (${count(text.length)} characters)` : text;
}

function addressText(address: number): string {
  return `${address} (0x${address.toString(16).toUpperCase().padStart(4, '0')})`;
}

function allForms(word: number): string {
  if (known.bits === 1) return String(word);
  const signed = word > 0x7fff ? `, ${textOf('signed', [word], 16)}` : '';
  return `0x${textOf('hex', [word], 16)}, ${word}${signed}, "${textOf('text', [word], 16)}"`;
}
