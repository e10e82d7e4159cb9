import { concatBytes } from '../../modbus/protocol/bytes.js';
import { bytesContinued, bytesShown, hexIn, MOST_BYTES, withoutDates } from './notations.js';

/**
 * Finds the frames in the lines of a log: of a Modbus client or server, of this program's traffic, or typed
 * by hand.
 */

/**
 * Bytes in a line of a log, or in a packet of a capture. Times are in ms; undefined when the line has none.
 */
export interface LoggedBytes {
  /** The number of the line, from 1. */
  readonly line: number;
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

/** Words before bytes that were sent, and before bytes that were received. The last such word counts. */
const WORDS = { out: /\b(?:send|sent|tx|transmi|request|query)/gi, in: /\b(?:recv|recei|rx|resp|reply)/gi };
/** Weaker words: they may also say what the frame asks for, so the others take precedence. */
const WEAK_WORDS = { out: /\bwrit(?:e|ten|ing)\b/gi, in: /\bread (?:data\b|\d+$)/gi };
const ARROWS = { out: /->|→|>>/g, in: /<-|←|<</g };

type LoggedDirection = LoggedBytes['direction'];
/** A frame before it is known what the signs of this log mean. */
interface RawFrame {
  readonly line: number;
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
const DAY_MS = 86_400_000;

/** Reads a log. Lines without bytes are passed over, but may say the direction of those that follow. */
export function readLog(text: string): LogLines {
  const found: RawFrame[] = [];
  let heading = '';
  /** The frame of the line before. */
  let last: RawFrame | undefined;
  for (const [i, whole] of text.split('\n').entries()) {
    const line = whole.slice(0, MOST_CHARACTERS).trimEnd();
    if (line === '') continue;
    if (found.length >= MOST_FRAMES) break;
    const plain = withoutDates(line);
    const more = last && bytesContinued(plain, last.bytes.length, last.isBare === true);
    if (last && more) {
      last.bytes = concatBytes(last.bytes, more).subarray(0, MOST_BYTES);
      continue;
    }
    const frame: RawFrame | undefined = fromJson(whole, i + 1) ?? fromLine(plain, i + 1, clockIn(line));
    if (!frame) heading = plain;
    last = frame && { ...frame, heading, isBare: !last && heading !== '' && frame.before?.trim() === '' };
    if (last) found.push(last);
  }
  return directed(found);
}

function fromLine(plain: string, line: number, at: number | undefined): RawFrame | undefined {
  const shown = bytesShown(plain);
  if (!shown) return undefined;
  const { before, bytes, isCut } = shown;
  const direction = directionIn(before, WORDS) ?? shown.direction ?? directionIn(before, WEAK_WORDS);
  return { line, at, direction, bytes, isCut, before };
}

/**
 * Gives frames their directions. Arrows and headings count only in a log in which they show both directions.
 */
function directed(found: readonly RawFrame[]): LogLines {
  const arrow = ({ before = '' }: RawFrame) => directionIn(before, ARROWS);
  const above = ({ heading = '' }: RawFrame) =>
    directionIn(heading, WORDS) ?? directionIn(heading, WEAK_WORDS);
  const isUsed = (sign: (each: RawFrame) => LoggedDirection) => {
    const signs = new Set(found.map((each) => each.direction ?? sign(each)));
    return signs.has('out') && signs.has('in');
  };
  const [hasArrows, hasHeadings] = [isUsed(arrow), isUsed(above)];
  const all = found.map((each): LoggedBytes => {
    const own = each.direction ?? (hasArrows ? arrow(each) : undefined);
    const direction = own ?? (hasHeadings ? above(each) : undefined);
    const { line, at, bytes, isCut, before = '', heading = '' } = each;
    // Words with digits are left out: they are counters and addresses in memory.
    const words = `${own ? '' : heading} ${before}`.split(/\s+/).filter((word) => !/\d/.test(word));
    return { line, at, bytes, direction, words: words.join(' '), isCut: isCut === true };
  });
  // A program that names the direction shows the same bytes again where it explains them.
  const hasDirections = all.some(({ direction }) => direction !== undefined);
  const isFrame = ({ direction }: LoggedBytes) => !hasDirections || direction !== undefined;
  const leftOut = all.filter((each) => !isFrame(each));
  return { frames: all.filter(isFrame), notes: noteOf('say no direction, so they were left out', leftOut) };
}

/** The direction of the last sign in a text. */
function directionIn(text: string, signs: { readonly out: RegExp; readonly in: RegExp }): LoggedDirection {
  const lastOf = (sign: RegExp) => [...text.matchAll(sign)].at(-1)?.index ?? -1;
  const [out, back] = [lastOf(signs.out), lastOf(signs.in)];
  return out === back ? undefined : out > back ? 'out' : 'in';
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
    at: Number.isNaN(at) ? undefined : at,
    direction: way,
    bytes: Uint8Array.from(hexIn(bytes)),
  };
}

/** A sentence about some lines, with the numbers of the first ones; nothing when there are no lines. */
export function noteOf(what: string, lines: readonly LoggedBytes[]): string[] {
  if (lines.length === 0) return [];
  const first = lines.slice(0, MOST_LISTED).map(({ line }) => line);
  return [
    `${lines.length} lines with bytes ${what}: line ${first.join(', ')}${lines.length > MOST_LISTED ? ', …' : ''}`,
  ];
}
