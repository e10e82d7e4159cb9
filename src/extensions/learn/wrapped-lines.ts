import { bytesShown, hexIn, MOST_CHARACTERS, withoutDates } from './bytes-shown.js';
import { framesIn } from './frames.js';

/** Joins lines that belong together: rows of a dump, and a line that was wrapped within a frame. */

/** A line of a dump: `0010: 00 01`, `| 0010 | 00 01 | ..|`. */
const DUMPED = /^(?:.*[\s|])?(?:0x)?([0-9a-f]{4,8})[:|\s]+((?:[0-9a-f]{2}(?: {1,2}|-|$)){1,32})/i;
/** A line with only bytes, and perhaps a column with their characters. */
const WRAPPED = /^\s*((?:[0-9a-f]{2}(?:\s|$)){1,64})(?:\s+\S.*)?$/i;
/** Minimum number of bytes in a line that can be continued. */
const FULL_LINE = 16;

/**
 * The bytes of a line that continues the previous line.
 * @param length the number of bytes so far
 * @param isBare true if the lines contain only bytes
 */
export function bytesContinued(text: string, length: number, isBare: boolean): number[] | undefined {
  const [, offset, dumped] = DUMPED.exec(text) ?? [];
  if (offset !== undefined && dumped !== undefined && Number.parseInt(offset, 16) === length)
    return hexIn(dumped);
  const [, wrapped] = WRAPPED.exec(text) ?? [];
  return wrapped !== undefined && isBare && length >= FULL_LINE ? hexIn(wrapped) : undefined;
}

/** Maximum number of lines that a frame is wrapped into. */
const MOST_WRAPS = 40;
/** A line that begins with bytes, or with the rest of one, perhaps after quote markers (`>`, `|`). */
const BEGINS_WITH_BYTES = /^[\s>|]*(?=(?:0?x)?[0-9a-f]{1,2}(?![a-z])|(?:[0-9a-f]{2})+\b)/i;
const TIME = /\d:\d{2}:\d{2}/;

/**
 * Joins a line and its continuations, if it was wrapped between the bytes of a frame or within one: alone, it
 * ends with part of a frame; together, with a whole frame.
 * @returns the text, and the number of lines joined
 */
export function unwrapped(lines: readonly string[], at: number): { text: string; lines: number } {
  const alone = lines[at] ?? '';
  const shown = bytesShown(withoutDates(alone)).at(-1);
  // Rows with only bytes belong to a dump.
  const mayGoOn = shown !== undefined && shown.before.trim() !== '' && !shown.isCut;
  if (mayGoOn && !isWhole(shown.bytes) && /^[\s,]*(?:0?x?|[0-9a-f])$/i.test(shown.behind.trimEnd())) {
    let text = alone.trimEnd();
    for (let n = 1; n <= MOST_WRAPS; n++) {
      const next = lines[at + n] ?? '';
      const begin = BEGINS_WITH_BYTES.exec(next)?.[0].length;
      if (begin === undefined || TIME.test(next)) break;
      text = rejoined(text, next.slice(begin).trimEnd());
      if (text.length > MOST_CHARACTERS) break;
      const last = bytesShown(withoutDates(text)).at(-1);
      if (!last) break;
      if (isWhole(last.bytes)) return { text, lines: n + 1 };
    }
  }
  return { text: alone, lines: 1 };
}

function isWhole(bytes: Uint8Array): boolean {
  return framesIn(bytes) !== undefined;
}

/** One more than the length of `0x00`: for a longer run of digits, its end is enough to show that it is not a byte. */
const LONGEST_TAIL = 5;

/** Joins two pieces of a line, with a blank between them unless the wrap was within a byte or bytes have no blanks. */
function rejoined(text: string, next: string): string {
  const tail = /[0-9a-fx]*$/i.exec(text.slice(-LONGEST_TAIL))?.[0] ?? '';
  const head = /^[0-9a-fx]*/i.exec(next)?.[0] ?? '';
  const isApart = /^0x[0-9a-f]{1,2}$/i.test(tail)
    ? /^0x/i.test(head)
    : tail.length === 2 && head.length === 2;
  return `${text}${isApart ? ' ' : ''}${next}`;
}
