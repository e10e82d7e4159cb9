import { useSignalEffect } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { place } from '../../route.js';
import { beginEdit } from './changes.js';
import { copied } from './copy.js';
import { cellStart, ROW_HEIGHT } from './layout.js';
import { moved } from './moves.js';
import { cellId, Row } from './row.js';
import { editSelected, select } from './selection.js';
import {
  columns,
  editing,
  format,
  known,
  rowsOfPage,
  selected,
  size,
  viewport,
  visibleRows,
} from './state.js';

/** The registers of a table. Only rows that are seen exist. */
export function Grid({ label }: { readonly label: string }) {
  const self = useRef<HTMLDivElement>(null);
  useEffect(() => followSize(self.current as HTMLDivElement), []);
  useSignalEffect(() => show(self.current, selected.value, columns.value));
  useEffect(() => {
    const wanted = Number(place.value.query.get('from') ?? 0);
    if (Number.isInteger(wanted) && wanted >= 0 && wanted !== selected.peek())
      select(Math.min(wanted, size.peek() - 1));
  }, [place.value]);

  const { first, end } = visibleRows.value;
  const selectedRow = Math.floor(selected.value / columns.value);
  const isSeen = selectedRow >= first && selectedRow < end;
  const rows = Math.ceil(size.value / columns.value);
  return html`<div ref=${self} class=${`grid mono as-${format.value}`} role="grid" tabindex="0" aria-label=${label}
    aria-rowcount=${rows + 1} aria-colcount=${columns.value + 1} aria-multiselectable="true"
    aria-activedescendant=${isSeen ? cellId(cellStart(known, format.value, selected.value)) : undefined}
    onScroll=${(event: Event) => measure(event.currentTarget as HTMLElement)}
    onKeyDown=${onKey} onPointerDown=${onPointer}
    onCopy=${(event: ClipboardEvent) => {
      if (editing.peek()) return;
      event.preventDefault();
      event.clipboardData?.setData('text/plain', copied());
    }}>
    <div class="rows" role="presentation" style=${{
      height: `${(rows + 1) * ROW_HEIGHT}px`,
      '--columns': columns.value,
    }}>
      <div class="row top" role="row" aria-rowindex="1">
        <span class="head" role="columnheader">address</span>
        ${Array.from({ length: columns.value }, (_, i) => html`<span class="head" role="columnheader">+${i}</span>`)}
      </div>
      ${Array.from({ length: end - first }, (_, i) => html`<${Row} key=${first + i} index=${first + i} />`)}
    </div>
  </div>`;
}

function onKey(event: KeyboardEvent): void {
  if (event.altKey || event.metaKey) return;
  const at = selected.peek();
  const start = cellStart(known, format.peek(), at);
  const to = moved(event, at, { columns: columns.peek(), size: size.peek(), rowsOfPage: rowsOfPage.peek() });
  if (to !== undefined) select(nextCell(event.key, at, to), event.shiftKey);
  else if (event.key === 'Enter' || event.key === 'F2') editSelected();
  else if (event.key === 'Escape') select(at);
  else if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey) beginEdit(start, event.key);
  else return;
  event.preventDefault();
}

/** An arrow leaves the cell that it is in, whichever of its registers is meant. */
function nextCell(key: string, at: number, to: number): number {
  const start = (address: number) => cellStart(known, format.peek(), address);
  let next = to;
  while (key === 'ArrowRight' && next < size.peek() - 1 && start(next) === start(at)) next++;
  return key === 'ArrowLeft' ? start(start(at) === start(to) ? Math.max(0, start(at) - 1) : to) : next;
}

function onPointer(event: PointerEvent): void {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-address]') : null;
  if (!cell || event.button !== 0 || event.target instanceof HTMLInputElement) return;
  select(Number(cell.dataset.address), event.shiftKey);
}

function followSize(grid: HTMLElement): () => void {
  const observer = new ResizeObserver(() => measure(grid));
  observer.observe(grid);
  return () => observer.disconnect();
}

function measure(grid: HTMLElement): void {
  viewport.value = { top: grid.scrollTop, width: grid.clientWidth, height: grid.clientHeight };
}

/** Scrolls as little as shows the register. */
function show(grid: HTMLElement | null, address: number, columnCount: number): void {
  if (!grid || grid.clientHeight === 0) return;
  const top = Math.floor(address / columnCount) * ROW_HEIGHT;
  const room = grid.clientHeight - 2 * ROW_HEIGHT;
  if (grid.scrollTop > top) grid.scrollTop = top;
  else if (grid.scrollTop < top - room) grid.scrollTop = top - room;
}
