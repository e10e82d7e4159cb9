import type { Ability } from '../../faults/ability.js';
import type { TrafficEvent } from '../../traffic/event.js';
import type { Exam } from './exam.js';
import type { Exchange } from './exchange.js';

/** In the order in which they are shown. Those that only watch come first. */
type Group = 'watching' | 'time' | 'damaged' | 'exceptions' | 'connections';

/** What a check has found. */
export interface Outcome {
  readonly verdict: 'pass' | 'fail' | 'inconclusive';
  /** What was found, in one or two sentences. */
  readonly summary: string;
  /** The exchanges and events that show it. */
  readonly evidence: readonly (Exchange | TrafficEvent)[];
  /** A part of a sentence for the first page: `takes a late reply for the next one: dangerous`. */
  readonly conclusion?: string;
}

/** One check of how a client behaves. Each has its own file in `checks/<group>/` and a line in `checks.ts`. */
export interface Check {
  /** Unique, and the name of its file. */
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  /** What it does, in a sentence. */
  readonly does: string;
  /** Why that matters to somebody who uses the client. */
  readonly matters: string;
  /** When it passes, when it fails, and when neither can be said. */
  readonly rule: string;
  /** The clause of a specification, or what is known of real clients. */
  readonly source: string;
  /** What the line must carry; any when absent. */
  readonly transports?: readonly ('serial' | 'tcp' | 'tls' | 'udp')[];
  /** What faults on the line need; see `faults/ability.ts`. */
  readonly abilities?: readonly Ability[];
  /** Checks that have to be run before, because this one uses what they find. */
  readonly needs?: readonly string[];
  readonly run: (exam: Exam) => Promise<Outcome>;
}

type Evidence = Outcome['evidence'];

/** @param conclusion see `Outcome` */
export function pass(summary: string, evidence: Evidence, conclusion?: string): Outcome {
  return { verdict: 'pass', summary, evidence, ...(conclusion !== undefined && { conclusion }) };
}

/** @param conclusion see `Outcome` */
export function fail(summary: string, evidence: Evidence, conclusion?: string): Outcome {
  return { verdict: 'fail', summary, evidence, ...(conclusion !== undefined && { conclusion }) };
}

/** What happened does not decide it; the summary says why. */
export function inconclusive(summary: string, evidence: Evidence = []): Outcome {
  return { verdict: 'inconclusive', summary, evidence };
}
