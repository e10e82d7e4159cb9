import { counted } from '../../common/words.js';

/** Bytes in a line of a log, or in a packet of a capture. Times are in ms; undefined if the line has none. */
export interface LoggedBytes {
  /** The number of the line or packet, from 1. */
  readonly line: number;
  /** The number of its file, from 0, if there are several consecutive files; absent: 0. */
  readonly file?: number;
  /** How many gaps of the file are before it. The missing part may have contained a reply. */
  readonly part?: number | undefined;
  readonly at: number | undefined;
  /** The direction from the point of view of the program that wrote the log; undefined if the line does not say. */
  readonly direction: 'out' | 'in' | undefined;
  readonly bytes: Uint8Array;
  /** The connection in a capture; undefined if everything is one conversation. */
  readonly channel?: string;
  /** The address of the server on that connection. */
  readonly server?: string;
  /** True if the capture has packets from the server on that connection, if only acknowledgements. */
  readonly hasServer?: boolean;
  /** The words before the bytes. The same bytes after other words are the program showing them again. */
  readonly words?: string;
  /** The line as logged; absent in a capture. */
  readonly text?: string;
  /** True if the line shows only the first of the bytes. */
  readonly isCut?: boolean;
  /** True if the bytes before these are missing from the capture. */
  readonly isAfterGap?: boolean;
  /** True if the words before the bytes name both directions, so that `direction` comes from the nearest word. */
  readonly isDoubtful?: boolean;
  /** When the log ends or has a gap, or the client closes the connection: a later reply would not be in the log. */
  readonly until?: number | undefined;
  /** True if the log says that no reply came in time. */
  readonly isGivenUp?: boolean;
}

/** The frames in a log, and notes for the user. */
export interface LogLines {
  readonly frames: readonly LoggedBytes[];
  readonly notes: readonly string[];
}

const MOST_LISTED = 5;
/** Maximum number of characters of a line that a note shows. */
const MOST_SHOWN = 60;

/** A sentence about some lines, with the text of the first and the numbers of others; empty if there are none. */
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
