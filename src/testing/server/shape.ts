import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';

/** How a reply differs from its function's format: it ends before a field, or continues after the last one. */
export interface WrongShape {
  readonly code: 'reply-cut' | 'reply-long' | 'byte-count';
  readonly function: number;
  /** The first field that the reply lacks, or the last one in its function's format. */
  readonly field: string;
}

/**
 * What is missing or surplus in a response PDU, according to the table of functions. Undefined if the length
 * is right, for an exception, and for a function whose replies have no fixed format.
 */
export function wrongShape(pdu: Uint8Array): WrongShape | undefined {
  const [code = 0] = pdu;
  const layout = code & EXCEPTION_FLAG ? undefined : functionOf(code)?.response;
  if (!layout) return undefined;
  const { fields, end, length, rest } = layout;
  const missing = fields.find(({ at, width }) => at + width > pdu.length);
  const shape = { function: code, field: missing?.name ?? fields.at(-1)?.name ?? rest ?? '' };
  if (missing) return { code: 'reply-cut', ...shape };
  if (length === undefined) return undefined;
  if (typeof length === 'object')
    return pdu.length === length.plus + (pdu[length.countAt] ?? 0)
      ? undefined
      : { code: 'byte-count', ...shape };
  if (pdu.length < length) return { code: 'reply-cut', ...shape, field: rest ?? shape.field };
  // In a reply with variable data, bytes after the usual length are more data (6.8.1).
  return pdu.length > length && end === length ? { code: 'reply-long', ...shape } : undefined;
}
