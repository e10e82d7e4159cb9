import { concatBytes } from './bytes.js';
import type { AduContent, Framing } from './framing.js';
import { COLON, MAX_PDU_LENGTH } from './limits.js';

/*
 * Modbus ASCII (Modbus over Serial Line V1.02, 2.5.2): a colon; unit identifier, PDU and LRC, two hexadecimal
 * digits per byte; carriage return; and the delimiter, a line feed unless function 8/3 has changed it.
 */
export const CARRIAGE_RETURN = 0x0d;
export const LINE_FEED = 0x0a;

/** Characters before the digits of a message (the colon) and after them (carriage return and delimiter). */
const BEGIN_LENGTH = 1;
const END_LENGTH = 2;
const LRC_LENGTH = 2;
/** The shortest message, in characters: unit identifier, function code and LRC. */
const MIN_ASCII_LENGTH = BEGIN_LENGTH + 2 * 2 + LRC_LENGTH + END_LENGTH;
/** The longest message, in characters: 513 (2.5.2.1). No other framing has longer ADUs. */
export const MAX_ASCII_LENGTH = BEGIN_LENGTH + 2 * (1 + MAX_PDU_LENGTH) + LRC_LENGTH + END_LENGTH;

/** The longest pause between two characters of a message, in ms (2.5.2.1). */
export const ASCII_TIMEOUT_MS = 1000;

/** Characters have seven data bits (2.5.2), so a higher value would never arrive intact. */
const MAX_CHARACTER = 0x7f;

/** True for 0–9 and A–F, which the specification allows, and for a–f, which many implementations send. */
export function isHexDigit(character: number): boolean {
  const letter = character & ~0x20;
  return (character >= 0x30 && character <= 0x39) || (letter >= 0x41 && letter <= 0x46);
}

/** Reports whether a message can end with this character: it has seven bits and occurs nowhere else in a message. */
export function mayDelimit(character: number): boolean {
  const isPart = character === COLON || character === CARRIAGE_RETURN || isHexDigit(character);
  return !isPart && character <= MAX_CHARACTER;
}

/**
 * ASCII messages that end with one delimiter. `decode` is strict except for lower-case digits. `fields` and
 * `recheck` rely only on the positions of characters, because a fault may have damaged any character.
 */
export class AsciiFraming implements Framing {
  readonly name = 'ascii';
  readonly broadcasts = true;
  readonly characterBits = 7;
  readonly minLength = MIN_ASCII_LENGTH;
  readonly maxLength = MAX_ASCII_LENGTH;
  readonly delimiter: number;

  /**
   * @param delimiter ends every message, in both directions (Application Protocol V1.1b3, 6.8, sub-function
   * 3)
   */
  constructor(delimiter = LINE_FEED) {
    this.delimiter = delimiter;
  }

  withDelimiter(character: number): AsciiFraming | undefined {
    if (character === this.delimiter) return this;
    return mayDelimit(character) ? new AsciiFraming(character) : undefined;
  }

  encode({ unitId, pdu }: Pick<AduContent, 'unitId' | 'pdu'>): Uint8Array {
    const body = concatBytes([unitId], pdu);
    return concatBytes([COLON], digitsOf(body), digitsOf([lrc(body)]), [CARRIAGE_RETURN, this.delimiter]);
  }

  decode(adu: Uint8Array): AduContent | undefined {
    if (adu.length < MIN_ASCII_LENGTH || adu.length > MAX_ASCII_LENGTH) return undefined;
    if (adu[0] !== COLON || adu.at(-2) !== CARRIAGE_RETURN || adu.at(-1) !== this.delimiter) return undefined;
    const digits = digitsIn(adu);
    if (digits.length % 2 !== 0 || !digits.every(isHexDigit)) return undefined;
    const bytes = bytesOf(digits);
    return lrc(bytes) === 0 ? contentOf(bytes) : undefined;
  }

  fields(adu: Uint8Array): AduContent | undefined {
    return adu.length >= MIN_ASCII_LENGTH ? contentOf(bytesOf(digitsIn(adu))) : undefined;
  }

  recheck(adu: Uint8Array, change: (check: readonly number[]) => readonly number[]): Uint8Array | undefined {
    const start = adu.length - END_LENGTH - LRC_LENGTH;
    if (start < 0) return undefined;
    const check = bytesOf(adu.subarray(start, start + LRC_LENGTH));
    return concatBytes(adu.subarray(0, start), digitsOf(change([...check])), adu.subarray(-END_LENGTH));
  }
}

/**
 * Returns the two's complement of the sum of the bytes, discarding carries. The result is 0 if the bytes
 * include the LRC (Serial Line V1.02, 6.2.1).
 */
function lrc(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum += byte;
  return -sum & 0xff;
}

const DIGITS = Uint8Array.from('0123456789ABCDEF', (digit) => digit.charCodeAt(0));

function digitsOf(bytes: Uint8Array | readonly number[]): Uint8Array {
  const digits = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    digits[2 * i] = DIGITS[byte >> 4] as number;
    digits[2 * i + 1] = DIGITS[byte & 15] as number;
  }
  return digits;
}

/** Returns the digits of a message. */
function digitsIn(adu: Uint8Array): Uint8Array {
  return adu.subarray(BEGIN_LENGTH, -END_LENGTH);
}

/**
 * Returns the bytes that pairs of digits stand for. A single digit at the end is ignored; the value of
 * a non-digit is not defined.
 */
function bytesOf(digits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(digits.length >> 1);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = (nibble(digits[2 * i] as number) << 4) | nibble(digits[2 * i + 1] as number);
  }
  return bytes;
}

/** Returns the value of a digit. Letters, upper and lower case, have bit 6, and the low bits of A are 1. */
function nibble(digit: number): number {
  return (digit & 0x40 ? digit + 9 : digit) & 15;
}

function contentOf(bytes: Uint8Array): AduContent {
  return { transactionId: 0, unitId: bytes[0] as number, pdu: bytes.slice(1, -1) };
}
