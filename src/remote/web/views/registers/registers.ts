import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { go, route } from '../../route.js';
import { Empty, put, Refused } from '../../ui/controls.js';
import { Question } from '../../ui/dialog.js';
import { Bar, Machine } from './bar.js';
import { clash, redo, undo } from './changes.js';
import { Details } from './details.js';
import { followTouches } from './flashes.js';
import { Grid } from './grid.js';
import { MissingRegisters } from './missing.js';
import { followRegisters, problem } from './reading.js';
import { addressOf, defined, devices, followDevices, size, TABLES, target, usualDevice } from './state.js';
import './registers.css';

/** The view `/registers/DEVICE/TABLE`: a table of a device, to read and to change. */
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
    <${Machine} name=${device.name} />
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

/**
 * Chooses a device and a table if the address has none: the usual device, and its table with most to show.
 */
function leadSomewhere(): void {
  const [name, table] = route.peek().parts;
  const all = devices.current.peek();
  const device = name === undefined ? usualDevice(all) : all?.find((each) => each.name === name);
  const tables = defined.peek();
  if (!device || !tables || table !== undefined) return;
  // Many registers that are close together show more than few that are far apart.
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
