import { useComputed, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { comebacks, restarts, summary } from '../../live.js';
import { go, hrefOf, route } from '../../route.js';
import { StripModel } from '../../strip/model.js';
import { Legend, Strip } from '../../strip/strip.js';
import { Button, Folded, Select } from '../../ui/controls.js';
import { details, lineNamed, wireOf } from '../lines/details.js';
import type { Event } from './chunks.js';
import { Controls, FilterBar } from './controls.js';
import { Feed } from './feed.js';
import { filterIn, withValues } from './filter.js';
import { Opened } from './opened.js';
import { stripSource } from './strip-source.js';
import { Table } from './table.js';
import './traffic.css';

/** The view `/traffic`: the strip of one line, the table, and the event that is open. */
export function TrafficView() {
  const { query } = route.value;
  const filterText = filterIn(query).toString();
  const run = useRef(restarts.peek());
  const feed = useMemo(() => new Feed(new URLSearchParams(filterText)), [filterText, restarts.value]);
  const model = useMemo(() => new StripModel(), []);
  const selected = useSignal<Event | undefined>(undefined);
  const opened = useRef<HTMLElement>(null);
  useEffect(details.follow, []);

  const set = (values: Readonly<Partial<Record<string, string>>>) => {
    go(hrefOf('traffic', [], withValues(route.peek().query, values)), 'replace');
  };
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
    set({ at: '' });
    model.follow();
    void feed.follow();
  };

  useEffect(() => {
    // The rows outlast a break, and the feed continues by itself.
    if (feed.isEmpty.peek() !== undefined) return;
    const at = Number(route.peek().query.get('at'));
    // After a restart of the simulator, its events have other numbers.
    if (run.current !== restarts.peek()) follow();
    else if (at > 0) void goToEvent(at);
    else void feed.follow();
    run.current = restarts.peek();
  }, [feed, comebacks.value]);
  useEffect(() => () => feed.end(), [feed]);

  const lines = summary.value?.lines.map(({ name }) => name) ?? [];
  const line = query.get('strip') ?? query.get('line')?.split(',')[0] ?? lines[0] ?? '';
  const detail = lineNamed(line);
  const wire = useMemo(() => wireOf(detail), [detail]);
  const version = feed.version.value;
  useEffect(() => model.setSource(stripSource(feed.rows, line, wire)), [feed, version, line, wire]);
  const isEmpty = useComputed(() => feed.isEmpty.value).value;
  const togglePause = () => (feed.isPaused.peek() ? feed.resume() : feed.pause());

  return html`<${FilterBar} filter=${feed.filter} refusal=${feed.refusal.value} onChange=${set} />
    <${Controls} feed=${feed} onPause=${togglePause} onNewest=${follow} onFound=${selectInTable}
      onProblems=${(isOnly: boolean) => set({ problems: isOnly ? 'true' : '' })} />
    <${StripBar} model=${model} lines=${lines} line=${line} onLine=${(name: string) => set({ strip: name })} />
    <${Strip} model=${model} label=${`Timing of line ${line}`} selected=${selected.value?.seq}
      onSelect=${(seq: number) => {
        const event = eventIn(feed, seq);
        if (event) select(event);
      }} />
    <div class="panes columns">
      <div class="events">
        <${Table} feed=${feed} selected=${selected.value} onSelect=${selectInTable} onPause=${togglePause}
          onOpen=${() => opened.current?.focus()} />
        ${isEmpty || feed.refusal.value ? html`<p class="nothing-yet dim">${emptyText(feed)}</p>` : null}
      </div>
      ${
        selected.value
          ? html`<${Opened} key=${selected.value.seq} event=${selected.value} line=${lineNamed(selected.value.line)} self=${opened}
            onGo=${(seq: number) => void goToEvent(seq)} onCentre=${() => selected.value && centre(selected.value)} />`
          : html`<section class="opened panel dim" aria-label="No event is open">Select an event to see its bytes, field by field.</section>`
      }
    </div>`;
}

interface StripBarProps {
  readonly model: StripModel;
  readonly lines: readonly string[];
  readonly line: string;
  readonly onLine: (line: string) => void;
}

const ZOOM = 2;

/** Chooses the line of the strip, zooms for those without keys and wheel, and explains the colours. */
function StripBar({ model, lines, line, onLine }: StripBarProps) {
  return html`<div class="flow">
    <${Select} label="Strip of line" value=${line} choices=${lines} onChange=${onLine} />
    <${Button} label="Zoom in" onClick=${() => model.zoom(ZOOM)}>+<//>
    <${Button} label="Zoom out" onClick=${() => model.zoom(1 / ZOOM)}>−<//>
    <${Button} label="Show all" onClick=${() => model.fit()}>All<//>
    <${Button} label="Follow the newest" disabled=${model.isFollowing.value} onClick=${() => model.follow()}>Follow<//>
    <${Folded} summary="Colours"><${Legend} /><//>
  </div>`;
}

function emptyText({ filter, refusal }: Feed): string {
  if (refusal.value) return refusal.value.detail;
  return filter.size > 0 ? 'No event passes the filter.' : 'No events yet.';
}

function eventIn({ rows }: Feed, seq: number): Event | undefined {
  const at = rows.indexOf(seq);
  return at === undefined ? undefined : (rows.rows(at, at + 1)[0] as Event);
}
