import { mayWrite } from '../../api.js';
import { go, route } from '../../route.js';
import { type CellChange, made, sendChange } from './changes.js';
import { parseText } from './formats.js';
import { whyNot } from './known.js';
import { cellLength, cellStart, cellText } from './layout.js';
import {
  addressOf,
  anchor,
  editing,
  format,
  known,
  refusal,
  selected,
  target,
  type WordTable,
} from './state.js';

/**
 * Time in ms after the last key before the address of the page follows. Browsers limit the number of its
 * changes.
 */
const SETTLED_MS = 400;

let settled: ReturnType<typeof setTimeout> | undefined;

/** Selects a register for keys, and keeps it in the address of the page. */
export function select(address: number, isRange = false): void {
  selected.value = Math.max(0, address);
  if (!isRange) anchor.value = selected.value;
  editing.value = undefined;
  refusal.value = undefined;
  clearTimeout(settled);
  const { view, parts } = route.peek();
  settled = setTimeout(() => {
    const now = route.peek();
    if (now.view !== view || now.parts.join('\n') !== parts.join('\n')) return;
    go(addressOf({ from: selected.peek() }), 'replace');
  }, SETTLED_MS);
}

/**
 * Begins to edit the cell of an address, or says beside it why that is not possible.
 * @param text text typed so far
 */
export function beginEdit(address: number, text: string): void {
  const start = cellStart(known, format.peek(), address);
  const why = whyNot(known, start, mayWrite());
  refusal.value = why === undefined ? undefined : { address: start, text: why };
  editing.value = why === undefined ? { address: start, text } : undefined;
}

/** Edits the selected register. The text begins with its value, without the unit. */
export function editSelected(): void {
  const start = cellStart(known, format.peek(), selected.peek());
  const value = format.peek() === 'values' ? known.valueAt(start) : undefined;
  beginEdit(start, value ? (value.label ?? String(value.value)) : cellText(known, format.peek(), start));
}

/** Sends the typed text. If it is refused, the cell stays open and shows the reason. */
export async function commitEdit(text: string): Promise<void> {
  const now = target.peek();
  const { address } = editing.peek() ?? {};
  if (!now || address === undefined) return;
  const change = changeOf(now.table, address, text);
  if ('expected' in change) {
    refusal.value = { address, text: `expected ${change.expected}` };
    return;
  }
  const count = change.words?.length ?? cellLength(known, 'values', address);
  const before = known.wordsAt(address, count);
  const sent = await sendChange(now.device.name, change);
  if (!sent.ok) {
    refusal.value = { address, text: sent.text };
    return;
  }
  editing.value = undefined;
  refusal.value = undefined;
  if (before) made(now.device.name, change, before, sent.registers);
}

/** The change that a text means in the present format, or what was expected instead. */
function changeOf(
  table: WordTable,
  address: number,
  text: string,
): CellChange | { readonly expected: string } {
  const as = format.peek();
  const value = known.valueAt(address);
  if (as === 'values' && value) {
    const trimmed = text.trim();
    const isExact = value.type.endsWith('64') && value.type !== 'float64';
    const isText = value.type === 'string' || isExact || trimmed === '' || Number.isNaN(Number(trimmed));
    return { table, address: value.address, value: isText ? text : Number(trimmed) };
  }
  const parsed = parseText(as, text, known.bits);
  return 'expected' in parsed ? parsed : { table, address, words: [...parsed.words] };
}
