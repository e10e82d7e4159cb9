import type { Ability } from '../../../faults/ability.js';
import type { Exam } from './exam.js';
import type { Judged } from './verdict.js';

/** In the order in which they are shown. */
type Group = 'watching' | 'time' | 'damaged' | 'exceptions' | 'connections' | 'real-world';

/** What a check says about itself. */
export interface CheckText {
  /** Unique. */
  readonly id: string;
  readonly title: string;
  /** What it does, in a sentence. */
  readonly does: string;
  /** Why that matters to somebody who uses the client. */
  readonly matters: string;
  /** What to change in a client that fails, as an order. */
  readonly fix: string;
  /** The clause of a specification, or what is known of real clients. */
  readonly source: string;
}

/** Where a check can be run, and when it is its turn. */
export interface CheckPlace {
  /** What the line must carry; any when absent. */
  readonly transports?: readonly ('serial' | 'tcp' | 'tls' | 'udp')[];
  /** What faults on the line need; see `faults/ability.ts`. */
  readonly abilities?: readonly Ability[];
  /** Checks that have to be run before, because this one uses what they find. */
  readonly needs?: readonly string[];
  /** The disturbance lasts so long, in ms; the longest ones come last. None when absent. */
  readonly lastsMs?: number;
}

/** One check of how a client behaves: a row of a table in `checks/`. */
export interface Check extends CheckText, CheckPlace {
  readonly group: Group;
  /** What the client is shown, as a part of a sentence: `a reply with a wrong CRC`. */
  readonly what: string;
  /** When it passes, when it fails, and when neither can be said. */
  readonly rule: string;
  /**
   * `watches`: it disturbs nobody, and runs beside all others. `one question`: it disturbs nothing but its question, and runs
   * beside others of its kind. Alone when absent.
   */
  readonly beside?: 'watches' | 'one question';
  readonly run: (exam: Exam) => Promise<Judged>;
  /** What is known before it is over; undefined where nothing is before its end. */
  readonly soFar?: (exam: Exam) => Judged;
}
