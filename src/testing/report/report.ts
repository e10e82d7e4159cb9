import type { TrafficEvent } from '../../simulator/traffic/event.js';

/**
 * The verdict on a check or a step. `inconclusive`: the traffic on the line does not decide it. `not run`:
 * the check or step was not reached. `error`: the simulator itself failed.
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
  /** The events of the line that are its evidence, in their order. */
  readonly frames: readonly TrafficEvent[];
  readonly durationMs: number;
  /** What is wrong with the client, for the first page; only a check that has failed has this. */
  readonly conclusion?: string;
  /** How many trials show the result, and how many were made; checks only. */
  readonly confidence?: { readonly agreeing: number; readonly trials: number };
  /** What the check says about itself; checks only. */
  readonly about?: CheckAbout;
}

/** A finding without its frames. */
export type FindingHead = Omit<Finding, 'frames'>;

/** Copies a finding without reading its frames: they may be made on each read. */
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
  /** The group among which the check is shown: `time`, `connections`. */
  readonly group: string;
  /** What the check does, in a sentence. */
  readonly does: string;
  /** Why the result matters to a user of the client. */
  readonly matters: string;
  /** When the check passes, when it fails, and when neither can be said. */
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

/** The measurements of an examination, in ms. A value that is not known is absent. */
export interface Measurements {
  /** How long the client waits for a reply, counted from its request. */
  readonly timeoutMs?: Measured;
  /** How often the client asks a question before giving it up. */
  readonly attempts?: number;
  /** The pauses from giving up an attempt to the next one: one pause for each attempt but the first. */
  readonly pausesMs?: readonly number[];
  /** The time from one asking of the disturbed question to the next. */
  readonly pollPeriodMs?: number;
}

/** What a tester says about a run: what was tested, by whom, and a remark. */
export interface RunAbout {
  /** The name and version of the client. */
  readonly client?: string | undefined;
  readonly tester?: string | undefined;
  readonly remark?: string | undefined;
}

/** Puts what a tester says into words: `gateway 2.1, tested by A. Bee: new firmware`. Empty without any. */
export function aboutText({ client, tester, remark }: RunAbout = {}): string {
  const who = [client, tester && `tested by ${tester}`].filter((text) => text).join(', ');
  return [who, remark].filter((text) => text).join(': ');
}

/** What shows the failure of a client that was shaken. */
export interface Shaken {
  /** The moves, as `scheduleSchema` describes them. */
  readonly schedule: readonly object[];
  /** The same as a scenario, in YAML. */
  readonly scenario: string;
  /** Sequence numbers of the first and the last event of the play that shows it. */
  readonly first: number;
  readonly last: number;
  /** The identifier of the entry of the catalogue that does the most of it. */
  readonly nearest?: string;
}

/** The content of a report, whatever form it takes. */
export interface Report {
  readonly kind: 'test' | 'examination';
  readonly name: string;
  /** When the run began, in ms since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly verdict: Verdict;
  readonly line: string | undefined;
  readonly seed: number;
  /** What the tester says about the run; absent when nothing was said. */
  readonly about?: RunAbout | undefined;
  /** Plain sentences for the first page. */
  readonly conclusions: readonly string[];
  /** The measurements as text: `response time-out` as `487 ± 3 ms`. */
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
  /** The measurements as numbers; examinations only. */
  readonly found?: Measurements;
  readonly findings: readonly Finding[];
  /** The native file of the simulator. */
  readonly configuration: string;
  /** The versions of this program, Node and the system. */
  readonly versions: readonly { readonly name: string; readonly version: string }[];
}

/** The report on a client that was shaken. */
export interface ShakeReport extends Omit<Report, 'kind'> {
  readonly kind: 'shake';
  /** The shortest schedule on which the client fails; absent when none was found. */
  readonly shaken?: Shaken;
}
