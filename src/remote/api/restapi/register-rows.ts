import { z } from 'zod';
import type { Action } from '../../../device/registers/actions.js';
import { CELL_TYPES, type CellType } from '../../../device/registers/cell-type.js';
import { isWritableMeta, orderOfMeta, typeOfMeta } from '../../../device/registers/layout.js';
import { valueOfWords } from '../../../device/registers/value.js';
import type { CellBlock } from '../../../simulator/commands/cells.js';
import { accessText, actionText, typeText, valueText } from './register-text.js';

/** A register as REST clients know it: every field is text. */
export const registerRowSchema = z.object({
  index: z.string(),
  type: z.string(),
  access: z.string(),
  action: z.string(),
  value: z.string(),
  count_read: z.string(),
  count_write: z.string(),
});

/** Rows in a piece. */
const ROWS = 256;

/**
 * The JSON of the registers of a block, one row each, separated by commas, in pieces. Rows are joined from
 * texts and not made from objects: JSON.stringify took five times as long.
 */
export function* registerRows(block: CellBlock): Generator<string> {
  const actions = new Map(block.actions);
  let rows = '';
  for (let i = 0; i < block.count; i++) {
    rows += (i === 0 ? '' : ',') + rowOf(block, i, actions);
    if (i % ROWS !== ROWS - 1) continue;
    yield rows;
    rows = '';
  }
  yield rows;
}

function rowOf(block: CellBlock, i: number, actions: ReadonlyMap<number, Action>): string {
  const { first, words, meta } = block;
  const type = typeOfMeta(meta[i] as number);
  const word = String(words[i]);
  let [last, value] = ['', type === 'next' ? word : '0'];
  if (type !== 'next' && type !== 'invalid') {
    let end = i + 1;
    while (end < meta.length && typeOfMeta(meta[end] as number) === 'next') end++;
    if (end > i + 1) last = `-${first + end - 1}`;
    const text = valueText(type, valueOfWords(type, words, orderOfMeta(meta[i] as number), i, end - i));
    value = type === 'string' ? jsonOfContent(text) : text;
  }
  const isWritable = isWritableMeta(meta[i] as number);
  const action = actions.get(first + i);
  const middle = action ? middleOf(type, isWritable, actionText(action)) : MIDDLES[type][isWritable ? 1 : 0];
  const { reads, writes } = block;
  return `{"index":"${first + i}${last}${middle}${value}","count_read":"${reads[i]}","count_write":"${writes[i]}"}`;
}

/** The part of a row between its index and its value. */
function middleOf(type: CellType, isWritable: boolean, action: string): string {
  const access = accessText(isWritable);
  return `","type":"${typeText(type)}","access":"${access}","action":"${jsonOfContent(action)}","value":"`;
}

/** This part for rows without an action, by type: read-only and writable. */
const MIDDLES = Object.fromEntries(
  CELL_TYPES.map((type) => [
    type,
    [false, true].map((writable) => middleOf(type, writable, actionText(undefined))),
  ]),
) as unknown as Readonly<Record<CellType, readonly [string, string]>>;

/** Text as it stands between the quotes of a JSON string. */
function jsonOfContent(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
