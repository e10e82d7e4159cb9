import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type {
  ClockRequest,
  DeviceView,
  PowerRequest,
} from '../../../../simulator/commands/schemas/device.js';
import type { RegisterView } from '../../../../simulator/commands/schemas/value.js';
import type { StreamedView } from '../../../../simulator/traffic/view-schema.js';
import { longDuration } from '../../../../testing/report/words.js';
import { ask } from '../../api.js';
import { summary } from '../../live.js';
import { recorded } from '../../recorded.js';
import { resource } from '../../resource.js';
import { go, route } from '../../route.js';
import { Button, Empty, Folded, into, put, Refused, Select, State, sent, typed } from '../../ui/controls.js';
import { AskingButton, Question } from '../../ui/dialog.js';
import { count } from '../../ui/format.js';
import { say, sayAnswer } from '../../ui/toast.js';
import { Details } from './details.js';
import { clash, mayRedo, mayUndo, redo, select, undo } from './editing.js';
import { followTouches } from './flashes.js';
import { FORMATS } from './formats.js';
import { Grid } from './grid.js';
import { rowOf } from './layout.js';
import { followRegisters, problem, readNow } from './reading.js';
import {
  addressOf,
  columns,
  defined,
  devices,
  followDevices,
  format,
  machine,
  rowStarts,
  size,
  TABLES,
  target,
  usualDevice,
  type WordTable,
} from './state.js';
import { type Missing, missingIn } from './touches.js';
import './registers.css';

/** The controls that choose what is shown, and how. */
function Bar({ device, table }: { readonly device: DeviceView; readonly table: WordTable }) {
  const all = devices.current.value ?? [];
  // If the other device does not have this table, shows one that it has.
  const other = (name: string) => (all.find((each) => each.name === name)?.tables[table] ? table : '');
  return html`<div class="flow">
    <${Select} label="Device" value=${device.name} choices=${all.map(({ name }) => name)}
      onChange=${(name: string) => go(addressOf({ device: name, table: other(name) }))} />
    <nav aria-label="Tables"><ul class="flow">${TABLES.map(
      (
        each,
      ) => html`<li><a class="tab" href=${addressOf({ table: each })} aria-current=${each === table ? 'true' : undefined}>
        ${each} <span class="dim" title="defined registers">${count(defined.value?.[each]?.registers ?? 0)}</span></a></li>`,
    )}</ul></nav>
    <${Folded} summary=${`Shown as ${FORMATS[format.value].title}`}>
      <${Select} label="Show as" value=${format.value} choices=${Object.entries(FORMATS).map(([name, { title }]) => [name, title])}
        onChange=${(as: string) => go(addressOf({ as }), 'replace')} />
      <${Find} device=${device} table=${table} />
      ${
        recorded
          ? null
          : html`<span class="flow end">
        <${Button} writes disabled=${!mayUndo.value} label="Undo the last change" onClick=${undo}>Undo<//>
        <${Button} writes disabled=${!mayRedo.value} label="Redo the change" onClick=${redo}>Redo<//>
      </span>`
      }
    <//>
  </div>`;
}

/** Maximum number of names that the field suggests. */
const MOST_NAMES = 500;

/** A field that goes to an address of the table, or to a named value of any table. Keys then act on that register. */
function Find({ device, table }: { readonly device: DeviceView; readonly table: WordTable }) {
  const text = useSignal('');
  const isAsking = useSignal(false);
  const find = async () => {
    const wanted = text.value.trim();
    isAsking.value = true;
    await goTo(wanted);
    isAsking.value = false;
  };
  const goTo = async (wanted: string) => {
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
      if (!found) return;
      go(addressOf({ table: found.table, from: found.address }));
      // Immediately: the next key may come before the page is drawn.
      select(found.address);
    }
    text.value = '';
    // The grid of another table must be drawn first.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.view-registers .grid')?.focus());
  };
  return html`<form class="find" onSubmit=${sent(find)}>
    <label>Go to <input list="register-names" class="mono" placeholder="address or name" autocomplete="off"
      spellcheck=${false} readonly=${isAsking.value} value=${text.value} onInput=${typed(into(text))} /></label>
    <datalist id="register-names">${device.names.slice(0, MOST_NAMES).map((name) => html`<option value=${name} />`)}</datalist>
  </form>`;
}

const TONES = { on: 'good', booting: 'warn', off: 'bad' } as const;
const SPEEDS = [0.1, 1, 10, 60, 600, 3600];

/** The power and the clock of the device, with their switches. */
function Machine({ name }: { readonly name: string }) {
  const now = machine.value;
  const isOff = !now;
  const post = async (command: string, done: string, body?: PowerRequest | ClockRequest) => {
    if (sayAnswer(await ask('POST', pathOf('devices', name, command), body), done)) await readNow();
  };
  const power = (state: PowerRequest['state'], done: string) => () => void post('power', done, { state });
  const clock = (body: ClockRequest, done: string) => void post('clock', done, body);
  const { time = 0, speed = 1, paused = false } = now?.clock ?? {};
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed];
  const summary = `Power ${now?.power ?? '–'}, clock ${paused ? 'paused' : `${speed}×`}`;
  return html`<div class="machine panel flow"><${Folded} summary=${summary}>
    <span class="flow"><span class="dim">Power</span> <${State} tone=${now ? TONES[now.power] : 'off'}>${now?.power ?? '–'}<//>
      <${Button} writes disabled=${isOff || now.power === 'on'} label="Switch the power on" onClick=${power('on', `${name} is switched on.`)}>On<//>
      <${Button} writes disabled=${isOff || now.power === 'off'} label="Switch the power off" onClick=${power('off', `${name} is switched off.`)}>Off<//>
      <${Button} writes disabled=${isOff || now.power === 'off'} label="Interrupt 1 s: cut the power for a second" onClick=${power(
        'cycle',
        `${name} is off for a second.`,
      )}>Interrupt 1 s<//></span>
    <span class="flow"><span class="dim">Clock</span> <span class="mono time">${paused ? 'paused at ' : ''}${longDuration(time)}</span>
      <${Button} writes disabled=${isOff} label=${paused ? 'Let the clock run' : 'Pause the clock'} onClick=${() =>
        clock(
          { pause: !paused },
          `The clock of ${name} ${paused ? 'runs' : 'is paused'}.`,
        )}>${paused ? 'Run' : 'Pause'}<//>
      <${Select} label="speed" writes disabled=${isOff} value=${String(speed)}
        choices=${speeds.map((each) => [String(each), `${each}×`])}
        onChange=${(each: string) => clock({ speed: Number(each) }, `The clock of ${name} runs ${each} times as fast.`)} />
      <${Button} writes disabled=${isOff} label="+1 min: advance the clock" onClick=${() =>
        clock({ step: '1m' }, `The clock of ${name} was advanced by a minute.`)}>+1 min<//></span>
    <${AskingButton} writes disabled=${isOff} label="Reset the device: registers as configured" title=${`Reset ${name}?`}
      text="All registers except those with retain return to their configured values. Changes by clients and by this page are lost, and the clock restarts at 0."
      onYes=${() => void post('reset', `${name} was reset.`)}>Reset<//>
  <//></div>`;
}

/** How often the traffic is searched, in µs. */
const EVERY_US = 3e6;
/** Maximum number of problems searched, newest first. */
const MOST_EVENTS = '500';

const problems = resource(
  () => {
    const { lines = {} } = target.peek()?.device ?? {};
    const query = new URLSearchParams(Object.keys(lines).map((line) => ['line', line]));
    for (const [name, value] of [
      ['kind', 'reply'],
      ['problems', 'true'],
      ['limit', MOST_EVENTS],
    ] as const)
      query.set(name, value);
    return `/traffic?${query}`;
  },
  ({ events }: { readonly events: readonly StreamedView[] }) => events,
  () => target.value && [target.value.device.name, Math.floor((summary.value?.monotonicUs ?? 0) / EVERY_US)],
);

/** Lists registers that clients have tried to access and that the device does not define. One click defines them. */
function MissingRegisters({ device }: { readonly device: DeviceView }) {
  useEffect(problems.follow, []);
  const missing = missingIn(problems.current.value ?? [], device, defined.value ?? {});
  if (missing.length === 0) return null;
  const define = async ({ table, address, quantity, text }: Missing) => {
    const write = table === 'coils' || table === 'holding';
    const body = { table, address, quantity, write };
    const answer = await ask('POST', pathOf('devices', device.name, 'registers'), body);
    if (sayAnswer(answer, `Defined on ${device.name}: ${text}.`)) go(addressOf({ table, from: address }));
  };
  return html`<section class="missing panel flow" aria-label="Requested but not defined">
    <span>Requested but not defined (exception 02):</span>
    ${missing.map(
      (each) => html`<span class="flow"><span class="mono">${each.text}</span>
        ${
          recorded
            ? null
            : html`<${Button} label=${`Define ${each.text}: it holds 0`} writes onClick=${() => void define(each)}>Define<//>`
        }</span>`,
    )}
  </section>`;
}

/** The view `/registers/DEVICE/TABLE`: a table of a device, to read and change. */
export function RegistersView() {
  useEffect(followDevices, []);
  useEffect(followRegisters, []);
  useEffect(followTouches, []);
  useEffect(leadSomewhere, [route.value, devices.current.value, defined.value]);
  const all = devices.current.value;
  const [name, wanted] = route.value.parts;
  const now = target.value;
  if (!all || (!now && wanted === undefined && all.some((each) => name === undefined || each.name === name)))
    return html`<${Empty} title="Registers">Waiting for the simulator.<//>`;
  if (!now) {
    const links = all.map(
      (device) => html`<a href=${addressOf({ device: device.name, table: '' })}>${device.name}</a> `,
    );
    const title = all.some((device) => device.name === name)
      ? `${name} has no table ${wanted}`
      : `There is no device ${name}`;
    return html`<${Empty} title=${title}>Known devices: ${links}<//>`;
  }
  const { device, table } = now;
  const isKnown = defined.value !== undefined;
  return html`<div class="stack" onKeyDown=${onKey}>
    <${Bar} device=${device} table=${table} />
    ${recorded ? null : html`<${Machine} name=${device.name} />`}
    <${MissingRegisters} device=${device} />
    <div class="parts columns">
      ${size.value === 0 ? html`<${Empty} title=${`${device.name} has no ${table}`}>Choose another table.<//>` : null}
      ${size.value > 0 && isKnown ? html`<${Grid} key=${`${device.name} ${table}`} label=${`${table} of ${device.name}`} />` : null}
      <${Details} device=${device} />
    </div>
    ${
      clash.value
        ? html`<${Question} title="Written meanwhile" text=${clash.value.text} no="Keep it" yes="Overwrite it"
            onYes=${clash.value.goOn} onClose=${put(clash, undefined)} />`
        : null
    }
    ${problem.value === undefined ? null : html`<${Refused}>${problem.value}<//>`}
  </div>`;
}

/** Chooses a device and a table if the address has none: the default device, and its most interesting table. */
function leadSomewhere(): void {
  const [name, table] = route.peek().parts;
  const all = devices.current.peek();
  const device = name === undefined ? usualDevice(all) : all?.find((each) => each.name === name);
  const tables = defined.peek();
  if (!device || !tables || table !== undefined) return;
  // Many registers close together are more interesting than a few far apart.
  const score = (each: string) => (tables[each]?.registers ?? 0) ** 2 / Math.max(1, device.tables[each] ?? 0);
  const [best = 'holding'] = TABLES.toSorted((a, b) => score(b) - score(a));
  go(addressOf({ device: device.name, table: best }), 'replace');
}

function onKey(event: KeyboardEvent): void {
  if (!(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement) return;
  const key = event.key.toLowerCase();
  const isRedo = key === 'y' || (key === 'z' && event.shiftKey);
  if (key !== 'z' && !isRedo) return;
  event.preventDefault();
  if (isRedo) redo();
  else undo();
}
