import type { TrafficEvent } from '../../simulator/traffic/event.js';

/**
 * What became of a check or a step. `inconclusive`: what happened on the line does not decide it. `not run`: it was not
 * reached. `error`: the simulator itself failed.
 */
export type Verdict = 'pass' | 'fail' | 'inconclusive' | 'not run' | 'error';

/** One check of an examination, or one step of a test. */
export interface Finding {
  /** Unique in its report: `time-out`, or the number of the step. */
  readonly id: string;
  readonly title: string;
  readonly verdict: Verdict;
  /** What was found, in one or two sentences. */
  readonly summary: string;
  /** The events of the line that show it, in their order. */
  readonly frames: readonly TrafficEvent[];
  readonly durationMs: number;
  /** Of a check that has failed: what is wrong with the client, for the first page. */
  readonly conclusion?: string;
  /** Of a check: so many trials show it, of so many. */
  readonly confidence?: { readonly agreeing: number; readonly trials: number };
  /** Of a check. */
  readonly about?: CheckAbout;
}

/** A finding without its frames. */
export type FindingHead = Omit<Finding, 'frames'>;

/** Leaves out the frames of a finding, which may be made each time that they are looked at. */
export function headOf(finding: FindingHead): FindingHead {
  const { id, title, verdict, summary, durationMs, conclusion, confidence, about } = finding;
  return {
    id,
    title,
    verdict,
    summary,
    durationMs,
    ...(conclusion !== undefined && { conclusion }),
    ...(confidence && { confidence }),
    ...(about && { about }),
  };
}

/** What a check says about itself. */
export interface CheckAbout {
  /** What it is shown among: `time`, `connections`. */
  readonly group: string;
  /** What it does, in a sentence. */
  readonly does: string;
  /** Why that matters to somebody who uses the client. */
  readonly matters: string;
  /** When it passes, when it fails, and when neither can be said. */
  readonly rule: string;
  /** What to change in a client that fails, as an order. */
  readonly fix: string;
  /** The clause of a specification, or what is known of real clients. */
  readonly source: string;
}

/** A measured time, in ms. */
export interface Measured {
  readonly value: number;
  readonly plusMinus: number;
}

/** What an examination has measured; what is absent is not known. Times in ms. */
export interface Measurements {
  /** How long after its request a reply is waited for. */
  readonly timeoutMs?: Measured;
  /** How often a question is asked before the client gives it up. */
  readonly attempts?: number;
  /** From giving up an attempt to the next one, one pause for each attempt but the first. */
  readonly pausesMs?: readonly number[];
  /** How often the question is asked that is disturbed. */
  readonly pollPeriodMs?: number;
}

/** What a report is made of, whatever form it takes. */
export interface Report {
  readonly kind: 'test' | 'examination';
  readonly name: string;
  /** ms since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly verdict: Verdict;
  readonly line: string | undefined;
  readonly seed: number;
  /** Plain sentences for the first page. */
  readonly conclusions: readonly string[];
  /** What was measured: `response time-out` as `487 ± 3 ms`. */
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
  /** The same in numbers, of an examination. */
  readonly found?: Measurements;
  readonly findings: readonly Finding[];
  /** The native file of the simulator. */
  readonly configuration: string;
  /** Of this program, Node and the system. */
  readonly versions: readonly { readonly name: string; readonly version: string }[];
}
