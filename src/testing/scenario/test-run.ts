import { writeFileSync } from 'node:fs';
import { whyNotReplaced } from '../../common/replace.js';
import { type Clock, systemClock } from '../../modbus/transport/clock.js';
import { captureLines } from '../../simulator/line-status.js';
import type { Simulator } from '../../simulator/simulator.js';
import { Capture, capturePieces } from '../../simulator/traffic/capture/capture.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { TrafficCursor } from '../../simulator/traffic/reading.js';
import type { Doing } from '../doing.js';
import { type Finding, overallVerdict, type Report, STOPPED, versions } from '../report/report.js';
import { closedText, lastReplies } from '../tested-line.js';
import { Actions } from './actions.js';
import type { DutControl } from './dut.js';
import { type Happening, Inbox } from './inbox.js';
import { PollIntervals } from './retry-or-poll.js';
import type { Scenario, ScenarioStep } from './scenario.js';
import { type DeviceAt, Evidence, eventText } from './seen.js';
import { runStep, type StepEnd, type StepSurroundings } from './step-run.js';

/** How many of the newest steps still accept late replies as evidence. */
const ANSWERED_STEPS = 8;

type OnFinding = (finding: Finding, number: number) => void;

/**
 * One run of a scenario on a simulator whose lines are open. It watches the lines from its creation on, so
 * that the first step misses no request that a client sends while it starts.
 */
export class TestRun {
  readonly scenario: Scenario;
  readonly startedAt = Date.now();
  /** Stops and starts the program under test; undefined if the scenario has none. */
  dut: DutControl | undefined;
  readonly #simulator: Simulator;
  readonly #clock: Clock;
  readonly #onFinding: OnFinding;
  readonly #actions: Actions;
  readonly #inbox: Inbox;
  readonly #deviceAt: DeviceAt;
  readonly #unsubscribe: () => void;
  readonly #begun: number;
  readonly #findings: Finding[] = [];
  readonly #evidence: Evidence[] = [];
  /** Parts of the traffic to be written to files. */
  readonly #captures: CaptureSpan[] = [];
  readonly #firstSeq: number;
  #endedAt: number | undefined;
  #isStopped = false;

  constructor(
    simulator: Simulator,
    scenario: Scenario,
    onFinding: OnFinding = () => {},
    clock = systemClock,
  ) {
    this.scenario = scenario;
    this.#simulator = simulator;
    this.#clock = clock;
    this.#onFinding = onFinding;
    this.#begun = clock.now();
    this.#firstSeq = simulator.traffic.last + 1;
    this.#actions = new Actions(simulator);
    this.#deviceAt = (line, unitId, host) => simulator.lines.get(line)?.bus.deviceAt(unitId, host);
    this.#inbox = new Inbox(this.#deviceAt, () => this.#actions.haveActed());
    this.#unsubscribe = simulator.traffic.subscribe((event) => this.#hear(event));
  }

  /** The steps that have ended. */
  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** The parts of the traffic to be written to files, for the steps that have ended. */
  get captures(): readonly CaptureSpan[] {
    return this.#captures;
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** Ends the test after everything that has happened so far. The current step gets this verdict. */
  end(verdict: Extract<Happening, { kind: 'end' }>['verdict'], text: string): void {
    this.#inbox.put({ kind: 'end', verdict, text });
  }

  /** Stops the test: the current step remains undecided, and the rest are not run. */
  stop(): void {
    this.#isStopped ||= !this.isOver;
    this.end('inconclusive', 'the test was stopped early');
  }

  /** Runs all steps, and resolves with the report at the end. It never throws because of the client. */
  async run(): Promise<Report> {
    const { steps, always } = this.scenario;
    const surroundings: StepSurroundings = {
      inbox: this.#inbox,
      actions: this.#actions,
      clock: this.#clock,
      say: (event) => eventText(event, (seq) => this.#simulator.traffic.read(seq), this.#deviceAt),
      always,
      dut: this.dut,
      polls: new PollIntervals(),
      counts: new Map(),
      heard: (event) => this.#answer(event),
    };
    let over = false;
    for (const step of steps) {
      if (over) this.#found(step, { verdict: 'not run', message: '' }, 0);
      else over = await this.#runStep(step, surroundings);
    }
    if (!over) await this.#lastReplies();
    return this.#finish();
  }

  /** The report on a test that could not begin, for this reason. */
  notBegun(reason: string): Report {
    const [first, ...others] = this.scenario.steps;
    if (first) this.#found(first, { verdict: 'error', message: reason }, 0);
    for (const step of others) this.#found(step, { verdict: 'not run', message: '' }, 0);
    return this.#finish();
  }

  /** The current step; undefined after the end. */
  get doing(): Doing | undefined {
    const { steps } = this.scenario;
    const { length } = this.#findings;
    if (this.isOver) return undefined;
    const step = steps[length];
    return step ? { what: step.name, number: length + 1, of: steps.length } : { what: 'the last replies' };
  }

  /** The report on the steps that have ended so far. */
  get report(): Report {
    const { name, lines, seed, steps } = this.scenario;
    const passed = this.#findings.filter(({ verdict }) => verdict === 'pass').length;
    return {
      kind: 'scenario',
      name,
      startedAt: this.startedAt,
      durationMs: (this.#endedAt ?? this.#clock.now()) - this.#begun,
      verdict: overallVerdict(this.#findings.map(({ verdict }) => verdict)),
      isStopped: this.#isStopped,
      line: lines.length === 1 ? lines[0] : undefined,
      seed,
      conclusions: [...(this.#isStopped ? [STOPPED] : []), `${passed} of ${steps.length} steps passed.`],
      parameters: [],
      findings: this.#findings,
      versions: versions(),
    };
  }

  async #runStep(step: ScenarioStep, surroundings: StepSurroundings): Promise<boolean> {
    const startedAt = this.#clock.now();
    const evidence = new Evidence(startedAt, surroundings.say);
    this.#evidence.push(evidence);
    const firstSeq = this.#simulator.traffic.last + 1;
    const ended = await runStep(step, evidence, surroundings);
    this.#actions.endStep();
    const durationMs = this.#clock.now() - startedAt;
    const { changing } = this.#actions;
    const problem = changing === undefined ? undefined : await changing;
    const end: StepEnd = problem === undefined ? ended : { verdict: 'error', message: problem, over: true };
    this.#captured(step.capture, firstSeq);
    this.#found(step, end, durationMs, evidence);
    return end.over;
  }

  #captured(file: string | undefined, first: number): void {
    if (file !== undefined) this.#captures.push({ file, first, last: this.#simulator.traffic.last });
  }

  #found(
    { name }: ScenarioStep,
    { verdict, message, missed }: Pick<StepEnd, 'verdict' | 'message' | 'missed'>,
    durationMs: number,
    evidence?: Evidence,
  ): void {
    const finding: Finding = {
      id: String(this.#findings.length + 1),
      title: name,
      verdict,
      summary: message,
      ...(missed && { missed }),
      // Replies to the frames may still come after the step.
      get frames() {
        return evidence?.frames(verdict !== 'pass') ?? [];
      },
      durationMs,
    };
    this.#findings.push(finding);
    this.#onFinding(finding, this.#findings.length);
  }

  #hear(event: TrafficEvent): void {
    if (event.kind === 'test' || !this.scenario.lines.includes(event.line)) return;
    this.#inbox.add(event);
    const closed = closedText(event);
    if (closed !== undefined && !this.#actions.keepsClosed(event.line)) this.end('error', closed);
  }

  /** Adds a late reply to the evidence of the step whose request it answers. */
  #answer(event: TrafficEvent): void {
    for (const evidence of this.#evidence.slice(-ANSWERED_STEPS)) evidence.answer(event);
  }

  async #lastReplies(): Promise<void> {
    await lastReplies(this.#clock);
    for (const happening of this.#inbox.drain())
      if (happening.kind === 'event') this.#answer(happening.event);
  }

  #finish(): Report {
    this.#unsubscribe();
    this.#actions.end();
    this.#captured(this.scenario.capture, this.#firstSeq);
    this.#endedAt = this.#clock.now();
    return this.report;
  }
}

/** A part of the traffic to be written to a file, as sequence numbers, both inclusive. */
interface CaptureSpan {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

/**
 * Writes part of the traffic for Wireshark, as it was on the wire.
 * @param path the file to write
 * @param names the lines whose traffic is written
 * @returns why the file could not be written; undefined on success
 */
export function writeCapture(
  simulator: Simulator,
  { first, last }: CaptureSpan,
  path: string,
  names: readonly string[],
): string | undefined {
  const kept = whyNotReplaced(path, 'capture');
  if (kept !== undefined) return kept;
  const capture = new Capture('wire', captureLines(simulator.lines));
  const cursor = new TrafficCursor(simulator.traffic, { wanted: { field: 'line', texts: names } }, first - 1);
  const blocks = [...capture.header(names), ...capturePieces(capture, cursor, last)];
  try {
    writeFileSync(path, Buffer.concat(blocks));
    return undefined;
  } catch (error) {
    return `${path}: can't be written: ${(error as Error).message}`;
  }
}
