import { counted } from '../../common/words.js';

/**
 * Bytes in a line of a log, or in a packet of a capture. Times are in ms; undefined when the line has none.
 */
export interface LoggedBytes {
  /** The number of the line or packet, from 1. */
  readonly line: number;
  /** The number of its file, from 0, where several follow one another; 0 when absent. */
  readonly file?: number;
  /** How many gaps of the file are before it: what is missing there may have been a reply. */
  readonly part?: number | undefined;
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
  /** True when the words before the bytes name both directions, so that `direction` is the nearest of them. */
  readonly isDoubtful?: boolean;
  /** When the log ends, or has a gap, or the client closed the connection: a later reply would not be in the log. */
  readonly until?: number | undefined;
  /** True when the log says that no reply came in time. */
  readonly isGivenUp?: boolean;
}

/** The frames of a log, and what a person has to know of it. */
export interface LogLines {
  readonly frames: readonly LoggedBytes[];
  readonly notes: readonly string[];
}

const MOST_LISTED = 5;
/** The most characters of a line that a note shows. */
const MOST_SHOWN = 60;

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
