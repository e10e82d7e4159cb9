import type { RegisterImage } from '../../registers/image.js';
import { accessText, actionText, typeText, valueText } from './register-text.js';

/** A register as REST clients see it: every field is text. */
export interface RegisterRow {
  readonly index: string;
  readonly type: string;
  readonly access: string;
  readonly action: string;
  readonly value: string;
  readonly count_read: string;
  readonly count_write: string;
}

/**
 * The cells of one list of registers, numbered from 0. Cells from `image.size` up to `size` exist as addresses
 * but are not defined.
 */
export interface RegisterList {
  readonly image: RegisterImage;
  readonly size: number;
}

/** One row for each register of the range, ends included. */
export function registerRows(list: RegisterList, start: number, end: number): RegisterRow[] {
  list.image.refresh(start, end - start + 1);
  return Array.from({ length: end - start + 1 }, (_, i) => registerRow(list.image, start + i));
}

function registerRow(image: RegisterImage, address: number): RegisterRow {
  const type = image.typeAt(address);
  if (type === 'invalid') return row(image, address, String(address), '0');
  if (type === 'next') return row(image, address, String(address), String(image.wordAt(address)));
  const span = image.valueSpan(address);
  if (!span) return row(image, address, String(address), '0');
  const index = span.cells > 1 ? `${address}-${address + span.cells - 1}` : String(address);
  return row(image, address, index, valueText(type, image.valueAt(span)));
}

function row(image: RegisterImage, address: number, index: string, value: string): RegisterRow {
  return {
    index,
    type: typeText(image.typeAt(address)),
    access: accessText(address < image.size && image.isWritable(address)),
    action: actionText(image.actionAt(address)),
    value,
    count_read: String(image.reads.get(address)),
    count_write: String(image.writes.get(address)),
  };
}
