import { z } from 'zod';
import { CELL_TYPES, type CellType } from '../../registers/cell-type.js';
import type { RegisterImage } from '../../registers/image.js';
import { accessText, actionText, typeText, valueText } from './register-text.js';

/** A register as REST clients see it: every field is text. */
export const registerRowSchema = z.object({
  index: z.string(),
  type: z.string(),
  access: z.string(),
  action: z.string(),
  value: z.string(),
  count_read: z.string(),
  count_write: z.string(),
});

/**
 * The cells of one list of registers, numbered from 0. Cells from `image.size` up to `size` exist as addresses
 * but are not defined.
 */
export interface RegisterList {
  readonly image: RegisterImage;
  readonly size: number;
}

/** Rows are written in pieces of about this many characters, which are some twenty rows. */
const PIECE_LENGTH = 2048;

/**
 * The JSON of one row for each register of the range, ends included, in pieces; each piece is made when it is asked for.
 * Rows are put together from texts, not from objects: JSON.stringify took five times as long.
 */
export function* registerRows({ image }: RegisterList, start: number, end: number): Generator<string> {
  let piece = '';
  for (let address = start; address <= end; address++) {
    image.refresh(address, 1);
    if (piece !== '') piece += ',';
    piece += registerRow(image, address);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function registerRow(image: RegisterImage, address: number): string {
  const type = image.typeAt(address);
  if (type === 'invalid') return row(image, address, type, '', '0');
  if (type === 'next') return row(image, address, type, '', String(image.wordAt(address)));
  const span = image.valueSpan(address);
  if (!span) return row(image, address, type, '', '0');
  const last = span.cells > 1 ? `-${address + span.cells - 1}` : '';
  const value = valueText(type, image.valueAt(span));
  return row(image, address, type, last, type === 'string' ? jsonOfContent(value) : value);
}

/** @param value as it stands between the quotes of JSON */
function row(image: RegisterImage, address: number, type: CellType, last: string, value: string): string {
  const isWritable = address < image.size && image.isWritable(address);
  const action = image.actionAt(address);
  const middle = action ? middleOf(type, isWritable, actionText(action)) : MIDDLES[type][isWritable ? 1 : 0];
  const read = image.reads.get(address);
  const written = image.writes.get(address);
  return `{"index":"${address}${last}${middle}${value}","count_read":"${read}","count_write":"${written}"}`;
}

/** The part of a row between its index and its value. */
function middleOf(type: CellType, isWritable: boolean, action: string): string {
  const access = accessText(isWritable);
  return `","type":"${typeText(type)}","access":"${access}","action":"${jsonOfContent(action)}","value":"`;
}

/** This part of all rows without an action: of those that clients can't write, and of those that they can. */
const MIDDLES = Object.fromEntries(
  CELL_TYPES.map((type) => [
    type,
    [false, true].map((writable) => middleOf(type, writable, actionText(undefined))),
  ]),
) as unknown as Readonly<Record<CellType, readonly [string, string]>>;

/** Text as it stands between the quotes of JSON. */
function jsonOfContent(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
