import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { pathOf } from '../../../../common/rest-client/client.js';
import type {
  ClockRequest,
  DeviceView,
  PowerRequest,
} from '../../../../simulator/commands/schemas/device.js';
import type { RegisterView } from '../../../../simulator/commands/schemas/value.js';
import { ask, mayWrite } from '../../api.js';
import { go } from '../../route.js';
import { Button, Folded, into, Select, State, sent, typed } from '../../ui/controls.js';
import { AskingButton } from '../../ui/dialog.js';
import { count, duration } from '../../ui/format.js';
import { say, sayAnswer } from '../../ui/toast.js';
import { mayRedo, mayUndo, redo, undo } from './changes.js';
import { select } from './editing.js';
import { FORMATS } from './formats.js';
import { rowOf } from './layout.js';
import { readNow } from './reading.js';
import {
  addressOf,
  columns,
  defined,
  devices,
  format,
  machine,
  rowStarts,
  TABLES,
  type WordTable,
} from './state.js';

/** The controls that choose what is shown, and how. */
export function Bar({ device, table }: { readonly device: DeviceView; readonly table: WordTable }) {
  const all = devices.current.value ?? [];
  // If the other device does not have this table, one that it has is shown.
  const other = (name: string) => (all.find((each) => each.name === name)?.tables[table] ? table : '');
  return html`<div class="flow">
    <${Select} label="Device" value=${device.name} choices=${all.map(({ name }) => name)}
      onChange=${(name: string) => go(addressOf({ device: name, table: other(name) }))} />
    <nav aria-label="Tables"><ul class="flow">${TABLES.map(
      (
        each,
      ) => html`<li><a class="tab" href=${addressOf({ table: each })} aria-current=${each === table ? 'true' : undefined}>
        ${each} <span class="dim" title="registers that are defined">${count(defined.value?.[each]?.registers ?? 0)}</span></a></li>`,
    )}</ul></nav>
    <${Folded} summary=${`Shown as ${FORMATS[format.value].title}`}>
      <${Select} label="Show as" value=${format.value} choices=${Object.entries(FORMATS).map(([name, { title }]) => [name, title])}
        onChange=${(as: string) => go(addressOf({ as }), 'replace')} />
      <${Find} device=${device} table=${table} />
      <span class="flow end">
        <${Button} disabled=${!mayUndo.value} label="Undo the last change" onClick=${undo}>Undo<//>
        <${Button} disabled=${!mayRedo.value} label="Redo the change" onClick=${redo}>Redo<//>
      </span>
    <//>
  </div>`;
}

/** Most names that the field suggests. */
const MOST_NAMES = 500;

/**
 * A field that leads to an address of the table, or to a named value of any table. Keys then act on that
 * register.
 */
function Find({ device, table }: { readonly device: DeviceView; readonly table: WordTable }) {
  const text = useSignal('');
  const find = async () => {
    const wanted = text.value.trim();
    if (/^(\d+|0x[0-9a-f]+)$/i.test(wanted)) {
      const address = Number(wanted);
      const start = rowStarts.peek()[rowOf(rowStarts.peek(), columns.peek(), address)] ?? 0;
      const isShown = address >= start && address < start + columns.peek();
      if (!isShown) return say(`${device.name} defines nothing near ${table} ${wanted}.`, 'refused');
      select(address);
    } else {
      const path = `${pathOf('devices', device.name, 'registers')}?${new URLSearchParams({ names: wanted })}`;
      const answer = await ask<{ registers: RegisterView[] }>('GET', path);
      if (!answer.ok) return say(answer.problem.detail, 'refused');
      const [found] = answer.value.registers;
      if (found) go(addressOf({ table: found.table, from: found.address }));
    }
    text.value = '';
    // The grid of another table must be drawn first.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.view-registers .grid')?.focus());
  };
  return html`<form class="find" onSubmit=${sent(find)}>
    <label>Go to <input list="register-names" class="mono" placeholder="address or name" autocomplete="off"
      spellcheck=${false} value=${text.value} onInput=${typed(into(text))} /></label>
    <datalist id="register-names">${device.names.slice(0, MOST_NAMES).map((name) => html`<option value=${name} />`)}</datalist>
  </form>`;
}

const TONES = { on: 'good', booting: 'warn', off: 'bad' } as const;
const SPEEDS = [0.1, 1, 10, 60, 600, 3600];

/** The supply and the clock of the device, with their switches. */
export function Machine({ name }: { readonly name: string }) {
  const now = machine.value;
  const isOff = !mayWrite() || !now;
  const post = async (command: string, done: string, body?: PowerRequest | ClockRequest) => {
    if (sayAnswer(await ask('POST', pathOf('devices', name, command), body), done)) await readNow();
  };
  const power = (state: PowerRequest['state'], done: string) => () => void post('power', done, { state });
  const clock = (body: ClockRequest, done: string) => void post('clock', done, body);
  const { time = 0, speed = 1, paused = false } = now?.clock ?? {};
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed];
  const summary = `Supply ${now?.supply ?? '–'}, clock ${paused ? 'paused' : `${speed}×`}`;
  return html`<div class="machine panel flow"><${Folded} summary=${summary}>
    <span class="flow"><span class="dim">Supply</span> <${State} tone=${now ? TONES[now.supply] : 'off'}>${now?.supply ?? '–'}<//>
      <${Button} disabled=${isOff || now.supply === 'on'} label="Switch the supply on" onClick=${power('on', `${name} is switched on.`)}>On<//>
      <${Button} disabled=${isOff || now.supply === 'off'} label="Switch the supply off" onClick=${power('off', `${name} is switched off.`)}>Off<//>
      <${Button} disabled=${isOff || now.supply === 'off'} label="Interrupt 1 s: no supply for a second" onClick=${power(
        'cycle',
        `${name} is off for a second.`,
      )}>Interrupt 1 s<//></span>
    <span class="flow"><span class="dim">Clock</span> <span class="mono time">${paused ? 'paused at ' : ''}${duration(time)}</span>
      <${Button} disabled=${isOff} label=${paused ? 'Let the clock run' : 'Pause the clock'} onClick=${() =>
        clock(
          { pause: !paused },
          `The clock of ${name} ${paused ? 'runs' : 'is paused'}.`,
        )}>${paused ? 'Run' : 'Pause'}<//>
      <${Select} label="speed" disabled=${isOff} value=${String(speed)}
        choices=${speeds.map((each) => [String(each), `${each}×`])}
        onChange=${(each: string) => clock({ speed: Number(each) }, `The clock of ${name} runs ${each} times as fast.`)} />
      <${Button} disabled=${isOff} label="+1 min: a step of the clock" onClick=${() =>
        clock({ step: '1m' }, `The clock of ${name} is a minute on.`)}>+1 min<//></span>
    <${AskingButton} disabled=${isOff} label="Reset the device: registers as configured" title=${`Reset ${name}?`}
      text="All registers but those with retain get their configured values. Changes of clients and of this page are lost, and the clock begins at 0."
      onYes=${() => void post('reset', `${name} was reset.`)}>Reset<//>
  <//></div>`;
}
