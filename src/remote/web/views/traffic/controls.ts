import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { RemoteRefusal } from '../../../../common/rest-client/client.js';
import { readUpTo, serverNow, summary } from '../../live.js';
import { Button, Field, Folded, State, sent, switched, typed } from '../../ui/controls.js';
import { count } from '../../ui/format.js';
import type { Event as TrafficEvent } from './chunks.js';
import type { Feed } from './feed.js';
import { downloadsOf, FILTERS, type FilterName, momentOf } from './filter.js';

interface ControlsProps {
  readonly feed: Feed;
  readonly onPause: () => void;
  readonly onNewest: () => void;
  readonly onFound: (event: TrafficEvent) => void;
  readonly onProblems: (isOnly: boolean) => void;
}

/** Number of events from which the page counts as behind: a second of busy lines. */
const BEHIND = 2000;

/** Pause, problems, jump, download, and the progress of the page. */
export function Controls({ feed, onPause, onNewest, onFound, onProblems }: ControlsProps) {
  const { csv, pcapng, learned } = downloadsOf(feed.filter);
  const isPaused = feed.isPaused.value;
  return html`<div class="controls flow">
    <${Button} onClick=${onPause} disabled=${feed.isEmpty.value === undefined}>${isPaused ? 'Resume' : 'Pause'}<//>
    <${Button} onClick=${onNewest}>Newest<//>
    <label><input type="checkbox" checked=${feed.filter.has('problems')}
      onChange=${switched(onProblems)} /> Only problems</label>
    <${Progress} feed=${feed} />
    <${Folded} summary="Jump, download">
    <${Jump} feed=${feed} onFound=${onFound} />
    <span class="flow">Download <a href=${csv} download="traffic.csv">CSV</a>
      <a href=${pcapng} download="capture.pcapng">pcapng</a>
      <a href=${learned} download="learned.yaml" title="Devices that answer as in this traffic">devices</a></span>
    <//>
  </div>`;
}

function Progress({ feed }: { readonly feed: Feed }) {
  void feed.version.value;
  if (feed.isEmpty.value === undefined) {
    const text = feed.refusal.value ? 'not read' : 'reading';
    return html`<span><${State} tone="warn">${text}<//></span>`;
  }
  const last = summary.value?.lastSeq ?? 0;
  const read = feed.isPaused.value ? feed.rows.after : readUpTo.value;
  const behind = Math.max(0, last - read);
  const held = `${count(feed.rows.size)} rows`;
  if (feed.isPaused.value) {
    const text = behind === 0 ? 'paused' : `paused, ${count(behind)} events since`;
    return html`<span><${State} tone="warn">${text}<//> ${held}</span>`;
  }
  return html`<span>${
    behind > BEHIND
      ? html`<${State} tone="warn">${`catching up, ${count(behind)} behind`}<//>`
      : html`<${State} tone="good">following<//>`
  } ${held}</span>`;
}

function Jump({ feed, onFound }: Pick<ControlsProps, 'feed' | 'onFound'>) {
  const text = useSignal('');
  const problem = useSignal('');
  const jump = async () => {
    problem.value = '';
    if (text.value.trim() === '') return;
    const answer = await feed.goTo(momentOf(text.value, serverNow()));
    if (!answer.ok) problem.value = answer.problem.detail;
    else if (answer.value) onFound(answer.value);
    else problem.value = 'No event since then.';
  };
  return html`<form class="jump end" onSubmit=${sent(jump)}>
    <label>Jump to <input class="mono" value=${text.value} placeholder="14:03:07.25 or 5m" autocomplete="off"
      aria-invalid=${problem.value !== ''} title=${problem.value}
      onInput=${typed((now) => {
        text.value = now;
        problem.value = '';
      })} /></label>
    <span class="refused" role="status">${problem.value}</span>
  </form>`;
}

interface FilterBarProps {
  readonly filter: URLSearchParams;
  readonly refusal: RemoteRefusal | undefined;
  readonly onChange: (values: Readonly<Record<FilterName, string>>) => void;
}

const HINTS: Partial<Record<FilterName, readonly string[]>> = {
  direction: ['in', 'out', 'none'],
  kind: [
    'request',
    'reply',
    'foreign request,foreign response',
    'damaged,discarded',
    'broadcast',
    'duplicate',
    'dropped',
    'collision',
    'line',
    'client,client gone,client rejected',
    'test',
  ],
  since: ['30s', '5m', '1h'],
};

const NONE = Object.fromEntries(FILTERS.map((name) => [name, ''])) as Record<FilterName, string>;

/** The filters of the API. A field takes effect when it is left, or on Enter. */
export function FilterBar({ filter, refusal, onChange }: FilterBarProps) {
  const text = filter.toString();
  const values = useSignal(valuesOf(filter));
  useEffect(() => {
    values.value = valuesOf(filter);
  }, [text]);
  const set = FILTERS.filter((name) => filter.has(name));
  const problemOf = (name: FilterName) => refusal?.problems.find(({ path }) => path === name)?.message;
  const offers = { ...HINTS, line: summary.value?.lines.map(({ name }) => name) ?? [] };
  const apply = () => onChange(values.value);
  return html`<details class="filters" open=${isWide}>
    <summary>Filter: ${set.length === 0 ? 'off' : set.map((name) => `${name} ${filter.getAll(name).join()}`).join(', ')}</summary>
    <form onChange=${apply} onSubmit=${sent(apply)}>
      ${FILTERS.map(
        (
          name,
        ) => html`<${Field} key=${name} label=${name} mono value=${values.value[name]} problem=${problemOf(name)}
          offers=${offers[name]} onInput=${(value: string) => {
            values.value = { ...values.value, [name]: value };
          }} />`,
      )}
      <${Button} disabled=${set.length === 0} onClick=${() => onChange(NONE)}>Clear<//>
    </form>
  </details>`;
}

/** Whether the filters are always shown; a phone shows them on demand. */
const isWide = matchMedia('(min-width: 900px)').matches;

function valuesOf(filter: URLSearchParams): Record<FilterName, string> {
  return Object.fromEntries(FILTERS.map((name) => [name, filter.getAll(name).join()])) as typeof NONE;
}
