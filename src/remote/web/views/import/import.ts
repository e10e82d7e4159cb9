import './import.css';
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import { pathOf } from '../../../../common/rest-client/client.js';
import { counted } from '../../../../common/words.js';
import { ask } from '../../api.js';
import { go, hrefOf } from '../../route.js';
import { Button, Field, Refused, Select, useRequest } from '../../ui/controls.js';
import { say } from '../../ui/toast.js';
import { type ImportChoices, type Imported, linesFor, registersOf, saidOf, USES } from './model.js';

/** The file to import, and how it was understood. It is kept while other views are shown. */
const file = signal<{ readonly name: string; readonly content: string } | undefined>(undefined);
const said = signal<ImportChoices>({});
const imported = signal<Imported | undefined>(undefined);
const line = signal({ name: 'imported', port: '0' });

/** Maximum size of a file in bytes, as in the simulator. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_SHOWN = 100;
const MOST_TABLES = 10;

/**
 * The view `/import`: converts a table or another file to devices, after the user has reviewed how it was
 * understood.
 */
export function ImportView() {
  const { isBusy, refusal, send } = useRequest();
  const read = async (next: ImportChoices) => {
    said.value = next;
    if (!file.value) return;
    const { name, content } = file.value;
    const answer = await send(ask<Imported>('POST', '/import', { file: name, content, ...next }));
    // Of two answers, the one for the current choices counts.
    if (said.value === next) imported.value = answer.ok ? answer.value : undefined;
  };
  const take = async (given: File | undefined) => {
    if (!given) return;
    if (given.size > MOST_BYTES) return say(`${given.name} has more than 4 MiB.`, 'refused');
    const content = await base64Of(given).catch(() => undefined);
    if (content === undefined) return say(`${given.name} could not be read.`, 'refused');
    file.value = { name: given.name.slice(-255), content };
    line.value = {
      ...line.value,
      name: given.name
        .replace(/\.\w+$/, '')
        .replace(/[^\w-]+/g, '-')
        .slice(0, 40),
    };
    await read({});
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void take(event.dataTransfer?.files[0]);
  };
  const found = imported.value;
  return html`<div class="stack" onDragOver=${(event: Event) => event.preventDefault()} onDrop=${drop}>
    <section class="panel stack drop" aria-label="File">
      <p class="long">Drop a register table (CSV, tabs, Markdown) or a client configuration here. Nothing is added until you confirm.</p>
      <label class="button file">Choose a file
        <input class="unseen" type="file" onChange=${(event: Event) => {
          const input = event.target as HTMLInputElement;
          void take(input.files?.[0]);
          input.value = '';
        }} /></label>
      <p role="status" class="long">${statusOf(isBusy.value)}</p>
      ${refusal.value ? html`<${Refused}>${refusal.value.detail}<//>` : null}
      ${found?.problem ? html`<${Refused}>${found.problem}<//>` : null}
    </section>
    ${found?.tables ? html`<${Tables} tables=${found.tables} read=${read} />` : null}
    ${found && found.devices.length > 0 ? html`<${Devices} found=${found} /><${Adding} found=${found} />` : null}
  </div>`;
}

function statusOf(isBusy: boolean): string {
  if (isBusy) return 'Reading the file.';
  if (!file.value) return 'No file yet.';
  const { what } = imported.value ?? {};
  return what ? `${file.value.name}: ${what}` : file.value.name;
}

/** The content of a file in base64. */
function base64Of(given: File): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(given);
  });
}

interface TablesProps {
  readonly tables: NonNullable<Imported['tables']>;
  readonly read: (next: ImportChoices) => Promise<void>;
}

/** The tables of the file, with the meaning of each column above it. */
function Tables({ tables, read }: TablesProps) {
  const { base = '', table = '', defaults = 'stored' } = said.value;
  const change = (key: 'base' | 'table' | 'defaults') => (value: string) =>
    void read(saidOf(said.value, { [key]: value }));
  return html`<section class="panel stack" aria-label="Tables">
    <div class="flow">
      <${Select} label="Addresses" value=${base} onChange=${change('base')}
        choices=${[['', 'as they look'], ['wire', 'as on the wire'], ['1', 'counted from 1'], ['entity', 'register numbers (40001)']]} />
      <${Select} label="Rows without a table" value=${table} onChange=${change('table')}
        choices=${[['', 'as they look'], 'coils', 'discrete', 'input', 'holding']} />
      <${Select} label="Defaults" value=${defaults} onChange=${change('defaults')}
        choices=${[['stored', 'as stored'], ['units', 'in the unit']]} />
      <${Button} onClick=${() => void read({})}>Guess again<//>
    </div>
    ${tables.slice(0, MOST_TABLES).map((each) => html`<${Table} key=${each.line} table=${each} read=${read} />`)}
    ${tables.length > MOST_TABLES ? html`<p class="dim">${counted(tables.length - MOST_TABLES, 'more table')} read in the same way.</p>` : null}
  </section>`;
}

interface TableProps {
  readonly table: TablesProps['tables'][number];
  readonly read: TablesProps['read'];
}

function Table({ table: { line, columns, rows }, read }: TableProps) {
  const use = (header: string) => (role: string) =>
    void read(saidOf(said.value, { columns: { ...said.value.columns, [header]: role } }));
  return html`<div class="wide" tabindex="0" role="region" aria-label=${`Table of line ${line}`}><table>
    <thead>
      <tr>${columns.map(
        ({ header, role = 'none', meaning, near }, i) => html`<td>
        <select class=${role} aria-label=${`Use of ${header || `column ${i + 1}`}`} value=${role}
          onChange=${(event: Event) => use(header || String(i + 1))((event.target as HTMLSelectElement).value)}>
          ${USES.map(([value, text]) => html`<option value=${value} selected=${value === role}>${text}</option>`)}</select>
        <p class="small dim">${meaning ?? ''}${near ? `; or ${near}` : ''}</p></td>`,
      )}</tr>
      <tr>${columns.map(({ header }) => html`<th scope="col">${header}</th>`)}</tr>
    </thead>
    <tbody>${rows.map((cells) => html`<tr>${columns.map((_, i) => html`<td>${cells[i] ?? ''}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** The devices from the file, and what was not understood. */
function Devices({ found }: { readonly found: Imported }) {
  const { devices, notes, summary, text } = found;
  const registers = devices.flatMap(registersOf);
  return html`<section class="panel stack" aria-label="Devices">
    <ul class="long">${summary.map((each) => html`<li>${each}</li>`)}</ul>
    ${
      notes.length === 0
        ? null
        : html`<details open><summary>${counted(notes.length, 'note')}: not understood, or converted</summary>
      <ul class="warn long">${notes
        .slice(0, MOST_SHOWN)
        .map(
          ({ location, message, more }) =>
            html`<li>${location}${more ? ` and ${more} more` : ''}: ${message}</li>`,
        )}</ul></details>`
    }
    <div class="wide" tabindex="0" role="region" aria-label="Registers"><table>
      <thead><tr>${['unit', 'table', 'address', 'name', 'type', 'value', 'scale', 'unit', 'clients'].map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
      <tbody>${registers.slice(0, MOST_SHOWN).map((cells) => html`<tr>${cells.map((cell) => html`<td class="mono">${cell}</td>`)}</tr>`)}</tbody>
    </table></div>
    ${registers.length > MOST_SHOWN ? html`<p class="dim">and ${registers.length - MOST_SHOWN} more</p>` : null}
    <details><summary>The native file</summary><pre class="mono">${text}</pre></details>
  </section>`;
}

/** Adds the devices on a new line, all or none. */
function Adding({ found }: { readonly found: Imported }) {
  const { isBusy, refusal, send } = useRequest();
  const { name, port } = line.value;
  const add = async () => {
    const added: string[] = [];
    const requests = [
      ...found.devices.map(({ name, entry }) => ['devices', { ...entry, name }] as const),
      ...linesFor(found.devices, name, port).map((each) => ['lines', each] as const),
    ];
    for (const [kind, body] of requests) {
      const answer = await send(ask('POST', `/${kind}`, body));
      if (answer.ok) added.unshift(pathOf(kind, body.name));
      else {
        // A line is removed before its devices.
        for (const path of added) await ask('DELETE', path);
        return;
      }
    }
    say(`Added ${counted(found.devices.length, 'device')} on line ${name}.`);
    go(hrefOf('registers', [found.devices[0]?.name ?? '']));
  };
  const href = `data:application/yaml;charset=utf-8,${encodeURIComponent(found.text)}`;
  return html`<section class="panel stack" aria-label="Add"><div class="flow">
      <${Field} label="new line" mono value=${name} onInput=${(next: string) => (line.value = { name: next, port })} />
      <${Field} label="TCP port (0 picks a free one)" mono value=${port} onInput=${(next: string) => (line.value = { name, port: next })} />
      <${Button} kind="main" writes disabled=${isBusy.value} onClick=${() => void add()}>Add to the simulator<//>
      <a class="button" download=${`${name}.yaml`} href=${href}>Save as a file</a>
    </div>
    ${refusal.value ? html`<${Refused}>Nothing was added: ${refusal.value.detail}<//>` : null}
  </section>`;
}
