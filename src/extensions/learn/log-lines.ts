import { DAY_MS } from '../../common/schema/milliseconds.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import { MIN_RTU_LENGTH } from '../../modbus/protocol/limits.js';
import { bytesShown, hexIn, MOST_BYTES, MOST_CHARACTERS, withoutDates } from './bytes-shown.js';
import { LogTimes } from './log-times.js';
import type { LoggedBytes, LogLines } from './logged-bytes.js';
import { bytesContinued, unwrapped } from './wrapped-lines.js';

/**
 * Finds the frames in the lines of a log: from a Modbus client or server, from this program's traffic, or
 * typed by hand.
 */

const MOST_FRAMES = 100_000;

/** Words before sent bytes, and words before received bytes. The last such word counts. */
const WORDS = { out: /\b(?:send|sent|tx|transmi|request|query)/gi, in: /\b(?:recv|recei|rx|resp|reply)/gi };
/** Weaker words, which may also describe the request itself. The words above take precedence. */
const WEAK_WORDS = { out: /\bwrit(?:e|ten|ing)\b/gi, in: /\bread (?:data\b|\d+$)/gi };
/** What programs log when no reply came. */
const GIVEN_UP =
  /\bno (?:response|reply|answer)|time(?:d[ -]?|[ -]?)out|\breceived 0 bytes|\[b''\]|\b(?:recv|rx)\W*$/i;
const ARROWS = { out: /->|→|>>/g, in: /<-|←|<</g };

type LoggedDirection = LoggedBytes['direction'];
/** A frame, before the meaning of the signs in this log is known. */
interface RawFrame {
  readonly line: number;
  readonly text: string;
  readonly at: number | undefined;
  readonly part?: number;
  bytes: Uint8Array;
  readonly isCut?: boolean;
  /** The direction given in the line itself. */
  readonly direction: LoggedDirection;
  /** The text before the bytes in their line, and the last earlier line without bytes. */
  readonly before?: string;
  readonly heading?: string;
  /** True if the line contains only bytes, and `heading` is directly above it. */
  readonly isBare?: boolean;
  isGivenUp?: boolean;
}

const CLOCK = /(?:^|[T ["])(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,6}))?/;

/** Reads a log. Lines without bytes are skipped, but may give the direction of the lines below them. */
export function readLog(text: string): LogLines {
  const found: RawFrame[] = [];
  let heading = '';
  /** The frame of the previous line. */
  let last: RawFrame | undefined;
  let unread: number | undefined;
  const times = new LogTimes();
  const lines = text.split('\n').map((line) => line.slice(0, MOST_CHARACTERS).replace(/\*+/g, '').trimEnd());
  for (let i = 0, used = 1; i < lines.length; i += used) {
    used = 1;
    if (lines[i] === '') continue;
    if (found.length >= MOST_FRAMES) {
      unread = i + 1;
      break;
    }
    const plain = withoutDates(lines[i] ?? '');
    const more = last && bytesContinued(plain, last.bytes.length, last.isBare === true);
    if (last && more) {
      last.bytes = concatBytes(last.bytes, more).subarray(0, MOST_BYTES);
      continue;
    }
    const event = fromJson(lines[i] ?? '', i + 1);
    const whole = unwrapped(lines, i);
    used = whole.lines;
    const line = whole.text;
    const at = times.take(event ? event.at : clockIn(line), line);
    const frames = event ? [{ ...event, at }] : fromLine(withoutDates(line), { line: i + 1, text: line, at });
    const isBare = !last && heading !== '' && frames[0]?.before?.trim() === '';
    const isGivenUp = GIVEN_UP.test(line);
    if (frames.length === 0) heading = plain;
    const before = found.at(-1);
    if (isGivenUp && frames.length === 0 && before) before.isGivenUp = true;
    const made = frames.map((frame) => ({ ...frame, heading, isBare, isGivenUp, part: times.part }));
    last = made.at(-1);
    found.push(...made);
  }
  const notes =
    unread === undefined ? [] : [`only ${MOST_FRAMES} frames were read, up to line ${unread - 1}`];
  const { ends } = times;
  return { frames: directed(found).map((frame) => ({ ...frame, until: ends[frame.part ?? 0] })), notes };
}

/** The groups of bytes in a line. A group after the first counts only if a word before it gives its direction. */
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
  // If a line has several frames, the words between two of them belong to the first.
  return said.length < 2 ? said : said.map((each) => ({ ...each, before: fromWord(each.before ?? '') }));
}

function fromWord(text: string): string {
  return text.slice(Math.max(lastOf(text, WORDS.out), lastOf(text, WORDS.in), 0));
}

/** Determines the directions of frames. Arrows and headings count only if they show both directions in this log. */
function directed(found: readonly RawFrame[]): LoggedBytes[] {
  const arrow = ({ before = '' }: RawFrame) => directionIn(before, ARROWS);
  const above = ({ heading = '' }: RawFrame) =>
    directionIn(heading, WORDS) ?? directionIn(heading, WEAK_WORDS);
  const isUsed = (sign: (each: RawFrame) => LoggedDirection) => {
    const signs = new Set(found.map((each) => each.direction ?? sign(each)));
    return signs.has('out') && signs.has('in');
  };
  // A word in a remark above a few frames says nothing about the rest.
  const open = found.filter(({ direction }) => !direction);
  const hasHeadings = isUsed(above) && 2 * open.filter((each) => above(each)).length >= open.length;
  const hasArrows = isUsed(arrow);
  return found.map((each): LoggedBytes => {
    const own = each.direction ?? (hasArrows ? arrow(each) : undefined);
    const direction = own ?? (hasHeadings ? above(each) : undefined);
    const { line, text, at, part, bytes, isCut, isGivenUp, before = '', heading = '' } = each;
    const isDoubtful = namesBoth(before) || (hasHeadings && !own && namesBoth(heading));
    // Words with digits are ignored: they are counters and memory addresses.
    const words = `${own ? '' : heading} ${before}`.split(/\s+/).filter((word) => !/\d/.test(word));
    const said = { words: words.join(' '), isDoubtful, isGivenUp: isGivenUp === true };
    return { line, text, at, part, bytes, direction, ...said, isCut: isCut === true };
  });
}

/** True for a string with words for both directions, such as `Response for read request`. */
function namesBoth(text: string): boolean {
  return lastOf(text, WORDS.out) >= 0 && lastOf(text, WORDS.in) >= 0;
}

/** The direction of the last sign in a string. */
function directionIn(text: string, signs: { readonly out: RegExp; readonly in: RegExp }): LoggedDirection {
  const [out, back] = [lastOf(text, signs.out), lastOf(text, signs.in)];
  return out === back ? undefined : out > back ? 'out' : 'in';
}

function lastOf(text: string, sign: RegExp): number {
  return [...text.matchAll(sign)].at(-1)?.index ?? -1;
}

/** The time of day in ms; undefined if the line has none. */
function clockIn(line: string): number | undefined {
  const [, hours, minutes, seconds, fraction = ''] = CLOCK.exec(line) ?? [];
  if (hours === undefined) return undefined;
  const whole = (60 * Number(hours) + Number(minutes)) * 60 + Number(seconds);
  return 1000 * whole + Number(fraction.padEnd(6, '0')) / 1000;
}

/** Reads a line of this program's NDJSON. `in` means that the server received the bytes. */
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
