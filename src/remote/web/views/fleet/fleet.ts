import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { counted } from '../../../../common/words.js';
import type { SeenBench } from '../../../../simulator/commands/schemas/mqtt.js';
import { longDuration } from '../../../../testing/report/words.js';
import { serverNow, summary } from '../../live.js';
import { resource } from '../../resource.js';
import { Empty, Fact, State } from '../../ui/controls.js';
import { measured } from '../../ui/format.js';
import { broker } from './broker.js';
import './fleet.css';

const EVERY_US = 2e6;

const benches = resource(
  () => '/mqtt/benches',
  (body: { readonly benches: readonly SeenBench[] | null }) => body.benches ?? [],
  () => Math.floor((summary.value?.monotonicUs ?? 0) / EVERY_US),
);

/** The view `/fleet`: the benches on the broker, as they describe themselves. */
export function FleetView() {
  useEffect(benches.follow, []);
  const all = benches.current.value;
  const known = broker.current.value;
  if (known === null)
    return html`<${Empty} title="Fleet">This bench is not connected to an MQTT broker. Set <span class="mono">mqtt.url</span> in its configuration.<//>`;
  if (!all || !known) return html`<${Empty} title="Fleet">Waiting for the simulator.<//>`;
  const online = all.filter(({ state }) => state === 'online').length;
  return html`<div class="stack">
    <p>${counted(all.length, 'bench', 'benches')}, ${online} online</p>
    ${known.connected ? null : html`<p class="refused long" role="alert">No connection to the broker: ${known.reason ?? 'not connected yet'}.</p>`}
    ${known.connected && all.length === 0 ? html`<p class="dim">No bench has published its state, or the broker does not let this bench read it.</p>` : null}
    <div class="tiles">${all.map((bench) => html`<${Tile} key=${bench.topic} bench=${bench} />`)}</div>
  </div>`;
}

function Tile({ bench }: { readonly bench: SeenBench }) {
  const { topic, isOwn, state, version, since, labels, lines, openLines, rules, running, rates, rest } =
    bench;
  const name = topic.slice(topic.lastIndexOf('/') + 1);
  const isOnline = state === 'online';
  const seconds = since === null ? undefined : (serverNow() - Date.parse(since)) / 1000;
  return html`<article class="tile panel stack" aria-label=${`Bench ${name}`}>
    <div class="flow"><h2 class="long" title=${topic}>${name}</h2>
      <${State} tone=${isOnline ? 'good' : 'bad'}>${state}<//>
      ${isOwn ? html`<span class="dim">this bench</span>` : null}
      ${rest !== null && !isOwn && isOnline ? html`<a class="long" href=${rest} target="_blank" rel="noreferrer">Console<span class="unseen"> of ${name}</span></a>` : null}</div>
    <dl class="facts">
      <${Fact} term="requests">${rates ? `${measured(rates.requests)}/s` : '–'}<//>
      <${Fact} term="faults">${rates ? `${measured(rates.faults)}/s` : '–'}<//>
      <${Fact} term="lines">${isOnline ? `${openLines} of ${lines} open` : '–'}<//>
      <${Fact} term="rules">${rules.join(', ') || 'none'}<//>
      <${Fact} term="running">${running.join(', ') || 'nothing'}<//>
      <${Fact} term="labels">${
        Object.entries(labels)
          .map(([key, value]) => `${key} ${value}`)
          .join(', ') || 'none'
      }<//>
      <${Fact} term="version">${version ?? '–'}${isOnline && seconds !== undefined ? `, for ${longDuration(Math.max(0, seconds))}` : ''}<//>
    </dl>
  </article>`;
}
