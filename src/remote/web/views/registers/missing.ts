import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { DeviceView } from '../../../../simulator/commands/schemas/device.js';
import type { StreamedView } from '../../../../simulator/traffic/view-schema.js';
import { ask, mayWrite } from '../../api.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { go } from '../../route.js';
import { Button } from '../../ui/controls.js';
import { sayAnswer } from '../../ui/toast.js';
import { addressOf, defined, target } from './state.js';
import { type Missing, missingIn } from './touches.js';

/** Interval in µs in which the traffic is searched. */
const EVERY_US = 3e6;
/** Number of the newest problems that are searched. */
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

/** Lists registers that clients have asked for and the device does not define. One click defines them. */
export function MissingRegisters({ device }: { readonly device: DeviceView }) {
  useEffect(problems.follow, []);
  const missing = missingIn(problems.current.value ?? [], device, defined.value ?? {});
  if (missing.length === 0) return null;
  const define = async ({ table, address, quantity, text }: Missing) => {
    const write = table === 'coils' || table === 'holding';
    const body = { table, address, quantity, write };
    const answer = await ask('POST', pathOf('devices', device.name, 'registers'), body);
    if (sayAnswer(answer, `${text} of ${device.name} is defined.`)) go(addressOf({ table, from: address }));
  };
  return html`<section class="missing panel flow" aria-label="Asked for and not defined">
    <span>Asked for and not defined (exception 02):</span>
    ${missing.map(
      (each) => html`<span class="flow"><span class="mono">${each.text}</span>
        <${Button} label=${`Define ${each.text}: it holds 0`} disabled=${!mayWrite()} onClick=${() => void define(each)}>Define<//></span>`,
    )}
  </section>`;
}
