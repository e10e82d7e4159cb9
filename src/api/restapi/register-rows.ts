import { z } from 'zod';
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

export type RegisterRow = z.infer<typeof registerRowSchema>;

/**
 * The cells of one list of registers, numbered from 0. Cells from `image.size` up to `size` exist as addresses
 * but are not defined.
 */
export interface RegisterList {
  readonly image: RegisterImage;
  readonly size: number;
}

/** One row for each register of the range, ends included; each is made when it is asked for. */
export function* registerRows(list: RegisterList, start: number, end: number): Generator<RegisterRow> {
  for (let address = start; address <= end; address++) {
    list.image.refresh(address, 1);
    yield registerRow(list.image, address);
  }
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
