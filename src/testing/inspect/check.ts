import type { Exchange } from './asker.js';
import type { Bench } from './bench.js';
import { silenceText } from './words.js';

/**
 * The verdict of a check on a server. `unsupported`: the server has not what is asked for, and the specification
 * allows that. `fact`: told, not judged. `inconclusive`: the text says what would decide it.
 */
export type ServerVerdict = 'conforms' | 'violates' | 'unsupported' | 'fact' | 'inconclusive' | 'not-run';

/**
 * How bad a violation is. `dangerous`: a wrong value or command gets through, or the server stops. `met`: clients
 * in the field fail. `seldom`: few clients meet it.
 */
export type Grade = 'dangerous' | 'met' | 'seldom';

/** The groups in the order in which they are shown, each with its name for people. */
export const GROUPS = {
  there: 'is it there',
  frames: 'frames and timing',
  has: 'what it has',
  map: 'as its map says',
  refusals: 'refusals',
  identification: 'identification and diagnostics',
  bus: 'damage and neighbours on the bus',
  connections: 'TCP connections',
  writes: 'writes',
  endurance: 'endurance',
  claims: 'as its maker claims',
} as const;

export type ServerCheckGroup = keyof typeof GROUPS;

/** Refusals that silence some servers: of an address, of a function, of a value. */
export type Provoked = 'address' | 'function' | 'value';

/** What one trial has shown. */
export interface Judged {
  readonly verdict: ServerVerdict;
  /** What was found, in a sentence without its full stop. */
  readonly text: string;
  /** The exchanges that show it. */
  readonly shown?: readonly Exchange[];
  /** How often it was seen, and how often it could have been. */
  readonly seen?: { readonly times: number; readonly of: number };
  /** True when the replies are odd in a way that the frames are blamed for, so that trying again shows the same. */
  readonly isOdd?: boolean;
  /** The function that is never answered, where that is the violation: the card tells all of them as one. */
  readonly silentTo?: number;
  /** Where a violation is worse than those of its check usually are. */
  readonly grade?: Grade;
}

/** What a user has to allow, or to give, before a check runs. */
export type Permission = 'holding' | 'coils' | 'broadcast' | 'soak' | 'map' | 'claims';

/** One check of a server: a row of a table in `checks/`. */
export interface ServerCheck {
  readonly id: string;
  readonly group: ServerCheckGroup;
  readonly title: string;
  /** What is sent. */
  readonly does: string;
  /** What conforms, and when nothing is decided. */
  readonly rule: string;
  readonly clause: string;
  /** What a violation does to which clients, with public reports. */
  readonly matters: string;
  readonly mend: string;
  readonly grade: Grade;
  /** The carrier that the check is about; any when absent. */
  readonly on?: 'tcp' | 'serial' | 'rtu' | 'ascii';
  readonly needs?: readonly Permission[];
  /** How many addresses of the scratch range the check needs; 1 when absent. */
  readonly room?: number;
  /** `late`: takes long, or may stop a server, so it runs after the others. `end`: judges all exchanges. */
  readonly turn?: 'late' | 'end';
  /** What the check provokes. When that silences a server once, the checks that provoke the same are left out. */
  readonly provokes?: readonly Provoked[];
  /** True when one run is several trials already; other violations are tried again. */
  readonly isSeveral?: boolean;
  readonly run: (bench: Bench) => Judged | Promise<Judged>;
}

const judged =
  (verdict: ServerVerdict) =>
  (text: string, ...shown: readonly Exchange[]): Judged => ({ verdict, text, shown });

export const conforms = judged('conforms');
export const violates = judged('violates');
export const unsupported = judged('unsupported');
export const fact = judged('fact');
export const inconclusive = judged('inconclusive');
export const notRun = judged('not-run');
/** Functions of a serial line alone: clients on TCP seldom ask them (6.7, 6.9 and 6.10). */
const SERIAL_ONLY = [7, 11, 12];

/** A function that is not there has to be refused with exception 01 (7, code 01): it got no answer. */
export function notAnswered(code: number, isSerial: boolean, ...shown: readonly Exchange[]): Judged {
  return {
    ...violates(silenceText([code]), ...shown),
    silentTo: code,
    grade: SERIAL_ONLY.includes(code) && !isSerial ? 'seldom' : 'met',
  };
}

/** A violation that lets a wrong value or command through, or stops the server. */
export const dangerous = (text: string, ...shown: readonly Exchange[]): Judged => ({
  ...violates(text, ...shown),
  grade: 'dangerous',
});
