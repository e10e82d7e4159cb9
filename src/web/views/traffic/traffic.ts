import { useComputed, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { comebacks, restarts, summary } from '../../live.js';
import { go, hrefOf, place } from '../../route.js';
import { StripModel } from '../../strip/model.js';
import { Strip } from '../../strip/strip.js';
import { details, followDetails } from '../lines/details.js';
import type { Event } from './chunks.js';
import { Controls } from './controls.js';
import { Feed } from './feed.js';
import { filterIn, withValues } from './filter.js';
import { FilterBar } from './filter-bar.js';
import { Opened } from './opened.js';
import { StripBar } from './strip-bar.js';
import { stripSource, wireOf } from './strip-source.js';
import { Table } from './table.js';
import './traffic.css';

/** Keys of the address that are no filters: the event that is open, and the line of the strip. */
type OwnKey = 'at' | 'strip';

/** The view `/traffic`: the strip of one line, the table, and the event that is open. */
export function TrafficView() {
  const { query } = place.value;
  const filterText = filterIn(query).toString();
  const feed = useMemo(() => new Feed(new URLSearchParams(filterText)), [filterText, restarts.value]);
  const model = useMemo(() => new StripModel(), []);
  const selected = useSignal<Event | undefined>(undefined);
  const opened = useRef<HTMLElement>(null);
  useEffect(followDetails, []);

  const set = (values: Readonly<Partial<Record<string, string>>>) => {
    const next = withValues(place.peek().query, values).toString();
    go(next === '' ? hrefOf('traffic') : `${hrefOf('traffic')}?${next}`, 'replace');
  };
  const setOwn = (key: OwnKey, value: string) => set({ [key]: value });
  const centre = (event: Event) => {
    const begin = event.startedUs ?? event.requestedUs ?? event.monotonicUs;
    model.centre((begin + event.monotonicUs) / 2);
  };
  const select = (event: Event) => {
    selected.value = event;
    set({ at: String(event.seq), strip: event.line });
  };
  const selectInTable = (event: Event) => {
    select(event);
    centre(event);
  };
  const goToEvent = async (seq: number) => {
    const found = eventIn(feed, seq) ?? (await feed.goToEvent(seq));
    if (found) selectInTable(found);
  };
  const follow = () => {
    selected.value = undefined;
    setOwn('at', '');
    model.follow();
    void feed.follow();
  };

  useEffect(() => {
    // What was read is kept over a break: the feed goes on by itself.
    if (feed.isEmpty.peek() !== undefined) return;
    const at = Number(place.peek().query.get('at'));
    if (at > 0) void goToEvent(at);
    else void feed.follow();
  }, [feed, comebacks.value]);
  useEffect(() => () => feed.end(), [feed]);

  const lines = summary.value?.lines.map(({ name }) => name) ?? [];
  const line = query.get('strip') ?? query.get('line')?.split(',')[0] ?? lines[0] ?? '';
  const detail = details.value.get(line);
  const wire = useMemo(() => wireOf(detail), [detail]);
  const version = feed.version.value;
  useEffect(() => model.setSource(stripSource(feed.rows, line, wire)), [feed, version, line, wire]);
  const isEmpty = useComputed(() => feed.isEmpty.value).value;
  const togglePause = () => (feed.isPaused.peek() ? feed.resume() : feed.pause());

  return html`<${FilterBar} filter=${feed.filter} refusal=${feed.refusal.value} onChange=${set} />
    <${Controls} feed=${feed} onPause=${togglePause} onNewest=${follow} onFound=${selectInTable} />
    <${StripBar} model=${model} lines=${lines} line=${line} onLine=${(name: string) => setOwn('strip', name)} />
    <${Strip} model=${model} label=${`Timing of line ${line}`} selected=${selected.value?.seq}
      onSelect=${(seq: number) => {
        const event = eventIn(feed, seq);
        if (event) select(event);
      }} />
    <div class="panes">
      <div class="events">
        <${Table} feed=${feed} selected=${selected.value} onSelect=${selectInTable} onPause=${togglePause}
          onOpen=${() => opened.current?.focus()} />
        ${isEmpty || feed.refusal.value ? html`<p class="nothing-yet">${emptyText(feed)}</p>` : null}
      </div>
      ${
        selected.value
          ? html`<${Opened} key=${selected.value.seq} event=${selected.value} line=${details.value.get(selected.value.line)} self=${opened}
            onGo=${(seq: number) => void goToEvent(seq)} onCentre=${() => selected.value && centre(selected.value)} />`
          : html`<section class="opened nothing" aria-label="No event is open">Select an event to see its bytes, field by field.</section>`
      }
    </div>`;
}

function emptyText({ filter, refusal }: Feed): string {
  if (refusal.value) return refusal.value.detail;
  return filter.size > 0 ? 'Nothing that passes the filter is kept.' : 'Nothing has passed the lines yet.';
}

function eventIn({ rows }: Feed, seq: number): Event | undefined {
  const at = rows.placeOf(seq);
  return at === undefined ? undefined : (rows.rows(at, at + 1)[0] as Event);
}
