import { wordAt } from '../../../protocol/bytes.js';
import { crc16 } from '../../../protocol/crc16.js';
import type { Field } from './dissect-pdu.js';
import { type About, dissectPdu } from './dissect-pdu.js';

export type FramingName = 'rtu' | 'ascii' | 'socket';

/**
 * Names every byte of what passed a line: one frame, several, or what is left of one. The fields are in the order of the
 * bytes, and a field says what is wrong with it.
 */
export function dissect(bytes: Uint8Array, framing: FramingName, about: About): Field[] {
  switch (framing) {
    case 'rtu':
      return dissectRtu(bytes, 0, about);
    case 'ascii':
      return dissectAscii(bytes, about);
    case 'socket':
      return dissectSocket(bytes, 0, about);
  }
}

/** The framing that bytes look like, for a line of which nobody knows it any more. */
export function guessedFraming(bytes: Uint8Array): FramingName {
  if (bytes[0] === COLON) return 'ascii';
  return bytes.length > MBAP_LENGTH && wordAt(bytes, 2) === 0 && wordAt(bytes, 4) === bytes.length - 6
    ? 'socket'
    : 'rtu';
}

const MIN_RTU_LENGTH = 4;
const MBAP_LENGTH = 7;
const COLON = 0x3a;

const hexWord = (word: number) => word.toString(16).padStart(4, '0');

/** Fields of bytes that are too few for a frame. */
function fragment(at: number, length: number): Field[] {
  return length > 0 ? [{ name: 'fragment', at, length, value: '', wrong: 'too short for a frame' }] : [];
}

/** Unit, PDU and CRC, low byte first. Behind a frame whose CRC is right there may be another one. */
function dissectRtu(bytes: Uint8Array, start: number, about: About): Field[] {
  if (bytes.length - start < MIN_RTU_LENGTH) return fragment(start, bytes.length - start);
  const end = endOfRtu(bytes, start);
  const crcAt = end - 2;
  const [found, expected] = [wordAt(bytes, crcAt), swapped(crc16(bytes, start, crcAt))];
  const wrong = found === expected ? undefined : `expected ${hexWord(expected)}`;
  const crc = {
    name: 'CRC',
    at: crcAt,
    length: 2,
    value: `${hexWord(found)}${wrong ? '' : ' right'}`,
    wrong,
  };
  return [
    unitField(bytes[start] as number, start),
    ...dissectPdu(bytes, start + 1, crcAt, about),
    crc,
    ...dissectRtu(bytes, end, about),
  ];
}

/** Where the first frame with a right CRC ends; the end of all bytes where there is none. */
function endOfRtu(bytes: Uint8Array, start: number): number {
  if (crc16(bytes, start) === 0) return bytes.length;
  for (let end = start + MIN_RTU_LENGTH; end < bytes.length; end++) {
    if (crc16(bytes, start, end) === 0) return end;
  }
  return bytes.length;
}

function swapped(word: number): number {
  return ((word & 0xff) << 8) | (word >> 8);
}

function unitField(unit: number, at: number): Field {
  return { name: 'unit', at, length: 1, value: unit === 0 ? '0 broadcast' : String(unit) };
}

/** MBAP header and PDU; several frames may stand behind each other. */
function dissectSocket(bytes: Uint8Array, start: number, about: About): Field[] {
  const rest = bytes.length - start;
  if (rest <= MBAP_LENGTH) return fragment(start, rest);
  const [protocol, length] = [wordAt(bytes, start + 2), wordAt(bytes, start + 4)];
  const isWhole = length >= 2 && length <= rest - 6;
  const end = isWhole ? start + 6 + length : bytes.length;
  return [
    { name: 'transaction', at: start, length: 2, value: String(wordAt(bytes, start)) },
    {
      name: 'protocol',
      at: start + 2,
      length: 2,
      value: String(protocol),
      wrong: protocol === 0 ? undefined : 'expected 0',
    },
    {
      name: 'length',
      at: start + 4,
      length: 2,
      value: String(length),
      wrong: isWhole ? undefined : `${rest - 6} bytes follow`,
    },
    { name: 'unit', at: start + 6, length: 1, value: String(bytes[start + 6]) },
    ...dissectPdu(bytes, start + MBAP_LENGTH, end, about),
    ...dissectSocket(bytes, end, about),
  ];
}

/** Colon, two digits for each byte, carriage return and delimiter. The LRC is the last byte of the digits. */
function dissectAscii(bytes: Uint8Array, about: About): Field[] {
  const end = bytes.lastIndexOf(0x0d);
  const digitsEnd = end < 0 ? bytes.length : end;
  const content = contentOf(bytes.subarray(1, digitsEnd));
  if (bytes[0] !== COLON || content.length < 3) return fragment(0, bytes.length);
  const lrcAt = content.length - 1;
  const expected = content.subarray(0, lrcAt).reduce((sum, byte) => sum - byte, 0) & 0xff;
  const text = String.fromCharCode(...bytes.subarray(1 + 2 * lrcAt, digitsEnd));
  const isRight = Number.parseInt(text, 16) === expected && text.length === 2;
  const asCharacters = (field: Field) => ({ ...field, at: 1 + 2 * field.at, length: 2 * field.length });
  const inside = [unitField(content[0] as number, 0), ...dissectPdu(content, 1, lrcAt, about)];
  return [
    { name: 'start', at: 0, length: 1, value: ':' },
    ...inside.map(asCharacters).map((field) => withDigits(field, bytes)),
    {
      name: 'LRC',
      at: 1 + 2 * lrcAt,
      length: digitsEnd - 1 - 2 * lrcAt,
      value: isRight ? `${text} right` : text,
      wrong: isRight ? undefined : `expected ${expected.toString(16).padStart(2, '0').toUpperCase()}`,
    },
    endField(bytes, digitsEnd),
  ];
}

/** Carriage return and delimiter, which function 8/3 may have changed. */
function endField(bytes: Uint8Array, at: number): Field {
  const length = bytes.length - at;
  if (length === 2) return { name: 'end', at, length, value: 'carriage return and delimiter' };
  return { name: 'end', at, length, value: '', wrong: 'expected carriage return and delimiter' };
}

/** Bytes of pairs of digits; what is no digit counts as 0. */
function contentOf(digits: Uint8Array): Uint8Array {
  const text = String.fromCharCode(...digits);
  return Uint8Array.from({ length: digits.length >> 1 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}

function withDigits(field: Field, bytes: Uint8Array): Field {
  const text = String.fromCharCode(...bytes.subarray(field.at, field.at + field.length));
  return /^[0-9a-f]*$/i.test(text) ? field : { ...field, wrong: 'a character that is no digit' };
}
