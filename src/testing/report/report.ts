import { release, type as systemName } from 'node:os';
import type { z } from 'zod';
import { compact } from '../../common/compact.js';
import { version } from '../../common/package.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import type { Doing } from '../doing.js';
import type { RunKind } from '../run-kinds.js';
import type { RecordedRegisters } from './recorded-registers.js';
import type { aboutSchema, measurements, scheduleSchema, verdict } from './shapes.js';

/**
 * The verdict on a check or a step. `inconclusive`: the traffic on the line does not decide. `not run`: the
 * check or step was not reached. `error`: the simulator itself failed.
 */
export type Verdict = z.infer<typeof verdict>;

/** How many checks have a verdict: `33 conform`. */
export interface VerdictCount {
  readonly id: string;
  readonly verdict: Verdict;
  readonly many: number;
  readonly word: string;
}

/** What was expected but did not come. Each text is part of a sentence. */
export interface Missed {
  readonly expected: string;
  readonly received: string;
  /** Sequence number of the decisive frame; absent if no frame came. */
  readonly frame?: number;
}

/** One check in a client test, or one step of a scenario. */
export interface Finding {
  /** Unique in its report: `time-out`, or the number of the step. */
  readonly id: string;
  readonly title: string;
  /** What the check tests, if `title` says what was seen: a JUnit case needs a constant name. */
  readonly asked?: string;
  /** The name of the verdict if it is more specific than `verdict`: `not there`. */
  readonly label?: string;
  /** The result as a code; server tests only. */
  readonly code?: string;
  readonly verdict: Verdict;
  /** The result in one or two sentences. */
  readonly summary: string;
  /** What a failed step or check missed; `summary` gives the details in words. */
  readonly missed?: Missed;
  /** The events on the line that are the evidence, in order. */
  readonly frames: readonly TrafficEvent[];
  readonly durationMs: number;
  /** What is wrong with the client, for the first page; only for a failed check. */
  readonly conclusion?: string;
  /** How many trials support the result, and how many were made; checks only. */
  readonly confidence?: { readonly agreeing: number; readonly trials: number };
  /** The check's own description; checks only. */
  readonly about?: CheckAbout;
}

export type FindingHead = Omit<Finding, 'frames'>;

/** Copies a finding without reading its frames, which may be created on each read. */
export function headOf(finding: FindingHead): FindingHead {
  const { id, title, verdict, summary, missed, durationMs, conclusion, confidence, about } = finding;
  return compact({ id, title, verdict, summary, missed, durationMs, conclusion, confidence, about });
}

export interface CheckAbout {
  /** The group that the check is listed in: `time`, `connections`. */
  readonly group: string;
  /** What the check does, in a sentence. */
  readonly does: string;
  /** Why the result matters to a user of the client. */
  readonly matters: string;
  /** When the check passes, when it fails, and when it is inconclusive. */
  readonly rule: string;
  /** What to change in a client that fails, in the imperative. */
  readonly fix: string;
  /** The clause of a specification, or reports about real clients. */
  readonly source: string;
}

/** The measurements of a client test, in ms. An unknown value is absent. */
export type Measurements = z.infer<typeof measurements>;
/** A measured time, in ms. */
export type Measured = NonNullable<Measurements['timeoutMs']>;

/** A tester's notes about a run: what was tested, by whom, and a remark. */
export type RunAbout = z.output<typeof aboutSchema>;

interface Fuzzed {
  readonly schedule: Readonly<z.output<typeof scheduleSchema>>;
  readonly scenario: string;
  /** Sequence numbers of the first and last event in the play that shows the failure. */
  readonly first: number;
  readonly last: number;
  /** The identifier of the catalogue entry that is most similar. */
  readonly nearest?: string;
}

/** The content of a report, whatever its format. */
export interface Report {
  readonly kind: Exclude<RunKind, 'server'>;
  readonly name: string;
  /** When the run began, in ms since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The overall verdict. A stopped run has found too little for one. */
  readonly verdict: Verdict;
  /** True if someone stopped the run before its end. */
  readonly isStopped: boolean;
  readonly line: string | undefined;
  readonly seed: number;
  readonly about?: RunAbout | undefined;
  /** Plain sentences for the first page. */
  readonly conclusions: readonly string[];
  /** The measurements as text: `response time-out` as `487 ± 3 ms`. */
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
  /** How many checks have each verdict, in the terms of this kind of run; absent if `verdict` is enough. */
  readonly counts?: readonly VerdictCount[];
  /** The measurements as numbers; client tests only. */
  readonly found?: Measurements;
  /** How many moves were tried, in how many plays; fuzz runs only. */
  readonly tried?: { readonly moves: number; readonly plays: number };
  /** The shortest schedule on which the client fails; fuzz runs only, and absent if none was found. */
  readonly fuzzed?: Fuzzed;
  readonly findings: readonly Finding[];
  readonly versions: readonly { readonly name: string; readonly version: string }[];
}

/** The first sentence in a report on a stopped run. */
export const STOPPED = 'Stopped early: no verdict.';

const WORST_FIRST: readonly Verdict[] = ['error', 'fail', 'inconclusive'];

/**
 * The worst of the verdicts. If none is bad, the result is `inconclusive` if anything was not run or there
 * are no verdicts at all, otherwise `pass`.
 */
export function overallVerdict(verdicts: readonly Verdict[]): Verdict {
  const worst = WORST_FIRST.find((verdict) => verdicts.includes(verdict));
  if (worst !== undefined) return worst;
  return verdicts.length === 0 || verdicts.includes('not run') ? 'inconclusive' : 'pass';
}

/** The versions of this program, of Node and of the system. */
export function versions(): Report['versions'] {
  return [
    { name: 'modbus-sim', version: version() },
    { name: 'Node.js', version: process.versions.node },
    { name: systemName(), version: release() },
  ];
}

/** A finding as plain data, for every report format and for REST. */
export interface FindingView extends Omit<Finding, 'frames'> {
  readonly frames: readonly TrafficView[];
}

/** A report as plain data, which can be converted to JSON and back. */
export interface ReportView extends Omit<Report, 'findings' | 'kind'> {
  readonly kind: RunKind;
  readonly findings: readonly FindingView[];
  /** The simulator's configuration as a native file. */
  readonly configuration: string;
  /** The registers of the devices during the run; only for HTML. */
  readonly registers?: RecordedRegisters;
}

/** The report on a server: one part for people, in the same form as reports on clients, and one for programs. */
export interface ServerTestReport extends ReportView {
  readonly kind: 'server';
  readonly findings: readonly ServerFindingView[];
  /** The part for programs, without the exchanges. `RUNS` describes it. */
  readonly json: ServerTestJson;
}

/** The JSON report on a server, as far as other rooms use it. */
interface ServerTestJson {
  readonly checks: readonly object[];
}

/** A finding with the exchanges that are its evidence. Frames and exchanges may be created on each read. */
export interface ServerFindingView extends FindingView {
  readonly exchanges: readonly object[];
}

/** Makes the view of an event, with the names and values of its registers if known. */
type ShowEvent = (event: TrafficEvent) => TrafficView;

/** All frames in a report, finding by finding, for a caller that needs all of them before it can show one. */
export function* framesOf({ findings }: Report): Generator<TrafficEvent> {
  for (const { frames } of findings) yield* frames;
}

/** @param configuration the simulator's configuration as a native file, which may be long */
export function viewReport(report: Report, configuration: string, show: ShowEvent): ReportView {
  return {
    ...report,
    configuration,
    findings: report.findings.map((finding) => ({ ...finding, frames: finding.frames.map(show) })),
  };
}

/**
 * Makes the view for a long answer: the frames of a finding are created on each read, and none are kept. All
 * frames in a report of 250 steps with 40 frames each take 0.15 s, so a caller that goes through all findings
 * in one turn must neither read frames nor copy a finding.
 */
export function viewOnDemand(report: Report, configuration: string, show: ShowEvent): ReportView {
  return { ...report, configuration, findings: report.findings.map((finding) => onDemand(finding, show)) };
}

function onDemand(finding: Finding, show: ShowEvent): FindingView {
  return {
    ...headOf(finding),
    get frames() {
      return finding.frames.map(show);
    },
  };
}

/** The report on a run; for a server test, with the part for programs. */
export type RunView = ReportView & Pick<RunReport, 'json'>;

/** The report on a run, without frames. */
export interface RunReport extends Omit<Report, 'kind' | 'findings'> {
  readonly kind: RunKind;
  readonly findings: readonly FindingHead[];
  readonly json?: ServerTestJson;
}

/** A run of any kind, in progress or completed. */
export interface Run {
  readonly id: number;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  readonly report: RunReport;
  readonly doing?: Doing | undefined;
}

/** A finding with its frames, packed by `packEvents`. */
export interface PackedFinding extends FindingHead {
  readonly packedFrames: Uint8Array;
}
