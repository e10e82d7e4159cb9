import { MIN_RTU_LENGTH } from '../../modbus/protocol/limits.js';

/** The ways in which logs show bytes: hexadecimal, decimal, ASCII messages, and bytes spread over several lines. */

/** Bytes found in a line. */
export interface ShownBytes {
  readonly bytes: Uint8Array;
  /** The text before the bytes, without dates and times; for a later group, the text since the previous group. */
  readonly before: string;
  /** The text after the bytes, up to the end of the line. */
  readonly behind: string;
  /** The direction that the notation itself implies. */
  readonly direction: 'out' | 'in' | undefined;
  /** True if the program left out the last bytes. */
  readonly isCut: boolean;
}

/** Maximum number of characters read from a line. */
export const MOST_CHARACTERS = 8000;

/** Maximum number of bytes in a frame: an ASCII message has 513 characters. */
export const MOST_BYTES = 520;

/** The notations, in the order in which they are tried. Text that only looks like a notation yields no bytes. */
const NOTATIONS: readonly {
  readonly pattern: RegExp;
  readonly direction?: 'out' | 'in';
  readonly read: (text: string) => number[];
  /** True if fewer than four bytes in this notation can be mistaken for something else. */
  readonly isPlain?: boolean;
}[] = [
  // pymodbus: `0x0 0x1`
  { pattern: /(?<![\w.])(?:0x[0-9a-f]{1,2}(?![0-9a-z])[ ,]*)+/gi, read: hexIn },
  // libmodbus: `[00][01]` and `<00><01>`. A single byte after a word is an index: `Response[64]`
  { pattern: /(?:\[[0-9a-f]{2}\]){2,}|(?<!\w)\[[0-9a-f]{2}\]/gi, direction: 'out', read: hexIn },
  { pattern: /(?:< ?[0-9a-f]{2} ?>)+/gi, direction: 'in', read: hexIn },
  // Node.js: `<Buffer 00 01 ... 35 more bytes>`, even for parts of frames
  { pattern: /(?<=<Buffer )[0-9a-f]{2}(?: [0-9a-f]{2})*/gi, read: hexIn },
  // An ASCII message: `:010300000002FA`
  {
    pattern: /(?<![^\s"'([<|]):(?:[0-9a-f]{2}){3,}(?![0-9a-z])/gi,
    read: (text) => [...Buffer.from(`${text}\r\n`)],
  },
  // ESPHome: `00.01.02`. Four such bytes may be an IP address.
  { pattern: /(?<![\w.:-])(?:[0-9a-f]{2}\.){4,}[0-9a-f]{2}(?![\w.])/gi, read: hexIn, isPlain: true },
  // modbus-tk, NModbus, JSON: `0-1-0`, `[0, 1, 0]`, `00-01-00`
  {
    pattern: /(?<![\w.:-])(?:[0-9a-f]{1,3}(?:-|, ?)){3,}[0-9a-f]{1,3}(?![\w.])/gi,
    read: listed,
    isPlain: true,
  },
  {
    pattern: /(?<![\w.:-])(?:[0-9a-f]{2}(?: {1,2}|[:-])){3,}[0-9a-f]{2}(?![\w.])/gi,
    read: hexIn,
    isPlain: true,
  },
  { pattern: /(?<![\w.:-])(?:[0-9a-f]{2}){4,}(?![\w.:-])/gi, read: hexIn, isPlain: true },
  // Python, ESPHome: `b'\x01\x03P\x00'`
  {
    pattern: /(["'])(?=[^"']*\\x[0-9a-f]{2})(?:\\x[0-9a-f]{2}|\\[^x]|(?!\1)[^\\])+\1/gi,
    read: escaped,
    isPlain: true,
  },
];

/** The meanings of escape letters in a text; any other character stands for itself. */
const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, e: 27 };

/** Dates and times of day, which look like bytes. Four or more bytes separated by colons are not a time. */
const DATES = [
  /(?<!\d)(?:\d{4}([/.-])\d{1,2}\1\d{1,2}|\d{1,2}([/.-])\d{1,2}\2\d{4}|\d{8}(?=[T ]\d{2}:))(?!\d)/g,
  /(?<![0-9a-f:])\d{2}:\d{2}:\d{2}(?:[.,:]\d{3,9})?(?:Z| ?[+-]\d{2}:?\d{2}(?![\d:-]))?(?!:?[0-9a-f])/gi,
];

/** Replaces dates and times in the line with blanks. */
export function withoutDates(line: string): string {
  return DATES.reduce((rest, date) => rest.replace(date, (found) => ' '.repeat(found.length)), line);
}

/**
 * Finds the bytes that a line shows, ignoring dates: one group, or several with words between them. Fewer
 * than four bytes, a part of a frame, count only if the line has no others, and only in notations that
 * nothing else resembles.
 */
export function bytesShown(text: string): ShownBytes[] {
  for (const fewest of [MIN_RTU_LENGTH, 1]) {
    for (const { pattern, direction, read, isPlain = false } of NOTATIONS) {
      if (isPlain && fewest < MIN_RTU_LENGTH) continue;
      const shown: ShownBytes[] = [];
      let end = 0;
      for (const match of text.matchAll(pattern)) {
        const bytes = Uint8Array.from(read(match[0]));
        if (bytes.length < fewest || bytes.length > MOST_BYTES) continue;
        const behind = text.slice(match.index + match[0].length);
        const before = text.slice(end, match.index);
        shown.push({ bytes, before, behind, direction, isCut: /^\s*\.\.\./.test(behind) });
        end = match.index + match[0].length;
      }
      if (shown.length > 0) return shown;
    }
  }
  return [];
}

/** Converts hexadecimal digits to bytes, whatever separates them. */
export function hexIn(text: string): number[] {
  const digits = text.match(/(?:0x)?[0-9a-f]{1,2}/gi) ?? [];
  return digits.map((byte) => Number.parseInt(byte.replace(/^0x/i, ''), 16));
}

/** Reads quoted text with escapes for unprintable bytes. */
function escaped(text: string): number[] {
  const signs = [...text.slice(1, -1).matchAll(/\\x(..)|\\(.)|(.)/g)];
  return signs.map(([, hexadecimal, letter, sign = letter ?? '']) =>
    hexadecimal ? Number.parseInt(hexadecimal, 16) : (ESCAPES[letter ?? ''] ?? sign.charCodeAt(0)),
  );
}

/**
 * Reads a list of numbers. Decimal numbers have no leading zeros; every hexadecimal frame has some, in a byte
 * of its address.
 */
function listed(text: string): number[] {
  const items = text.split(/-|, ?/);
  const isHex = items.every((item) => item.length === 2) && items.some((item) => /^0|[a-f]/i.test(item));
  if (isHex) return hexIn(text);
  const numbers = items.map((item) => (/^\d+$/.test(item) ? Number(item) : Number.NaN));
  return numbers.every((number) => number <= 0xff) ? numbers : [];
}
