import { hex } from '../protocol/bytes.js';
import type { Framing } from '../protocol/framing.js';
import { decodeMbap } from '../protocol/mbap.js';

const CRC_LENGTH = 2;
/** Carriage return and delimiter, behind the two digits of the LRC. */
const ASCII_END = 2;

/**
 * What is wrong with bytes that are no valid frame: `CRC error: 1a2b, expected 3c4d`, with the bytes in the order in
 * which they are on the wire; `LRC error: F8, expected FA` on ASCII lines; `not Modbus TCP: protocol identifier 1, expected 0`.
 */
export function damageText(bytes: Uint8Array, framing: Framing): string {
  const content = bytes.length <= framing.maxLength ? framing.fields(bytes) : undefined;
  const none = `${bytes.length} bytes that are no valid frame`;
  if (content === undefined) return none;
  const right = framing.encode(content);
  switch (framing.name) {
    case 'rtu':
      return `CRC error: ${crcOf(bytes)}, expected ${crcOf(right)}`;
    case 'ascii': {
      const [found, expected] = [lrcOf(bytes), lrcOf(right)];
      // Where the check value fits, a character is none of an ASCII message.
      return found.toUpperCase() === expected ? none : `LRC error: ${found}, expected ${expected}`;
    }
    case 'socket': {
      const decoded = decodeMbap(bytes);
      return decoded.kind === 'other protocol' ? `not Modbus TCP: ${decoded.reason}` : none;
    }
  }
}

function crcOf(adu: Uint8Array): string {
  return hex(adu.subarray(-CRC_LENGTH)).replace(' ', '');
}

function lrcOf(adu: Uint8Array): string {
  const digits = adu.subarray(-ASCII_END - 2, -ASCII_END);
  return String.fromCharCode(...digits).replace(/[^\x20-\x7e]/g, '?');
}
