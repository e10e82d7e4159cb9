import { useSignalEffect } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { route } from '../../route.js';
import { followSize } from '../../ui/element.js';
import { beginEdit, editSelected, select } from './editing.js';
import { type Cell, cellStart, moved, ROW_HEIGHT, rowCells, rowOf } from './layout.js';
import { cellId, Row } from './row.js';
import {
  anchor,
  columns,
  editing,
  format,
  known,
  rowStarts,
  rowsOfPage,
  selected,
  size,
  viewport,
  visibleRows,
} from './state.js';

/** The registers of a table. Only rows that are seen are drawn. */
export function Grid({ label }: { readonly label: string }) {
  const self = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const grid = self.current as HTMLDivElement;
    return followSize(grid, () => measure(grid));
  }, []);
  const starts = rowStarts.value;
  useSignalEffect(() => show(self.current, rowOf(rowStarts.value, columns.value, selected.value)));
  useEffect(() => {
    const wanted = Number(route.value.query.get('from') ?? starts[0] ?? 0);
    if (Number.isInteger(wanted) && wanted >= 0 && wanted !== selected.peek())
      select(Math.min(wanted, size.peek() - 1));
  }, [route.value, starts.length > 0]);

  const { first, end } = visibleRows.value;
  const selectedRow = rowOf(starts, columns.value, selected.value);
  const isSeen = selectedRow >= first && selectedRow < end;
  return html`<div ref=${self} class="grid panel mono" role="grid" tabindex="0" aria-label=${label}
    aria-rowcount=${starts.length + 1} aria-colcount=${columns.value + 1} aria-multiselectable="true"
    aria-activedescendant=${isSeen ? cellId(cellStart(known, format.value, selected.value)) : undefined}
    onScroll=${(event: Event) => measure(event.currentTarget as HTMLElement)}
    onKeyDown=${onKey} onPointerDown=${onPointer}
    onCopy=${(event: ClipboardEvent) => {
      if (editing.peek()) return;
      event.preventDefault();
      event.clipboardData?.setData('text/plain', copied());
    }}>
    <div class="rows" role="presentation" style=${{
      height: `${(starts.length + 1) * ROW_HEIGHT}px`,
      '--columns': columns.value,
    }}>
      <div class="row top" role="row" aria-rowindex="1">
        <span class="head" role="columnheader">address</span>
        ${Array.from({ length: columns.value }, (_, i) => html`<span class="head" role="columnheader">+${i}</span>`)}
      </div>
      ${starts.slice(first, end).map((start, i) => html`<${Row} key=${start} index=${first + i} first=${start} />`)}
    </div>
  </div>`;
}

function onKey(event: KeyboardEvent): void {
  if (event.altKey || event.metaKey) return;
  const at = selected.peek();
  const [starts, width] = [rowStarts.peek(), columns.peek()];
  const to = moved(event, at, { starts, columns: width, size: size.peek(), ofPage: rowsOfPage.peek() });
  if (to !== undefined) select(nextCell(event.key, at, to), event.shiftKey);
  else if (event.key === 'Enter' || event.key === 'F2') editSelected();
  else if (event.key === 'Escape') select(at);
  else if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey) {
    beginEdit(cellStart(known, format.peek(), at), event.key);
  } else return;
  event.preventDefault();
}

/** An arrow leaves the cell that it is in, whichever of its registers is selected. */
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

function measure(grid: HTMLElement): void {
  viewport.value = { top: grid.scrollTop, width: grid.clientWidth, height: grid.clientHeight };
}

/** Scrolls as little as shows the row. */
function show(grid: HTMLElement | null, row: number): void {
  if (!grid || grid.clientHeight === 0) return;
  const top = row * ROW_HEIGHT;
  const room = grid.clientHeight - 2 * ROW_HEIGHT;
  if (grid.scrollTop > top) grid.scrollTop = top;
  else if (grid.scrollTop < top - room) grid.scrollTop = top - room;
}

/** The range of registers that is marked, as text: one line for each row, tabs between cells. */
function copied(): string {
  const [low, high] = [selected.peek(), anchor.peek()].sort((a, b) => a - b) as [number, number];
  const width = columns.peek();
  const isMarked = ({ address, span }: Cell) => address + span > low && address <= high;
  const lines = rowStarts
    .peek()
    .filter((first) => first + width > low && first <= high)
    .map((first) =>
      rowCells(known, format.peek(), { first, columns: width, size: size.peek() })
        .filter(isMarked)
        .map(({ text }) => text)
        .join('\t'),
    );
  return lines.join('\n');
}
