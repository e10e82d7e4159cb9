import { seededRandom } from '../../random.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { TrafficEvent } from '../../traffic/event.js';
import { type Clock, systemClock } from '../../transport/clock.js';
import { closedText, lastReplies } from '../line-watch.js';
import type { Finding, Report, Verdict } from '../report/report.js';
import { durationText } from '../scenario/words.js';
import type { Check } from './check.js';
import { Exam } from './exam.js';
import type { ExamParts } from './exam-parts.js';
import type { ExaminationOrder } from './examination-order.js';
import { examinationReport } from './examination-report.js';
import { examinedLine } from './examined-line.js';
import { ExchangeLog } from './exchange-log.js';
import { type CheckEnd, findingOf } from './finding.js';
import type { Found } from './found.js';
import { Outage } from './outage.js';
import { OwnRules } from './own-rules.js';
import { inOrder } from './plan.js';
import { runCheck } from './run-check.js';
import { watchClient } from './watching.js';
import { Testimony } from './witness/testimony.js';

/** Called when a check is over. */
type Told = (finding: Finding, number: number) => void;

/** Why an examination ends early. */
interface End {
  readonly verdict: Extract<Verdict, 'not run' | 'error' | 'fail'>;
  readonly text: string;
}

/**
 * One examination of the client that polls a line. It watches first, and then runs one check after the other, with
 * recovery between them. Whatever happens, it takes its faults away in the end.
 */
export class Examination {
  readonly order: ExaminationOrder;
  /** The checks in the order in which they are run. */
  readonly checks: readonly Check[];
  readonly found: Found = {};
  readonly startedAt = Date.now();
  readonly #bench: Simulator;
  readonly #clock: Clock;
  readonly #told: Told;
  readonly #begun: number;
  readonly #log: ExchangeLog;
  readonly #outage: Outage;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  readonly #findings: Finding[] = [];
  readonly #conclusions: string[] = [];
  readonly #rules: OwnRules;
  readonly #ended: Promise<End>;
  #end: (end: End) => void = () => {};
  #exam: Exam | undefined;
  #refusal: string | undefined;
  #endedAt: number | undefined;

  constructor(bench: Simulator, order: ExaminationOrder, told: Told = () => {}, clock = systemClock) {
    this.order = order;
    this.checks = inOrder(order.checks, order.seed);
    this.#bench = bench;
    this.#clock = clock;
    this.#told = told;
    this.#begun = clock.now();
    this.#outage = new Outage(order.line, (text) => this.#end({ verdict: 'error', text }));
    this.#rules = new OwnRules(bench.faults.rules);
    this.#log = new ExchangeLog(() => this.#rules.hits());
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#unsubscribe = bench.traffic.subscribe((event) => this.#hear(event));
  }

  /** The checks that are over. */
  get findings(): readonly Finding[] {
    return this.#findings;
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** Why the examination could not begin, as a sentence; undefined when it could. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Ends the examination; what was found so far stays, and the check that runs gets this verdict. */
  end(verdict: 'fail' | 'error', text: string): void {
    this.#end({ verdict, text });
  }

  /** Ends the examination; what was not reached is not run. */
  stop(): void {
    this.#end({ verdict: 'not run', text: 'the examination was stopped before' });
  }

  /** Runs all checks and resolves when they are over. It never throws for what the client does. */
  async run(): Promise<Report> {
    const callOff = this.#clock.callAfter(this.order.limitMs, () => {
      const text = `the limit of ${durationText(this.order.limitMs)} was reached before`;
      this.#end({ verdict: 'not run', text });
    });
    let end = await Promise.race([this.#ended, this.#runAll()]);
    callOff();
    this.#exam?.end();
    this.#takeFaultsAway();
    const problem = await this.#outage.end();
    if (problem !== undefined) {
      end = { verdict: 'error', text: problem };
      this.#conclusions.push(problem);
    }
    if (!end) await lastReplies(this.#clock);
    for (const [i, check] of this.checks.slice(this.#findings.length).entries()) {
      const verdict = i === 0 && end ? end.verdict : 'not run';
      this.#add(check, { verdict, summary: end?.text ?? '' }, 0);
    }
    this.#unsubscribe();
    this.#endedAt = this.#clock.now();
    return this.report;
  }

  /** The report on what is known by now. */
  get report(): Report {
    const ended = this.#endedAt ?? this.#clock.now();
    return examinationReport(this.order, this.#bench, {
      startedAt: this.startedAt,
      durationMs: ended - this.#begun,
      refusal: this.#refusal,
      found: this.found,
      conclusions: this.#conclusions,
      findings: this.#findings,
    });
  }

  /** @returns why the checks that are left are not run */
  async #runAll(): Promise<End | undefined> {
    const { line, unitId, limitMs, seed } = this.order;
    const watched = await watchClient(this.#onEvent, this.#log, {
      clock: this.#clock,
      line,
      unitId,
      limitMs,
    });
    if (typeof watched === 'string') {
      this.#refusal = watched;
      return { verdict: 'not run', text: watched };
    }
    const { witness } = this.order;
    const { rules } = this.#bench.faults;
    const of = { rules, line: line.name, target: watched.target };
    const parts: ExamParts = {
      clock: this.#clock,
      line: examinedLine(line),
      log: this.#log,
      found: this.found,
      rules,
      outage: this.#outage,
      onEvent: this.#onEvent,
      testimony: witness && new Testimony(witness, of),
      ...watched,
    };
    for (const [number, check] of this.checks.entries()) {
      const startedAt = this.#clock.now();
      const exam = new Exam(parts, check.id, seededRandom(seed, number + 1));
      this.#exam = exam;
      const { outcome, hasStopped } = await runCheck(check, exam);
      exam.end();
      this.#takeFaultsAway();
      this.#add(check, outcome, this.#clock.now() - startedAt);
      if (hasStopped)
        return { verdict: 'not run', text: `the client polls no more since the check ${check.id}` };
    }
    return undefined;
  }

  #add(check: Check, ended: CheckEnd, durationMs: number): void {
    if ('conclusion' in ended && ended.conclusion) this.#conclusions.push(ended.conclusion);
    const finding = findingOf(check, ended, durationMs);
    this.#findings.push(finding);
    this.#told(finding, this.#findings.length);
  }

  #hear(event: TrafficEvent): void {
    if (event.line !== this.order.line.name) return;
    this.#log.add(event);
    for (const listener of this.#listeners) listener();
    const closed = closedText(event);
    if (closed !== undefined && !this.#outage.isOn) this.#end({ verdict: 'error', text: closed });
  }

  #takeFaultsAway(): void {
    this.#rules.removeAll();
    this.#log.rulesRemoved();
  }

  readonly #onEvent = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
}
