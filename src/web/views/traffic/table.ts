import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { COLUMNS, cellsOf, toneOf } from './cells.js';
import { type Event, isEvent, type Row } from './chunks.js';
import type { Feed } from './feed.js';
import { isAtEnd, ROW, scrolledTo, spanOf } from './virtual.js';
import './table.css';

interface TableProps {
  readonly feed: Feed;
  readonly selected: Event | undefined;
  readonly onSelect: (event: Event) => void;
  /** Somebody wants to read the event that is selected. */
  readonly onOpen: () => void;
  readonly onPause: () => void;
}

const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** The events, of which only those in view are drawn. The newest one stays in view until somebody scrolls or selects. */
export function Table({ feed, selected, onSelect, onOpen, onPause }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const top = useSignal(0);
  const height = useSignal(0);
  const sticks = useRef(true);
  const { size } = feed.rows;
  const version = feed.version.value;
  const span = spanOf(top.value, height.value, size);
  const rows = feed.rows.rows(span.from, span.to);
  const place = selected && feed.rows.placeOf(selected.seq);

  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight - ROW;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    sticks.current = true;
  }, [feed]);
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    if (sticks.current && !feed.isPaused.value) element.scrollTop = size * ROW;
    else if (feed.shift !== 0) element.scrollTop += feed.shift * ROW;
    feed.shift = 0;
    top.value = element.scrollTop;
  }, [version, height.value, feed.isPaused.value]);
  useEffect(() => {
    feed.fetch(span.from, span.to);
    if (size > 0 && span.from === 0 && !sticks.current) void feed.older();
    if (span.to === size) void feed.newer();
  }, [version, span.from, span.to]);
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const shown = selected && feed.rows.placeOf(selected.seq);
    if (shown === undefined) return;
    sticks.current = false;
    element.scrollTop = scrolledTo(shown, element.scrollTop, element.clientHeight - ROW);
  }, [selected, feed.rows]);

  const select = (to: number) => {
    const at = Math.max(0, Math.min(size - 1, to));
    const [row] = feed.rows.rows(at, at + 1);
    if (isEvent(row)) onSelect(row);
    else if (scroller.current) scroller.current.scrollTop = at * ROW;
  };
  const pressed = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height.value / ROW) - 1);
    const from = place ?? span.to - 1;
    const places: Readonly<Record<string, number>> = {
      ArrowUp: from - 1,
      ArrowDown: from + 1,
      PageUp: from - page,
      PageDown: from + page,
      Home: 0,
      End: size - 1,
    };
    const to = places[event.key];
    if (to !== undefined) select(to);
    else if (event.key === 'Enter') onOpen();
    else if (event.key === ' ') onPause();
    else return;
    event.preventDefault();
  };

  const isDrawn = place !== undefined && place >= span.from && place < span.to;
  return html`<div class="table" role="grid" aria-label="Traffic" aria-rowcount=${size + 1} tabindex="0" ref=${scroller}
    aria-activedescendant=${isDrawn ? `${id}-${place}` : undefined} onKeyDown=${pressed}
    onScroll=${({ currentTarget }: { currentTarget: HTMLElement }) => {
      if (currentTarget.scrollTop === top.peek()) return;
      top.value = currentTarget.scrollTop;
      sticks.current = isAtEnd(currentTarget.scrollTop, height.peek(), size);
    }}>
    <div class="row head" role="row" aria-rowindex="1">
      ${NAMES.map((name) => html`<span class=${name} role="columnheader">${COLUMNS[name]}</span>`)}
    </div>
    <div class="rows" role="rowgroup" style=${{ height: `${size * ROW}px` }}>
      <div role="presentation" style=${{ transform: `translateY(${span.from * ROW}px)` }}>
        ${rows.map((row, i) => {
          const at = span.from + i;
          return html`<${TableRow} key=${at % (rows.length || 1)} row=${row} id=${`${id}-${at}`} place=${at}
            isSelected=${at === place} onSelect=${onSelect} />`;
        })}
      </div>
    </div>
  </div>`;
}

interface RowProps {
  readonly row: Row;
  readonly id: string;
  readonly place: number;
  readonly isSelected: boolean;
  readonly onSelect: (event: Event) => void;
}

function TableRow({ row, id, place, isSelected, onSelect }: RowProps) {
  const cells = cellsOf(row);
  return html`<div id=${id} class=${`row ${toneOf(row)}`} role="row" aria-rowindex=${place + 2} aria-selected=${isSelected}
    onClick=${() => isEvent(row) && onSelect(row)}>
    ${NAMES.map(
      (name) =>
        html`<span class=${name} role="gridcell">${
          name === 'text' && cells.faults ? html`<b class="fault">${cells.faults}</b> ` : null
        }${cells[name]}</span>`,
    )}
  </div>`;
}
