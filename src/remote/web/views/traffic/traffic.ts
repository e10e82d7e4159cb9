import { signal, useComputed, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { open } from '../../../../common/rest-client/client.js';
import { partOf, type SeenValues } from '../../../../simulator/filter/complete.js';
import { fieldNamed } from '../../../../simulator/filter/fields.js';
import { send } from '../../api.js';
import { comebacks, connection, readUpTo, restarts, serverNow, summary } from '../../live.js';
import { OpenFile } from '../../open-file.js';
import { MOMENT_KEY, past } from '../../past.js';
import { recorded } from '../../recorded.js';
import { go, hrefOf, route } from '../../route.js';
import { StripModel } from '../../strip/model.js';
import { Legend, Strip } from '../../strip/strip.js';
import { Button, Field, Folded, Select, State, sent, switched, typed } from '../../ui/controls.js';
import { count } from '../../ui/format.js';
import { say } from '../../ui/toast.js';
import { details, lineNamed, wireOf } from '../lines/details.js';
import { type Event, isEvent, stripSource, type Event as TrafficEvent } from './chunks.js';
import { Feed } from './feed.js';
import {
  downloadsOf,
  FILTERS,
  type FilterName,
  filterIn,
  momentOf,
  NO_PARAMETERS,
  withField,
  withProblems,
  withValues,
} from './filter.js';
import { FilterField, useFilter } from './filter-field.js';
import { Opened } from './opened.js';
import { numberOf } from './rows.js';
import { Table } from './table.js';
import './traffic.css';

interface ControlsProps {
  readonly feed: Feed;
  readonly onPause: () => void;
  readonly onNewest: () => void;
  readonly onFound: (event: TrafficEvent) => void;
  readonly problems: string;
  readonly onProblems: (which: string) => void;
}

/** The values of `problems` in the filter, with their texts. */
const PROBLEMS = [
  ['', 'everything'],
  ['true', 'only problems'],
  ['ordered', 'only effects of fault rules'],
  ['unordered', 'only unordered problems'],
] as const;

/** How long a saved file stays in memory, in ms. */
const REVOKED_AFTER_MS = 60_000;

/** The page counts as behind at this number of events: a second of busy lines. */
const BEHIND = 2000;

/** Pause, problems, jump, download, and the progress of the page. */
function Controls({ feed, onPause, onNewest, onFound, problems, onProblems }: ControlsProps) {
  const { csv, pcapng, learned } = downloadsOf(feed.text);
  const isPaused = feed.isPaused.value;
  return html`<div class="controls flow">
    ${
      recorded
        ? null
        : html`<${Button} onClick=${onPause} disabled=${feed.isEmpty.value === undefined}>${isPaused ? 'Resume' : 'Pause'}<//>
    <${Button} onClick=${onNewest}>Newest<//>`
    }
    <${Select} label="Show" value=${problems} choices=${PROBLEMS} onChange=${onProblems} />
    <${Progress} feed=${feed} />
    ${
      recorded
        ? null
        : html`<a href=${hrefOf('conversations', [], feed.filter)}>As conversations</a>
    <${Button} kind="link" label="Play this again: save devices that reproduce these values and replies"
      onClick=${() => void playAgain(feed.text)}>Play this again<//>`
    }
    <${Folded} summary="Jump, download">
    <${Jump} feed=${feed} onFound=${onFound} />
    ${
      recorded
        ? null
        : html`<span class="flow">Download <a href=${csv} download="traffic.csv">CSV</a>
      <a href=${pcapng} download="capture.pcapng">pcapng</a>
      <a href=${learned} download="learned.yaml" title="Devices that answer like this traffic">devices</a></span>
      <${OpenFile} />`
    }
    <//>
  </div>`;
}

/** Saves a file of devices whose values and replies follow the traffic that passes a filter, up to the time shown. */
async function playAgain(filter: string): Promise<void> {
  const until = past.peek();
  const query = new URLSearchParams({
    recorded: 'once',
    ...(filter !== '' && { filter }),
    ...(until !== undefined && { until }),
  });
  const answer = await open(send, `/learned.yaml?${query}`, { method: 'GET' });
  if (!answer.ok) {
    say(answer.problem.detail, 'refused');
    return;
  }
  const file = await answer.value.blob().catch(() => undefined);
  if (!file) {
    say('The connection was lost before the file was complete.', 'refused');
    return;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = 'again.yaml';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKED_AFTER_MS);
  say('Saved as again.yaml: modbus-sim --config again.yaml plays it.');
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
  if (recorded) return html`<span>${held}</span>`;
  if (connection.value.state !== 'open')
    return html`<span><${State} tone="warn">not connected<//> ${held}</span>`;
  if (feed.isPaused.value) {
    const text = behind === 0 ? 'paused' : `paused, ${count(behind)} behind`;
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
    else problem.value = 'No event after that time.';
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
  readonly feed: Feed;
  readonly onChange: (text: string) => void;
  readonly onJoin: (isJoined: boolean) => void;
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

/** The filter as text, and fields for parts of it. A field takes effect when it loses the focus, or on Enter. */
function FilterBar({ feed, onChange, onJoin }: FilterBarProps) {
  const { text, refusal } = feed;
  const written = useFilter(text, onChange);
  // Not in an effect: it would run after the paint, and replace anything typed by then.
  const values = useMemo(() => signal(valuesOf(text)), [text]);
  const lines = summary.value?.lines.map(({ name }) => name) ?? [];
  const offers = { ...HINTS, line: lines };
  const apply = () => {
    const before = valuesOf(text);
    written.draft.value = FILTERS.filter((name) => values.value[name] !== before[name]).reduce(
      (made, name) => withField(made, name, [values.value[name]], lines),
      text,
    );
    written.apply();
  };
  return html`<div class="filters">
    <div class="flow">
      <${FilterField} written=${written} refusal=${refusal.value?.detail} seen=${() => seenIn(feed)} />
      <${Button} disabled=${text === '' && written.draft.value === ''} onClick=${() => {
        written.draft.value = '';
        written.apply();
      }}>Clear<//>
    </div>
    <label class="join" title="One row for both, with the turnaround; open it to see both frames">
      <input type="checkbox" checked=${feed.rows.isJoined} onChange=${switched(onJoin)} /> Join request and reply</label>
    <details><summary>Fields</summary>
      <form onChange=${apply} onSubmit=${sent(apply)}>
        ${FILTERS.map(
          (name) => html`<${Field} key=${name} label=${name} mono value=${values.value[name]}
            offers=${offers[name]} onInput=${(value: string) => {
              values.value = { ...values.value, [name]: value };
            }} />`,
        )}
        <button type="submit" hidden></button>
      </form>
    </details>
  </div>`;
}

function valuesOf(text: string): Record<FilterName, string> {
  return Object.fromEntries(
    FILTERS.map((name) => [name, partOf(text, fieldNamed(name) ?? 'text')?.values?.join() ?? '']),
  ) as Record<FilterName, string>;
}

/** How many of the newest rows are searched for values to suggest for a filter. */
const MOST_LOOKED = 2000;

/** The values of fields that the lines have and that the newest rows show. */
function seenIn(feed: Feed): SeenValues {
  const { rows } = feed;
  const events = rows.rows(Math.max(0, rows.size - MOST_LOOKED), rows.size).filter(isEvent);
  const among = (of: (event: TrafficEvent) => readonly unknown[]) =>
    [...new Set(events.flatMap(of).filter((value) => value !== undefined))]
      .map(String)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const devices = Array.from(details.current.value?.values() ?? []).flatMap(({ units }) =>
    Object.values(units),
  );
  return {
    line: summary.peek()?.lines.map(({ name }) => name) ?? [],
    unit: among(({ unit }) => [unit]),
    fc: among((event) => [event.function]),
    device: [...new Set(devices)],
    name: among(({ names = [] }) => names),
    value: among(({ names = [] }) => names),
    exception: among(({ exception }) => [exception]),
    rule: among(({ faults = [] }) => faults.map(({ rule }) => rule)),
    client: among(({ client }) => [client]),
  };
}

/** The view `/traffic`: the strip of one line, the table, and the open event. */
export function TrafficView() {
  const { query } = route.value;
  const lines = summary.value?.lines.map(({ name }) => name) ?? [];
  const filterText = filterIn(query, lines);
  const isJoined = query.get('join') === 'true';
  // An effect may run after the next restart: it belongs to the run for which it was drawn.
  const run = restarts.value;
  const followedRun = useRef(run);
  const last = useRef<{ readonly feed: Feed; readonly run: number } | undefined>(undefined);
  const feed = useMemo(() => {
    const before = last.current?.run !== run ? last.current?.feed : undefined;
    const made = new Feed(filterText, isJoined, before?.text === filterText ? before : undefined);
    last.current = { feed: made, run };
    return made;
  }, [filterText, isJoined, run]);
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
    // The number of an event from an earlier run would lead the next page to another event.
    const moment = past.peek() === undefined ? {} : { [MOMENT_KEY]: event.time };
    set({ at: event.earlier ? '' : String(event.seq), strip: event.line, ...moment });
  };
  /** Shows the last event before or at a past time. */
  const goThen = async (then: string) => {
    if (selected.peek()?.time === then) return;
    const found = await feed.lastUntil(then);
    if (found) void goToEvent(found.seq);
    else if (past.peek() === then) feed.pause();
  };
  const selectInTable = (event: Event) => {
    select(event);
    centre(event);
  };
  const goToEvent = async (seq: number) => {
    const found = eventIn(feed, seq) ?? (seq > 0 ? await feed.goToEvent(seq) : undefined);
    if (found) selectInTable(found);
  };
  const follow = () => {
    selected.value = undefined;
    set({ at: '' });
    model.follow();
    void feed.follow();
  };

  /** Continues below the rows of the previous run. Event numbers have started again. */
  const goOn = () => {
    if (feed.rows.size === 0) {
      follow();
      return;
    }
    const seq = selected.peek() && numberOf(selected.peek() as Event);
    selected.value = feed.rows
      .rows(0, feed.rows.size)
      .filter(isEvent)
      .findLast(({ earlier }) => earlier?.seq === seq);
    set({ at: '' });
    if (!feed.isPaused.peek()) feed.resume();
  };

  useEffect(() => {
    const isRestart = followedRun.current !== run;
    followedRun.current = run;
    if (isRestart) {
      goOn();
      return;
    }
    // The rows survive a break, and the feed continues by itself.
    if (feed.isEmpty.peek() !== undefined) return;
    if (past.peek() !== undefined) return;
    const at = Number(route.peek().query.get('at'));
    if (at > 0) void goToEvent(at);
    else void feed.follow();
  }, [feed, comebacks.value]);
  useEffect(() => () => feed.end(), [feed]);
  const then = useRef<string | undefined>(undefined);
  useEffect(() => {
    const was = then.current;
    then.current = past.value;
    if (past.value !== undefined) void goThen(past.value);
    else if (was !== undefined) follow();
  }, [feed, past.value]);

  const line = query.get('strip') ?? partOf(filterText, 'line')?.values?.[0] ?? lines[0] ?? '';
  const detail = lineNamed(line);
  const wire = useMemo(() => wireOf(detail), [detail]);
  const version = feed.version.value;
  // Before the paint: the table and the strip share one frame.
  useLayoutEffect(() => model.setSource(stripSource(feed.rows, line, wire)), [feed, version, line, wire]);
  const isEmpty = useComputed(() => feed.isEmpty.value).value;
  // A row for a request and its reply opens both frames.
  const request = isJoined ? feed.rows.find(selected.value?.request ?? 0) : undefined;
  const togglePause = () => (feed.isPaused.peek() ? feed.resume() : feed.pause());

  const setFilter = (filter: string) => set({ ...NO_PARAMETERS, filter });
  const problem = partOf(filterText, 'problem');
  return html`<${FilterBar} feed=${feed} onChange=${setFilter} onJoin=${(is: boolean) => set({ join: is ? 'true' : '' })} />
    <${Controls} feed=${feed} onPause=${togglePause} onNewest=${follow} onFound=${selectInTable}
      problems=${problem ? (problem.values?.join() ?? 'true') : ''}
      onProblems=${(which: string) => setFilter(withProblems(filterText, which))} />
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
        ${feed.rows.size === 0 && (isEmpty || feed.refusal.value) ? html`<p class="nothing-yet dim">${emptyText(feed)}</p>` : null}
      </div>
      ${
        selected.value
          ? html`<div class="opened-pair">
            ${[request, selected.value].map(
              (event) =>
                event &&
                html`<${Opened} key=${event.seq} event=${event} line=${lineNamed(event.line)}
                  self=${event === selected.value ? opened : undefined}
                  onGo=${(seq: number) => void goToEvent(seq)} onCentre=${() => centre(event)} />`,
            )}</div>`
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

/** Chooses the line of the strip, zooms without keyboard and wheel, and explains the colours. */
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
