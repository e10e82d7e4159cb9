import { useComputed } from '@preact/signals';
import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { commitEdit, editSelected } from './editing.js';
import { flashes } from './flashes.js';
import { type Cell, ROW_HEIGHT, rowCells } from './layout.js';
import {
  anchor,
  columns,
  editing,
  format,
  known,
  refusal,
  rowStarts,
  selected,
  size,
  version,
} from './state.js';

/** The identifier of the cell of an address. */
export const cellId = (address: number) => `cell-${address}`;

interface RowProps {
  /** Counts the rows that there are. */
  readonly index: number;
  /** Its first address. */
  readonly first: number;
}

/** A row of registers. It is drawn anew only when something in it differs. */
export function Row({ index, first }: RowProps) {
  // What is drawn is compared as text: nearly every answer leaves nearly every row as it is.
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
    const isInRange = low !== high && address + span > low && address <= high;
    return {
      ...cell,
      classes: `cell ${state} ${mark} ${isInRange ? 'range' : ''} ${cell.name === undefined ? '' : 'named'}`,
      isSelected: has(selected.value),
      edited: editing.value && has(editing.value.address) ? editing.value.text : undefined,
      refused: refusal.value && has(refusal.value.address) ? refusal.value.text : undefined,
    };
  });
}

function CellView(props: DrawnCell & { readonly column: number }) {
  const { address, span, text, name, state, classes, isSelected, edited, refused, column } = props;
  const isNamed = format.value === 'values' && name !== undefined;
  const title = [`${address}`, name, state === 'writable' ? undefined : `${state} for clients`];
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

/** The keys move again after an edit. */
function returnFocus(): void {
  if (!editing.peek()) document.querySelector<HTMLElement>('.view-registers .grid')?.focus();
}

/** Rows of 16 have addresses in hexadecimal. */
function addressText(first: number): string {
  return columns.value === 16 ? `0x${first.toString(16).toUpperCase().padStart(4, '0')}` : String(first);
}
