import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { go, place } from '../../route.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Empty } from '../../ui/empty.js';
import { Bar } from './bar.js';
import { clash, redo, undo } from './changes.js';
import { Details } from './details.js';
import { devices, followDevices } from './devices.js';
import { followTouches } from './flashes.js';
import { Grid } from './grid.js';
import { Machine } from './machine.js';
import { followRegisters, problem } from './reading.js';
import { addressOf, size, TABLES, target } from './state.js';
import './registers.css';

/** The view `/registers/DEVICE/TABLE`: a table of a device, to look at and to change. */
export function RegistersView() {
  useEffect(followDevices, []);
  useEffect(followRegisters, []);
  useEffect(followTouches, []);
  useEffect(leadSomewhere, [place.value, devices.value]);
  const now = target.value;
  if (devices.value === undefined) return html`<${Empty} title="Registers">Waiting for the simulator.<//>`;
  if (!now) {
    const links = devices.value.map(
      (device) =>
        html`<a href=${addressOf({ device: device.name, table: mainTable(device.tables) })}>${device.name}</a> `,
    );
    const [name, table] = place.value.parts;
    const isKnown = devices.value.some((device) => device.name === name);
    const title = isKnown ? `${name} has no table ${table}` : `There is no device ${name}`;
    return html`<${Empty} title=${title}>Known devices: ${links}<//>`;
  }
  const { device, table } = now;
  return html`<div class="page" onKeyDown=${onKey}>
    <${Bar} device=${device} table=${table} />
    <${Machine} name=${device.name} />
    <div class="parts">
      ${
        size.value === 0
          ? html`<${Empty} title=${`${device.name} has no ${table}`}>Choose another table.<//>`
          : html`<${Grid} key=${`${device.name} ${table}`} label=${`${table} of ${device.name}`} />`
      }
      <${Details} device=${device} />
    </div>
    ${clash.value ? html`<${Clash} ...${clash.value} />` : null}
    ${problem.value === undefined ? null : html`<p class="refused long" role="alert">${problem.value}</p>`}
  </div>`;
}

/** Asks before the write of somebody else is lost. */
function Clash({ text, goOn }: { readonly text: string; readonly goOn: () => Promise<void> }) {
  const close = () => {
    clash.value = undefined;
  };
  const buttons = html`<${Button} onClick=${close}>Leave it<//><${Button} kind="danger" type="submit">Write over it<//>`;
  const submit = () => {
    close();
    void goOn();
  };
  return html`<${Dialog} title="Changed meanwhile" onSubmit=${submit} onClose=${close} buttons=${buttons}>
    <p class="long">${text}</p>
  <//>`;
}

/** Without a device or a table in the address, the first device with its fullest table is shown. */
function leadSomewhere(): void {
  const [name, table] = place.peek().parts;
  const device = devices.peek()?.find((each) => name === undefined || each.name === name);
  if (device && table === undefined)
    go(addressOf({ device: device.name, table: mainTable(device.tables) }), 'replace');
}

function mainTable(tables: Readonly<Record<string, number>>): string {
  return [...TABLES].sort((a, b) => (tables[b] ?? 0) - (tables[a] ?? 0))[0] as string;
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
