import { wordAt, wordsAt } from './bytes.js';
import { ExceptionCode } from './exception-code.js';
import { FunctionCode } from './function-code.js';
import { MAX_PDU_LENGTH } from './limits.js';
import { type DecodedRequest, type FilePart, refused, valid } from './request.js';

const ILLEGAL_VALUE = refused(ExceptionCode.illegalDataValue);

/** Bytes that name a part of a file: reference type, file, record, length. */
const PART_LENGTH = 7;

function partAt(pdu: Uint8Array, offset: number): FilePart {
  return {
    referenceType: pdu[offset] as number,
    file: wordAt(pdu, offset + 1),
    record: wordAt(pdu, offset + 3),
    length: wordAt(pdu, offset + 5),
  };
}

/**
 * Function 20 (6.14): byte count 7 to 245 in whole parts, at least a record in each, and a response that fits into
 * a PDU. (The table says 245 for the response as well; the text says that the PDU is the limit.)
 */
export function decodeReadFileRecord(pdu: Uint8Array): DecodedRequest {
  const byteCount = pdu[1] ?? 0;
  if (
    byteCount < PART_LENGTH ||
    byteCount > 0xf5 ||
    pdu.length !== 2 + byteCount ||
    byteCount % PART_LENGTH !== 0
  ) {
    return ILLEGAL_VALUE;
  }
  const parts = Array.from({ length: byteCount / PART_LENGTH }, (_, i) => partAt(pdu, 2 + PART_LENGTH * i));
  const responseLength = parts.reduce((sum, { length }) => sum + 2 + 2 * length, 2);
  const isEmpty = parts.some(({ length }) => length === 0);
  return !isEmpty && responseLength <= MAX_PDU_LENGTH
    ? valid({ code: FunctionCode.readFileRecord, parts })
    : ILLEGAL_VALUE;
}

/** Function 21 (6.15): byte count 9 to 251, exactly filled by parts of at least a record with their data. */
export function decodeWriteFileRecord(pdu: Uint8Array): DecodedRequest {
  const byteCount = pdu[1] ?? 0;
  if (byteCount < PART_LENGTH + 2 || byteCount > 0xfb || pdu.length !== 2 + byteCount) return ILLEGAL_VALUE;
  const parts = [];
  let offset = 2;
  while (offset + PART_LENGTH <= pdu.length) {
    const part = partAt(pdu, offset);
    const dataOffset = offset + PART_LENGTH;
    offset = dataOffset + 2 * part.length;
    if (part.length === 0 || offset > pdu.length) return ILLEGAL_VALUE;
    parts.push({ ...part, words: wordsAt(pdu, dataOffset, part.length) });
  }
  return offset === pdu.length ? valid({ code: FunctionCode.writeFileRecord, parts }) : ILLEGAL_VALUE;
}

/** Function 24 (6.18). */
export function decodeReadFifoQueue(pdu: Uint8Array): DecodedRequest {
  return pdu.length === 3
    ? valid({ code: FunctionCode.readFifoQueue, address: wordAt(pdu, 1) })
    : ILLEGAL_VALUE;
}
