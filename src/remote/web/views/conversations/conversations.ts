import './conversations.css';
import { signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import { partOf, type SeenValues } from '../../../../simulator/filter/complete.js';
import type { StreamedView } from '../../../../simulator/traffic/view-schema.js';
import { ask } from '../../api.js';
import { comebacks, followTraffic, restarts, summary, usOf } from '../../live.js';
import { past } from '../../past.js';
import { recorded, recordedEvents } from '../../recorded.js';
import { go, hrefOf, route } from '../../route.js';
import { Empty, OfFile, Select } from '../../ui/controls.js';
import { together } from '../../ui/element.js';
import { count, rateText } from '../../ui/format.js';
import { details, lineNamed } from '../lines/details.js';
import { filterIn, NO_PARAMETERS, withField, withValues } from '../traffic/filter.js';
import { FilterField, useFilter } from '../traffic/filter-field.js';
import { Conversations, lengthOf, MOST, orderedTroubles, ownTroubles, SPARK_S, type Talk } from './model.js';
import { OpenedConversation } from './opened.js';

/** How many earlier events are read when the page is opened. */
const FIRST = 500;
/** Minimum time between two redraws of the rows, in ms. */
const DRAW_MS = 500;

/** Reads the traffic that passes a filter, until the returned function is called. */
function follow(text: string, talks: Conversations, changed: () => void, refused: (why: string) => void) {
  const filter = new URLSearchParams(text === '' ? {} : { filter: text });
  let turn = 0;
  let seen = 0;
  let stop = () => {};
  const add = (events: readonly StreamedView[]) => {
    talks.add(events.filter((event) => event.kind === 'left out' || event.seq > seen));
    for (const event of events) if (event.kind !== 'left out') seen = Math.max(seen, event.seq);
    changed();
  };
  const begin = async () => {
    stop();
    const mine = ++turn;
    if (document.hidden) return;
    const query = new URLSearchParams(filter);
    const then = past.peek();
    if (then !== undefined) query.set('until', then);
    query.set('limit', String(recorded ? recordedEvents.length : FIRST));
    const answer = await ask<{ events: readonly StreamedView[]; next: number }>('GET', `/traffic?${query}`);
    if (mine !== turn) return;
    if (!answer.ok) {
      refused(answer.problem.detail);
      return;
    }
    add(answer.value.events);
    if (then !== undefined) return;
    stop = followTraffic({
      filter,
      after: answer.value.next,
      onBatch: add,
      onRefused: ({ detail }) => refused(detail),
    });
  };
  // When a hidden page is shown again, it reads the newest events, not everything that passed in between.
  document.addEventListener('visibilitychange', begin);
  void begin();
  return () => {
    document.removeEventListener('visibilitychange', begin);
    turn++;
    stop();
  };
}

/** The view `/conversations`: a row for each poll of the clients. */
export function ConversationsView() {
  const { query } = route.value;
  const lines = summary.value?.lines.map(({ name }) => name) ?? [];
  const filterText = filterIn(query, lines);
  const refusal = useSignal('');
  const version = useSignal(0);
  const isRead = useSignal(false);
  const talks = useMemo(() => signal(new Conversations()), []);
  useEffect(() => {
    const now = new Conversations();
    refusal.value = '';
    let timer: ReturnType<typeof setTimeout> | undefined;
    isRead.value = false;
    // The earlier rows, and what is open in them, stay until the first batch.
    const changed = () => {
      talks.value = now;
      isRead.value = true;
      timer ??= setTimeout(() => {
        timer = undefined;
        version.value++;
      }, DRAW_MS);
    };
    return together(
      details.follow(),
      follow(filterText, now, changed, (why) => {
        talks.value = now;
        refusal.value = why;
      }),
      () => clearTimeout(timer),
    );
  }, [filterText, restarts.value, comebacks.value, past.value]);
  void version.value;
  const { all, noises } = talks.value;
  const setFilter = (filter: string) =>
    go(hrefOf('conversations', [], withValues(query, { ...NO_PARAMETERS, filter })), 'replace');
  const written = useFilter(filterText, setFilter);
  const nowUs = past.value === undefined ? (summary.value?.monotonicUs ?? 0) : usOf(Date.parse(past.value));
  return html`<div class="stack">
    ${recorded ? html`<${OfFile} />` : null}
    <div class="flow">
      <${Select} label="Line" value=${partOf(filterText, 'line')?.values?.join() ?? ''} choices=${[['', 'all lines'], ...lines]}
        onChange=${(line: string) => setFilter(withField(filterText, 'line', [line], lines))} />
      <${FilterField} written=${written} refusal=${refusal.value || undefined} seen=${() => seenIn(all, lines)} />
      <span class="dim">${count(all.length)}${all.length === MOST ? ' shown' : ''} ${all.length === 1 ? 'request' : 'requests'}${filterText === '' ? '' : ', filtered'}</span>
      <a class="end" href=${hrefOf('traffic', [], filterText === '' ? {} : { filter: filterText })}>Each frame, in Traffic</a>
    </div>
    ${
      all.length === 0 && noises.size === 0
        ? html`<${Empty} title="Conversations">${isRead.value ? 'No client sends a request that passes the filter.' : 'Reading the traffic.'}<//>`
        : html`<div class="talks panel">
            <div class="head small dim" aria-hidden="true"><span>request</span><span>how often</span><span>newest</span><span>caused by rules</span><span>other problems</span></div>
            ${all.map((of) => html`<${TalkRow} key=${[of.line, of.unit, of.code, of.address, of.quantity, of.what].join()} of=${of} nowUs=${nowUs} version=${version.value} />`)}
            ${[...noises.values()].map(
              ({
                line,
                kind,
                count: times,
                lastUs,
                text,
              }) => html`<div class="noise talk" key=${`${line} ${kind}`}>
                <span><b>${line}</b> ${kind}</span><span>${count(times)} times</span><span class="cut" title=${text}>${text}</span><span></span>
                <a class="bad" href=${hrefOf('traffic', [], { line, kind })}>${agoText(lastUs, nowUs)}</a></div>`,
            )}
          </div>`
    }
  </div>`;
}

/** The field values in the polls, to be offered. */
function seenIn(talks: readonly Talk[], lines: readonly string[]): SeenValues {
  const among = (of: (talk: Talk) => readonly unknown[]) => [...new Set(talks.flatMap(of).map(String))];
  return {
    line: lines,
    unit: among(({ unit }) => [unit]),
    fc: among(({ code }) => [code]),
    exception: among(({ exceptions }) => [...exceptions.keys()]),
    rule: among(({ rules }) => [...rules.keys()].map((did) => did.replace(/: \w+$/, ''))),
  };
}

interface TalkRowProps {
  readonly of: Talk;
  readonly nowUs: number;
  /** Changes when there is something new. */
  readonly version: number;
}

/** A poll that was not sent for this long counts as quiet, in µs. */
const QUIET_US = 10e6;

/** A row: a poll, how often it is sent, its newest values, and what went wrong. */
function TalkRow({ of, nowUs }: TalkRowProps) {
  const isOpen = useSignal(false);
  const { line, unit, what, values, periodUs, slowestUs, lastUs } = of;
  const units = lineNamed(line)?.units;
  const device = units?.[unit] ?? units?.['*'];
  const isQuiet = nowUs - lastUs > QUIET_US;
  const rate = of.rate(nowUs);
  const pace = [
    ...(periodUs === undefined ? ['once'] : [`every ${lengthOf(periodUs)}`]),
    ...(rate > 0 ? [rateText(rate)] : []),
    ...(slowestUs > 0 ? [`slowest ${lengthOf(slowestUs)}`] : []),
  ];
  const spark = of.spark(nowUs);
  const most = Math.max(1, ...spark);
  return html`<details class="talk" onToggle=${({ currentTarget }: Event) => {
    isOpen.value = (currentTarget as HTMLDetailsElement).open;
  }}>
    <summary>
      <span class="long"><i key=${of.asked} class=${isQuiet ? 'pulse quiet' : 'pulse'} aria-hidden="true"></i><b>${line}</b> unit ${unit} ${device ?? ''} · ${what}</span>
      <span class="pace"><span>${isQuiet ? `last ${agoText(lastUs, nowUs)}` : pace.join(' · ')}</span>
        <svg class="spark" viewBox=${`0 0 ${SPARK_S} 12`} preserveAspectRatio="none" aria-hidden="true">
          <path d=${spark.map((n, i) => (n > 0 ? `M${i} 12h1v${((-12 * n) / most).toFixed(1)}h-1z` : '')).join('')} /></svg></span>
      <span class="values mono" title=${values}>${values}</span>
      <span class="ordered-by">${orderedTroubles(of).join(', ')}</span>
      <span class="by-itself">${ownTroubles(of).join(', ')}</span>
    </summary>
    ${isOpen.value ? html`<${OpenedConversation} of=${of} device=${device} />` : null}
  </details>`;
}

function agoText(us: number, nowUs: number): string {
  return `${lengthOf(Math.max(0, nowUs - us))} ago`;
}
