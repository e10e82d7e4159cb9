import { DAY_MS } from '../../common/schema/milliseconds.js';
import { counted } from '../../common/words.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import { MIN_RTU_LENGTH } from '../../modbus/protocol/limits.js';

/** How logs show bytes: in hexadecimal, decimal, as ASCII messages, and over several lines. */

/** Bytes of a line. */
interface ShownBytes {
  readonly bytes: Uint8Array;
  /** The text before the bytes, without dates and times; in a later group what follows the one before. */
  readonly before: string;
  /** The direction that the notation itself gives. */
  readonly direction: 'out' | 'in' | undefined;
  /** True when the program left out the end of the bytes. */
  readonly isCut: boolean;
}

/** The most bytes of a frame: an ASCII message has 513 characters. */
const MOST_BYTES = 520;

/** The notations, in the order in which they are tried. Text that only looks like one has no bytes. */
const NOTATIONS: readonly {
  readonly pattern: RegExp;
  readonly direction?: 'out' | 'in';
  readonly read: (text: string) => number[];
  /** True when fewer than four bytes look like other things. */
  readonly isPlain?: boolean;
}[] = [
  // pymodbus: `0x0 0x1`
  { pattern: /(?<![\w.])(?:0x[0-9a-f]{1,2}(?![0-9a-z])[ ,]*)+/gi, read: hexIn },
  // libmodbus: `[00][01]` and `<00><01>`
  { pattern: /(?:\[[0-9a-f]{2}\])+/gi, direction: 'out', read: hexIn },
  { pattern: /(?:< ?[0-9a-f]{2} ?>)+/gi, direction: 'in', read: hexIn },
  // Node.js: `<Buffer 00 01 ... 35 more bytes>`, also of pieces
  { pattern: /(?<=<Buffer )[0-9a-f]{2}(?: [0-9a-f]{2})*/gi, read: hexIn },
  // An ASCII message: `:010300000002FA`
  {
    pattern: /(?<![^\s"'([<|]):(?:[0-9a-f]{2}){3,}(?![0-9a-z])/gi,
    read: (text) => [...Buffer.from(`${text}\r\n`)],
  },
  // ESPHome: `00.01.02`. Four of them may be an IP address.
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
];

/** Dates and times of day, which look like bytes. Four bytes or more with colons between them are no time. */
const DATES = [
  /(?<!\d)(?:\d{4}([/.-])\d{1,2}\1\d{1,2}|\d{1,2}([/.-])\d{1,2}\2\d{4}|\d{8}(?=[T ]\d{2}:))(?!\d)/g,
  /(?<![0-9a-f:])\d{2}:\d{2}:\d{2}(?:[.,:]\d{3,9})?(?:Z| ?[+-]\d{2}:?\d{2}(?![\d:-]))?(?!:?[0-9a-f])/gi,
];

/** The line with blanks in place of dates and times. */
function withoutDates(line: string): string {
  return DATES.reduce((rest, date) => rest.replace(date, (found) => ' '.repeat(found.length)), line);
}

/**
 * The bytes that a line shows, without its dates: one group of them, or several with words between. Fewer
 * than four bytes, a piece of a frame, are found where the line has no others, in notations that nothing else
 * looks like.
 */
function bytesShown(text: string): ShownBytes[] {
  for (const fewest of [MIN_RTU_LENGTH, 1]) {
    for (const { pattern, direction, read, isPlain = false } of NOTATIONS) {
      if (isPlain && fewest < MIN_RTU_LENGTH) continue;
      const shown: ShownBytes[] = [];
      let end = 0;
      for (const match of text.matchAll(pattern)) {
        const bytes = Uint8Array.from(read(match[0]));
        if (bytes.length < fewest || bytes.length > MOST_BYTES) continue;
        const rest = text.slice(match.index + match[0].length);
        const before = text.slice(end, match.index);
        shown.push({ bytes, before, direction, isCut: /^\s*\.\.\./.test(rest) });
        end = match.index + match[0].length;
      }
      if (shown.length > 0) return shown;
    }
  }
  return [];
}

/** A line of a dump: `0010: 00 01`, `| 0010 | 00 01 | ..|`. */
const DUMPED = /^(?:.*[\s|])?(?:0x)?([0-9a-f]{4,8})[:|\s]+((?:[0-9a-f]{2}(?: {1,2}|-|$)){1,32})/i;
/** A line with nothing but bytes, and maybe a column of their characters. */
const WRAPPED = /^\s*((?:[0-9a-f]{2}(?:\s|$)){1,64})(?:\s+\S.*)?$/i;
/** The fewest bytes of a line that may be continued. */
const FULL_LINE = 16;

/**
 * The bytes of a line that continues the line before.
 * @param length the number of bytes so far
 * @param isBare true when their lines have nothing but bytes
 */
function bytesContinued(text: string, length: number, isBare: boolean): number[] | undefined {
  const [, offset, dumped] = DUMPED.exec(text) ?? [];
  if (offset !== undefined && dumped !== undefined && Number.parseInt(offset, 16) === length)
    return hexIn(dumped);
  const [, wrapped] = WRAPPED.exec(text) ?? [];
  return wrapped !== undefined && isBare && length >= FULL_LINE ? hexIn(wrapped) : undefined;
}

/** The bytes that hexadecimal digits stand for, whatever is between them. */
function hexIn(text: string): number[] {
  const digits = text.match(/(?:0x)?[0-9a-f]{1,2}/gi) ?? [];
  return digits.map((byte) => Number.parseInt(byte.replace(/^0x/i, ''), 16));
}

/**
 * Reads a list of numbers. Decimal numbers have no leading zeros, and every frame in hexadecimal has some, in
 * a byte of its address.
 */
function listed(text: string): number[] {
  const items = text.split(/-|, ?/);
  const isHex = items.every((item) => item.length === 2) && items.some((item) => /^0|[a-f]/i.test(item));
  if (isHex) return hexIn(text);
  const numbers = items.map((item) => (/^\d+$/.test(item) ? Number(item) : Number.NaN));
  return numbers.every((number) => number <= 0xff) ? numbers : [];
}

/**
 * Finds the frames in the lines of a log: of a Modbus client or server, of this program's traffic, or typed
 * by hand.
 */

/**
 * Bytes in a line of a log, or in a packet of a capture. Times are in ms; undefined when the line has none.
 */
export interface LoggedBytes {
  /** The number of the line or packet, from 1. */
  readonly line: number;
  /** The number of its file, from 0, where several follow one another; 0 when absent. */
  readonly file?: number;
  readonly at: number | undefined;
  /** The direction as the program that wrote the log sees it; undefined when the line does not say. */
  readonly direction: 'out' | 'in' | undefined;
  readonly bytes: Uint8Array;
  /** The connection in a capture; undefined when everything is one conversation. */
  readonly channel?: string;
  /** The address of the server of that connection. */
  readonly server?: string;
  /** The words before the bytes. Other words before the same bytes mean that the program shows them again. */
  readonly words?: string;
  /** The line as it is in the log; absent in a capture. */
  readonly text?: string;
  /** True when the line shows only the first of the bytes. */
  readonly isCut?: boolean;
  /** True when the capture lacks what came before. */
  readonly isAfterGap?: boolean;
}

/** The frames of a log, and what a person has to know of it. */
export interface LogLines {
  readonly frames: readonly LoggedBytes[];
  readonly notes: readonly string[];
}

const MOST_FRAMES = 100_000;
/** The most characters of a line that are read. */
const MOST_CHARACTERS = 8000;
const MOST_LISTED = 5;
/** The most characters of a line that a note shows. */
const MOST_SHOWN = 60;

/** Words before bytes that were sent, and before bytes that were received. The last such word counts. */
const WORDS = { out: /\b(?:send|sent|tx|transmi|request|query)/gi, in: /\b(?:recv|recei|rx|resp|reply)/gi };
/** Weaker words: they may also say what the frame asks for, so the others take precedence. */
const WEAK_WORDS = { out: /\bwrit(?:e|ten|ing)\b/gi, in: /\bread (?:data\b|\d+$)/gi };
const ARROWS = { out: /->|→|>>/g, in: /<-|←|<</g };

type LoggedDirection = LoggedBytes['direction'];
/** A frame before it is known what the signs of this log mean. */
interface RawFrame {
  readonly line: number;
  readonly text: string;
  readonly at: number | undefined;
  bytes: Uint8Array;
  readonly isCut?: boolean;
  /** The direction that the line itself gives. */
  readonly direction: LoggedDirection;
  /** The text before the bytes in their line, and the last line before that has no bytes. */
  readonly before?: string;
  readonly heading?: string;
  /** True when the line has nothing but bytes, and `heading` is right above it. */
  readonly isBare?: boolean;
}

const CLOCK = /(?:^|[T ["])(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,6}))?/;

/** Reads a log. Lines without bytes are passed over, but may say the direction of those that follow. */
export function readLog(text: string): LogLines {
  const found: RawFrame[] = [];
  let heading = '';
  /** The frame of the line before. */
  let last: RawFrame | undefined;
  let unread: number | undefined;
  for (const [i, whole] of text.split('\n').entries()) {
    const line = whole.slice(0, MOST_CHARACTERS).trimEnd();
    if (line === '') continue;
    if (found.length >= MOST_FRAMES) {
      unread = i + 1;
      break;
    }
    const plain = withoutDates(line);
    const more = last && bytesContinued(plain, last.bytes.length, last.isBare === true);
    if (last && more) {
      last.bytes = concatBytes(last.bytes, more).subarray(0, MOST_BYTES);
      continue;
    }
    const event = fromJson(whole, i + 1);
    const frames = event ? [event] : fromLine(plain, { line: i + 1, text: line, at: clockIn(line) });
    if (frames.length === 0) heading = plain;
    const isBare = !last && heading !== '' && frames[0]?.before?.trim() === '';
    const made = frames.map((frame) => ({ ...frame, heading, isBare }));
    last = made.at(-1);
    found.push(...made);
  }
  const notes =
    unread === undefined ? [] : [`only ${MOST_FRAMES} frames were read, up to line ${unread - 1}`];
  return { frames: directed(found), notes };
}

/** The groups of bytes of a line. One after the first counts if a word before it says its direction. */
function fromLine(plain: string, place: Pick<RawFrame, 'line' | 'text' | 'at'>): RawFrame[] {
  const all = bytesShown(plain).map(({ before, bytes, isCut, direction }): RawFrame => {
    const own = directionIn(before, WORDS) ?? direction ?? directionIn(before, WEAK_WORDS);
    return { ...place, direction: own, bytes, isCut, before };
  });
  const said = all.filter(
    (each, i) =>
      (i === 0 || directionIn(each.before ?? '', WORDS)) &&
      (each.direction || each.bytes.length >= MIN_RTU_LENGTH),
  );
  // Where a line has several frames, the words between them belong to the frame before.
  return said.length < 2 ? said : said.map((each) => ({ ...each, before: fromWord(each.before ?? '') }));
}

function fromWord(text: string): string {
  return text.slice(Math.max(lastOf(text, WORDS.out), lastOf(text, WORDS.in), 0));
}

/**
 * Gives frames their directions. Arrows and headings count only in a log in which they show both directions.
 */
function directed(found: readonly RawFrame[]): LoggedBytes[] {
  const arrow = ({ before = '' }: RawFrame) => directionIn(before, ARROWS);
  const above = ({ heading = '' }: RawFrame) =>
    directionIn(heading, WORDS) ?? directionIn(heading, WEAK_WORDS);
  const isUsed = (sign: (each: RawFrame) => LoggedDirection) => {
    const signs = new Set(found.map((each) => each.direction ?? sign(each)));
    return signs.has('out') && signs.has('in');
  };
  const [hasArrows, hasHeadings] = [isUsed(arrow), isUsed(above)];
  return found.map((each): LoggedBytes => {
    const own = each.direction ?? (hasArrows ? arrow(each) : undefined);
    const direction = own ?? (hasHeadings ? above(each) : undefined);
    const { line, text, at, bytes, isCut, before = '', heading = '' } = each;
    // Words with digits are left out: they are counters and addresses in memory.
    const words = `${own ? '' : heading} ${before}`.split(/\s+/).filter((word) => !/\d/.test(word));
    return { line, text, at, bytes, direction, words: words.join(' '), isCut: isCut === true };
  });
}

/** The direction of the last sign in a text. */
function directionIn(text: string, signs: { readonly out: RegExp; readonly in: RegExp }): LoggedDirection {
  const [out, back] = [lastOf(text, signs.out), lastOf(text, signs.in)];
  return out === back ? undefined : out > back ? 'out' : 'in';
}

function lastOf(text: string, sign: RegExp): number {
  return [...text.matchAll(sign)].at(-1)?.index ?? -1;
}

/** The time of day in ms; undefined when the line has none. */
function clockIn(line: string): number | undefined {
  const [, hours, minutes, seconds, fraction = ''] = CLOCK.exec(line) ?? [];
  if (hours === undefined) return undefined;
  const whole = (60 * Number(hours) + Number(minutes)) * 60 + Number(seconds);
  return 1000 * whole + Number(fraction.padEnd(6, '0')) / 1000;
}

/** Reads a line of this program's NDJSON: `in` is what came to the server. */
function fromJson(line: string, number: number): RawFrame | undefined {
  if (!line.startsWith('{')) return undefined;
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { bytes, direction, time } = event as Record<string, unknown>;
  if (typeof bytes !== 'string' || bytes.length > 3 * MOST_BYTES) return undefined;
  const way = direction === 'in' ? 'out' : direction === 'out' ? 'in' : undefined;
  const at = typeof time === 'string' ? Date.parse(time) % DAY_MS : Number.NaN;
  return {
    line: number,
    text: line,
    at: Number.isNaN(at) ? undefined : at,
    direction: way,
    bytes: Uint8Array.from(hexIn(bytes)),
  };
}

/** A sentence about some lines, with the first of them and numbers of more; nothing when there are none. */
export function noteOf(what: string, lines: readonly LoggedBytes[]): string[] {
  const [first] = lines;
  if (!first) return [];
  const { text } = first;
  const numbers = lines.slice(0, MOST_LISTED).map(({ line }) => line);
  const thing = text === undefined ? 'packet' : 'line';
  const where = `${thing} ${numbers.join(', ')}${lines.length > MOST_LISTED ? ', …' : ''}`;
  const shown = text === undefined ? '' : ` (${text.trim().slice(0, MOST_SHOWN)})`;
  return [`${counted(lines.length, thing)} with bytes ${what}: ${where}${shown}`];
}
