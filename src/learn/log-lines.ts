/* Finds the frames in the lines of a log: of a Modbus client or server, of this program's traffic, or typed by hand. */

/** Bytes that a line of a log shows, or a packet of a capture. Times are in ms; undefined where the line has none. */
export interface LoggedBytes {
  /** Counts from 1. */
  readonly line: number;
  readonly at: number | undefined;
  /** As the program that wrote the log sees it; undefined where the line does not say. */
  readonly direction: 'out' | 'in' | undefined;
  readonly bytes: Uint8Array;
  /** The connection of a capture; undefined where all is one conversation. */
  readonly channel?: string;
}

/** What was found, and the lines with bytes that say nothing of a direction. */
export interface LogLines {
  readonly frames: readonly LoggedBytes[];
  readonly leftOut: readonly LoggedBytes[];
}

/** No frame is shorter: unit, function and CRC. No frame is longer: ASCII is not read. */
const FEWEST_BYTES = 4;
const MOST_BYTES = 520;
const MOST_FRAMES = 100_000;
/** Of a byte, in the longest notation: `0x00, `. */
const MOST_CHARACTERS = 6;

/** What stands before the bytes that were sent, and before those that were received. */
const WORDS = { out: /\b(?:send|sent|tx|request|query)/i, in: /\b(?:recv|receive|rx|response|reply)/i };
const ARROWS = { out: /->|→|>>/, in: /<-|←|<</ };

/** How logs show bytes: `0x0 0x1`, `[00][01]` and `<00><01>` of libmodbus, `00 01`, `00-01`, `00:01`, and `0001`. */
const NOTATIONS: readonly { readonly pattern: RegExp; readonly direction?: 'out' | 'in' }[] = [
  { pattern: /(?:0x[0-9a-f]{1,2}[ ,]*){4,}/i },
  { pattern: /(?:\[[0-9a-f]{2}\]){4,}/i, direction: 'out' },
  { pattern: /(?:< ?[0-9a-f]{2} ?>){4,}/i, direction: 'in' },
  { pattern: /(?<![\w.:-])(?:[0-9a-f]{2}[ :-]){3,}[0-9a-f]{2}(?![\w.])/i },
  { pattern: /(?<![\w.:-])(?:[0-9a-f]{2}){4,}(?![\w.:-])/i },
];

/** Dates and times of day, which look like bytes. In four bytes or more with colons between them there is no time. */
const DATES = [
  /(?<!\d)(?:\d{4}([/.-])\d{1,2}\1\d{1,2}|\d{1,2}([/.-])\d{1,2}\2\d{4}|\d{8}(?=[T ]\d{2}:))(?!\d)/g,
  /(?<![0-9a-f:])\d{2}:\d{2}:\d{2}(?:[.,:]\d{3,9})?(?:Z| ?[+-]\d{2}:?\d{2}(?![\d:-]))?(?!:?[0-9a-f])/gi,
];

const CLOCK = /(?:^|[T ["])(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,6}))?/;
const DAY_MS = 86_400_000;

/** Reads a log. Lines without bytes are passed over. */
export function readLog(text: string): LogLines {
  const found: LoggedBytes[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const logged = line.startsWith('{') ? fromJson(line, i + 1) : fromLine(line, i + 1);
    if (logged && found.length < MOST_FRAMES) found.push(logged);
  }
  // Programs that name the direction show the same bytes again where they say what they mean.
  const hasDirections = found.some(({ direction }) => direction !== undefined);
  const isFrame = ({ direction }: LoggedBytes) => !hasDirections || direction !== undefined;
  return { frames: found.filter(isFrame), leftOut: found.filter((each) => !isFrame(each)) };
}

function fromLine(line: string, number: number): LoggedBytes | undefined {
  const text = DATES.reduce((rest, date) => rest.replace(date, (found) => ' '.repeat(found.length)), line);
  for (const { pattern, direction } of NOTATIONS) {
    const match = pattern.exec(text);
    if (!match || match[0].length > MOST_CHARACTERS * MOST_BYTES) continue;
    const bytes = bytesIn(match[0]);
    if (bytes.length < FEWEST_BYTES || bytes.length > MOST_BYTES) continue;
    const before = line.slice(0, match.index);
    return { line: number, at: clockIn(line), direction: direction ?? directionIn(before), bytes };
  }
  return undefined;
}

function bytesIn(text: string): Uint8Array {
  const digits = text.match(/(?:0x)?[0-9a-f]{1,2}/gi) ?? [];
  return Uint8Array.from(digits, (byte) => Number.parseInt(byte.replace(/^0x/i, ''), 16));
}

/** A word counts before an arrow: some logs have the same arrow for both directions. */
function directionIn(before: string): 'out' | 'in' | undefined {
  for (const signs of [WORDS, ARROWS]) {
    if (signs.out.test(before) !== signs.in.test(before)) return signs.out.test(before) ? 'out' : 'in';
  }
  return undefined;
}

/** The time of day in ms; undefined where the line has none. */
function clockIn(line: string): number | undefined {
  const [, hours, minutes, seconds, fraction = ''] = CLOCK.exec(line) ?? [];
  if (hours === undefined) return undefined;
  const whole = (60 * Number(hours) + Number(minutes)) * 60 + Number(seconds);
  return 1000 * whole + Number(fraction.padEnd(6, '0')) / 1000;
}

/** A line of this program's NDJSON: `in` is what came to the server. */
function fromJson(line: string, number: number): LoggedBytes | undefined {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return fromLine(line, number);
  }
  const { bytes, direction, time } = event as Record<string, unknown>;
  if (typeof bytes !== 'string' || bytes.length > 3 * MOST_BYTES) return undefined;
  const way = direction === 'in' ? 'out' : direction === 'out' ? 'in' : undefined;
  const at = typeof time === 'string' ? Date.parse(time) % DAY_MS : Number.NaN;
  return { line: number, at: Number.isNaN(at) ? undefined : at, direction: way, bytes: bytesIn(bytes) };
}
