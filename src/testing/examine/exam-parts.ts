import type { FaultRules } from '../../faults/rules.js';
import type { Clock } from '../../transport/clock.js';
import type { Exchange } from './exchange.js';
import type { ExchangeLog } from './exchange-log.js';
import type { Found } from './found.js';
import type { Outage } from './outage.js';
import type { Question } from './rhythm.js';
import type { Testimony } from './witness/testimony.js';

/** The line as checks need it. Times in ms. */
export interface ExaminedLine {
  readonly name: string;
  readonly kind: 'serial' | 'tcp' | 'tls' | 'udp';
  readonly framing: 'rtu' | 'ascii' | 'socket';
  /** TCP: it is on any free port, which is another one each time it is opened. */
  readonly hasAnyPort: boolean;
  /** Of a character on the wire; 0 where characters take no time. */
  readonly characterTime: number;
  /** 0 where there is none. */
  readonly t35: number;
  readonly t15: number;
}

/** Faults that a check puts in for a while. */
export interface Disturbance {
  /** As `do` of a fault rule: `[{ crc: 'invert' }]`. */
  readonly faults: readonly object[];
  /** So many requests are spoilt at most; all of them when absent. */
  readonly count?: number;
  /** Which requests: the disturbed question alone (when absent), its unit, or all that the line answers. */
  readonly scope?: 'question' | 'unit' | 'line';
}

/** A disturbance as it goes on. */
export interface Disturbed {
  /** When it began. */
  readonly at: number;
  /** Everything with a higher sequence number came after it began. */
  readonly since: number;
  /** The requests that the faults acted on so far. */
  readonly spoilt: readonly Exchange[];
  /** Why the faults could not act; undefined when they could, or nothing is known. */
  readonly notAchieved: string | undefined;
}

/** Everything that checks have in common. */
export interface ExamParts {
  readonly clock: Clock;
  readonly line: ExaminedLine;
  readonly log: ExchangeLog;
  readonly found: Found;
  readonly rules: FaultRules;
  readonly outage: Outage;
  /** All questions that the client asks, as watching has shown them. */
  readonly questions: readonly Question[];
  /** The one that is disturbed. */
  readonly target: Question;
  /** What shows the values that the client has read; undefined where nothing does. */
  readonly testimony: Testimony | undefined;
  /** Calls back after each event of the line; returns a function that ends it. */
  readonly onEvent: (listener: () => void) => () => void;
}
