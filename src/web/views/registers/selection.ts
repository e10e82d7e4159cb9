import { go, place } from '../../route.js';
import { beginEdit } from './changes.js';
import { cellStart, cellText } from './layout.js';
import { addressOf, anchor, editing, format, known, refusal, selected } from './state.js';

/** The address of the page follows when no key moves any more: a browser takes few changes of it. */
const SETTLED_MS = 400;

/** Makes a register the one that keys act on, and keeps it in the address of the page. */
export function select(address: number, isRange = false): void {
  selected.value = Math.max(0, address);
  if (!isRange) anchor.value = selected.value;
  editing.value = undefined;
  refusal.value = undefined;
  clearTimeout(settled);
  const { view, parts } = place.peek();
  settled = setTimeout(() => {
    const now = place.peek();
    if (now.view !== view || now.parts.join('\n') !== parts.join('\n')) return;
    go(addressOf({ from: selected.peek() }), 'replace');
  }, SETTLED_MS);
}

let settled: ReturnType<typeof setTimeout> | undefined;

/** Edits the register that is selected, from what it holds. */
export function editSelected(): void {
  const start = cellStart(known, format.peek(), selected.peek());
  beginEdit(start, plainText(start));
}

/** What an edit begins with: without the unit of a value. */
function plainText(start: number): string {
  const value = format.peek() === 'values' ? known.valueAt(start) : undefined;
  return value ? (value.label ?? String(value.value)) : cellText(known, format.peek(), start);
}
