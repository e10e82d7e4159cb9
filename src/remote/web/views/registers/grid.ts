import { useComputed, useSignalEffect } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { route } from '../../route.js';
import { followSize } from '../../ui/element.js';
import { beginEdit, commitEdit, editSelected, select, selectFromAddress } from './editing.js';
import { flashes } from './flashes.js';
import { type Cell, cellStart, cellText, moved, ROW_HEIGHT, rowCells, rowOf } from './layout.js';
import {
  anchor,
  before,
  columns,
  editing,
  format,
  known,
  refusal,
  rowStarts,
  rowsOfPage,
  selected,
  size,
  version,
  viewport,
  visibleRows,
} from './state.js';

/** The registers of a table. Only visible rows are drawn. */
export function Grid({ label }: { readonly label: string }) {
  const self = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const grid = self.current as HTMLDivElement;
    return followSize(grid, () => measure(grid));
  }, []);
  const starts = rowStarts.value;
  useSignalEffect(() => show(self.current, rowOf(rowStarts.value, columns.value, selected.value)));
  // Before the paint: a key may come as soon as the grid is there.
  useLayoutEffect(selectFromAddress, [route.value, starts.length > 0]);

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

/** The address that an arrow key leads to. It leaves the cell, whichever of its registers is selected. */
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

/** Scrolls just enough to show a row. */
function show(grid: HTMLElement | null, row: number): void {
  if (!grid || grid.clientHeight === 0) return;
  const top = row * ROW_HEIGHT;
  const room = grid.clientHeight - 2 * ROW_HEIGHT;
  if (grid.scrollTop > top) grid.scrollTop = top;
  else if (grid.scrollTop < top - room) grid.scrollTop = top - room;
}

/** The marked range of registers as text: a line per row, and tabs between cells. */
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

const cellId = (address: number) => `cell-${address}`;

interface RowProps {
  /** Index among all rows. */
  readonly index: number;
  /** Address of the first register. */
  readonly first: number;
}

/** A row of registers. It is redrawn only if it has changed. */
function Row({ index, first }: RowProps) {
  // Compared as text, because most answers leave most rows unchanged.
  const text = useComputed(() => JSON.stringify(drawnCells(first)));
  const cells = JSON.parse(text.value) as readonly DrawnCell[];
  const isAfterGap = first > 0 && rowStarts.value[index - 1] !== first - columns.value;
  return html`<div class=${isAfterGap ? 'row gap' : 'row'} role="row" aria-rowindex=${index + 2}
    style=${{ top: `${(index + 1) * ROW_HEIGHT}px` }}>
    <span class="head" role="rowheader">${addressText(first)}</span>
    ${cells.map((cell) => html`<${CellView} key=${cell.address} ...${cell} column=${cell.address - first} />`)}
  </div>`;
}

interface DrawnCell extends Cell {
  readonly classes: string;
  readonly isSelected: boolean;
  readonly edited: string | undefined;
  readonly refused: string | undefined;
}

function drawnCells(first: number): readonly DrawnCell[] {
  if (version.value < 0) return [];
  const [low, high] = [selected.value, anchor.value].sort((a, b) => a - b) as [number, number];
  const grid = { first, columns: columns.value, size: size.value };
  return rowCells(known, format.value, grid).map((cell) => {
    const { address, span, state } = cell;
    const has = (at: number) => at >= address && at < address + span;
    const touched = Array.from({ length: span }, (_, i) => flashes.value.get(address + i));
    const flash = touched.find((each) => each?.kind === 'written') ?? touched.find((each) => each);
    const mark = flash ? `${flash.kind} ${flash.isAgain ? 'again' : ''}` : '';
    const isChanged = Array.from({ length: span }, (_, i) => before?.changed.has(address + i)).includes(true);
    const was =
      before && isChanged
        ? cellText(before.known, format.value, cellStart(known, format.value, address))
        : undefined;
    const isInRange = low !== high && address + span > low && address <= high;
    return {
      ...cell,
      ...(was !== undefined && { text: `${was} → ${cell.text}` }),
      classes: `cell ${state} ${isChanged ? 'written' : mark} ${isInRange ? 'range' : ''} ${cell.name === undefined ? '' : 'named'}`,
      isSelected: has(selected.value),
      edited: editing.value && has(editing.value.address) ? editing.value.text : undefined,
      refused: refusal.value && has(refusal.value.address) ? refusal.value.text : undefined,
    };
  });
}

function CellView(props: DrawnCell & { readonly column: number }) {
  const { address, span, text, name, state, classes, isSelected, edited, refused, column } = props;
  const isNamed = format.value === 'values' && name !== undefined;
  const title = [
    `${address}`,
    name,
    state === 'writable'
      ? undefined
      : state === 'unknown'
        ? 'not known at this time'
        : `${state} for clients`,
  ];
  return html`<span id=${cellId(address)} role="gridcell" aria-colindex=${column + 2} aria-selected=${isSelected}
    class=${`${classes} ${isSelected ? 'selected' : ''}`} style=${{ gridColumn: `span ${span}` }}
    title=${title.filter(Boolean).join(', ')} data-address=${address}
    onDblClick=${editSelected}>
    ${isNamed ? html`<span class="name cut">${name}</span>` : null}
    <span class="text cut">${text}</span>
    ${edited === undefined ? null : html`<${Editor} address=${address} text=${edited} />`}
    ${refused === undefined ? null : html`<span class="refused long" role="alert">${refused}</span>`}
  </span>`;
}

function Editor({ address, text }: { readonly address: number; readonly text: string }) {
  const isNew = useRef(true);
  const focus = (input: HTMLInputElement | null) => {
    if (!input || !isNew.current) return;
    isNew.current = false;
    input.value = text;
    input.focus({ preventScroll: true });
  };
  return html`<input ref=${focus} class="mono" aria-label=${`Register ${address}`} autocomplete="off"
    spellcheck=${false} aria-invalid=${refusal.value !== undefined}
    onKeyDown=${(event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
      event.stopPropagation();
      if (event.key === 'Enter') void commitEdit(event.currentTarget.value).then(returnFocus);
      if (event.key === 'Escape') {
        editing.value = undefined;
        refusal.value = undefined;
        returnFocus();
      }
    }} />`;
}

/** Returns the focus to the grid after an edit, so that keys work in it again. */
function returnFocus(): void {
  if (!editing.peek()) document.querySelector<HTMLElement>('.view-registers .grid')?.focus();
}

/** The address of a row; in hexadecimal if rows have 16 registers. */
function addressText(first: number): string {
  return columns.value === 16 ? `0x${first.toString(16).toUpperCase().padStart(4, '0')}` : String(first);
}
