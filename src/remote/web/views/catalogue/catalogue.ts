import './catalogue.css';
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import { counted, listText } from '../../../../common/words.js';
import { ask } from '../../api.js';
import { go, hrefOf, route } from '../../route.js';
import { Preview } from '../../strip/preview.js';
import { Button, Empty, into, Select, State, typed } from '../../ui/controls.js';
import { together } from '../../ui/element.js';
import { sayAnswer } from '../../ui/toast.js';
import { rules } from '../faults/rules.js';
import { details } from '../lines/details.js';
import { type Entry, entriesWith, whoPlays } from './entries.js';
import { entries, ruleNames } from './playing.js';

const follow = () => together(entries.follow(), rules.follow(), details.follow());

/** The view `/catalogue`: the faults of real devices, with a search. `/catalogue/ID` shows an entry. */
export function CatalogueView() {
  useEffect(follow, []);
  const { parts, query } = route.value;
  const all = entries.current.value;
  const search = query.get('search') ?? '';
  const found = entriesWith(all ?? [], search);
  const shown = all?.find(({ id }) => id === parts[0]) ?? found[0];
  if (!all)
    return html`<${Empty} title="What real devices do wrong">${entries.problem.value?.detail ?? 'Waiting for the simulator.'}<//>`;
  const kept = (text: string) => (text === '' ? {} : { search: text });
  return html`<div class="columns">
    <section class="panel stack" aria-label="Entries">
      <label>Search <input type="search" value=${search} placeholder="a symptom, a device, a fault" autocomplete="off"
        onInput=${typed((text) => go(hrefOf('catalogue', parts, kept(text)), 'replace'))} /></label>
      <p class="dim" role="status">${counted(found.length, 'entry', 'entries')} found</p>
      <ul class="entries" tabindex="0" aria-label="Entries found">${found.map((entry) => {
        const who = playersOf(entry);
        return html`<li><a href=${hrefOf('catalogue', [entry.id], kept(search))} aria-current=${entry === shown ? 'true' : undefined}>
          <b class="mono">${entry.id}</b> ${who.length > 0 ? html`<${State} tone="warn">played<//>` : null}
          <span class="dim">${entry.sees}</span></a></li>`;
      })}</ul>
    </section>
    ${shown ? html`<${Shown} key=${shown.id} entry=${shown} />` : html`<p class="dim">No entry contains all these words.</p>`}
  </div>`;
}

/** Devices and lines that currently imitate an entry. */
function playersOf(entry: Entry): readonly string[] {
  return whoPlays(entry, { lines: [...(details.current.value?.values() ?? [])], rules: ruleNames() });
}

/** An entry: what it is, how it shows, and the buttons that imitate it. */
function Shown({ entry }: { readonly entry: Entry }) {
  const { id, title, sees, devices, sources, robust, faults, manners, line } = entry;
  const lines = [...(details.current.value?.values() ?? [])];
  const targets = [
    ...lines.map(({ name }) => [`line ${name}`, { line: name }] as const),
    ...[...new Set(lines.flatMap(({ units }) => Object.values(units)))].map(
      (device) => [`device ${device}`, { device }] as const,
    ),
  ];
  const chosen = useSignal('');
  const [target = '', body] = targets.find(([name]) => name === chosen.value) ?? targets[0] ?? [];
  const who = playersOf(entry);
  const change = async (method: 'POST' | 'DELETE', done: string) => {
    const answer = await ask(method, pathOf('catalogue', id), method === 'POST' ? body : undefined);
    if (sayAnswer(answer, `${id} is ${done}.`)) await Promise.all([rules.read(), details.read()]);
  };
  const [first] = faults;
  return html`<article class="panel stack" aria-label=${id}>
    <h2>${id} ${who.length > 0 ? html`<${State} tone="warn">played<//>` : null}</h2>
    <p class="long"><b>${title}.</b> ${sees}</p>
    ${who.length > 0 ? html`<p class="warn long">In use now: ${listText(who)}.</p>` : null}
    <div class="flow"><${Select} label="Where" value=${target} choices=${targets.map(([name]) => name)} onChange=${into(chosen)} />
      <${Button} kind="main" writes disabled=${body === undefined} onClick=${() => void change('POST', 'played')}>Play<//>
      <${Button} writes onClick=${() => void change('DELETE', 'taken back')}>Take back<//></div>
    ${
      first
        ? html`<${Preview} rule=${{ ...first, name: id, when: { ...(first.when as object), ...body } }} like=${undefined} />`
        : html`<p class="dim">It changes ${line ? 'the bytes on the line' : 'how a device behaves'}, not a single reply: play it and look at <a href=${hrefOf('traffic')}>Traffic</a>.</p>`
    }
    <p class="long">A robust client: ${robust}</p>
    ${devices.length > 0 ? html`<p class="long dim">Reported for ${listText(devices)}.</p>` : null}
    <ul>${sources.map(({ url, fact }) => html`<li class="long"><a href=${url}>${fact}</a></li>`)}</ul>
    <details><summary>As written in a file</summary>
      <pre class="mono long">${JSON.stringify({ manners, line, ...(first && { faults }) }, null, 2)}</pre></details>
  </article>`;
}
