import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../ui/controls.js';
import { followSize } from '../../ui/element.js';
import { type Event, isEvent, type Row } from './chunks.js';
import type { Feed } from './feed.js';
import { COLUMNS, cellsOf, isAtEnd, ROW, scrolledTo, spanOf, toneOf } from './rows.js';

interface TableProps {
  readonly feed: Feed;
  readonly selected: Event | undefined;
  readonly onSelect: (event: Event) => void;
  /** Called when the user opens the selected event. */
  readonly onOpen: () => void;
  readonly onPause: () => void;
}

const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** The table of events. Only visible rows are drawn. The newest one stays visible until the user scrolls or selects. */
export function Table({ feed, selected, onSelect, onOpen, onPause }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const top = useSignal(0);
  const height = useSignal(0);
  const sticks = useRef(true);
  /** The last scroll position set by the table itself. */
  const setTop = useRef(0);
  const { size } = feed.rows;
  const version = feed.version.value;
  const isAtNewest = sticks.current && !feed.isPaused.value;
  const span = spanOf(isAtNewest ? Math.max(0, size * ROW - height.value) : top.value, height.value, size);
  const rows = feed.rows.rows(span.from, span.to);
  const index = selected && feed.rows.indexOf(selected.seq);

  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    return followSize(element, () => {
      height.value = element.clientHeight - ROW;
    });
  }, []);
  useLayoutEffect(() => {
    sticks.current = true;
  }, [feed, feed.rows]);
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const isSticky = sticks.current && !feed.isPaused.value;
    if (isSticky) element.scrollTop = size * ROW;
    else if (feed.shift !== 0) element.scrollTop += feed.shift * ROW;
    feed.shift = 0;
    setTop.current = element.scrollTop;
    // Rows at the end are already drawn for this position, so they need not be drawn again.
    if (!isSticky || !isAtNewest) top.value = element.scrollTop;
  }, [version, height.value, feed.isPaused.value]);
  useEffect(() => {
    feed.fetch(span.from, span.to);
    if (size > 0 && span.from === 0 && !sticks.current) void feed.older();
    if (span.to === size) void feed.newer();
  }, [version, span.from, span.to]);
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const shown = selected && feed.rows.indexOf(selected.seq);
    if (shown === undefined) return;
    sticks.current = false;
    element.scrollTop = scrolledTo(shown, element.scrollTop, element.clientHeight - ROW);
    top.value = element.scrollTop;
  }, [selected, feed.rows]);

  const select = (to: number) => {
    const at = Math.max(0, Math.min(size - 1, to));
    const [row] = feed.rows.rows(at, at + 1);
    if (isEvent(row)) onSelect(row);
    else if (scroller.current) scroller.current.scrollTop = at * ROW;
  };
  /** The next event before or after an index; rows that are not events are skipped. */
  const beside = (from: number, direction: 1 | -1) => {
    const rowAt = (at: number) => feed.rows.rows(at, at + 1)[0];
    let at = from + direction;
    while (rowAt(at) && !isEvent(rowAt(at)) && rowAt(at + direction)) at += direction;
    return at;
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor(height.value / ROW) - 1);
    const from = index ?? span.to - 1;
    const targets: Readonly<Record<string, number>> = {
      ArrowUp: beside(from, -1),
      ArrowDown: beside(from, 1),
      PageUp: from - page,
      PageDown: from + page,
      Home: 0,
      End: size - 1,
    };
    const to = targets[event.key];
    if (to !== undefined) select(to);
    else if (event.key === 'Enter') onOpen();
    else if (event.key === ' ') onPause();
    else return;
    event.preventDefault();
  };

  const isDrawn = index !== undefined && index >= span.from && index < span.to;
  return html`<div class="table panel" role="grid" aria-label="Traffic" aria-rowcount=${size + 1} tabindex="0" ref=${scroller}
    aria-activedescendant=${isDrawn ? `${id}-${index}` : undefined} onKeyDown=${pressed}
    onScroll=${({ currentTarget }: { currentTarget: HTMLElement }) => {
      if (currentTarget.scrollTop === setTop.current) return;
      setTop.current = currentTarget.scrollTop;
      top.value = currentTarget.scrollTop;
      sticks.current = isAtEnd(currentTarget.scrollTop, height.peek(), size);
    }}>
    <div class="row head" role="row" aria-rowindex="1">
      ${NAMES.map((name) => html`<span class=${`${name} cut`} role="columnheader">${COLUMNS[name]}</span>`)}
    </div>
    <div class="rows" role="rowgroup" style=${{ height: `${size * ROW}px` }}>
      <div role="presentation" style=${{ transform: `translateY(${span.from * ROW}px)` }}>
        ${rows.map((row, i) => {
          const at = span.from + i;
          return html`<${TableRow} key=${at % (rows.length || 1)} row=${row} id=${`${id}-${at}`} index=${at} isJoined=${feed.rows.isJoined}
            isSelected=${at === index} onSelect=${onSelect} onShow=${(after: number) => void feed.goAfter(after)} />`;
        })}
      </div>
    </div>
  </div>`;
}

interface RowProps {
  readonly row: Row;
  readonly id: string;
  readonly index: number;
  readonly isJoined: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (event: Event) => void;
  /** Called with a sequence number when the user wants to see what follows it. */
  readonly onShow: (after: number) => void;
}

function TableRow({ row, id, index, isJoined, isSelected, onSelect, onShow }: RowProps) {
  const cells = cellsOf(row, isJoined);
  return html`<div id=${id} class=${`row ${toneOf(row)} ${isEvent(row) ? '' : row.kind}`} role="row" aria-rowindex=${index + 2} aria-selected=${isSelected}
    onClick=${() => isEvent(row) && onSelect(row)}>
    ${NAMES.map(
      (name) =>
        html`<span class=${`${name} cut`} role="gridcell">${
          name === 'text' && cells.faults ? html`<b class="fault">${cells.faults}</b> ` : null
        }${
          name === 'text' && row.kind === 'skipped'
            ? html`<${Button} kind="link" onClick=${() => onShow(row.after)}>Show them<//> `
            : null
        }${cells[name]}</span>`,
    )}
  </div>`;
}
