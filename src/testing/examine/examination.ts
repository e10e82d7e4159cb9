import { seededRandom } from '../../random.js';
import type { Line } from '../../simulator/line.js';
import type { Simulator } from '../../simulator/simulator.js';
import { configurationText } from '../../simulator/written/written-configuration.js';
import type { LineStateEvent, TrafficEvent } from '../../traffic/event.js';
import { type Clock, systemClock } from '../../transport/clock.js';
import { overallVerdict } from '../report/overall.js';
import type { Finding, Report, Verdict } from '../report/report.js';
import { versions } from '../report/versions.js';
import { durationText } from '../scenario/words.js';
import type { Check } from './check.js';
import { Exam, type ExamParts } from './exam.js';
import { examinedLine } from './examined-line.js';
import { ExchangeLog } from './exchange-log.js';
import { type Found, foundText, parametersOf } from './found.js';
import { framesOf } from './frames.js';
import { Outage } from './outage.js';
import { inOrder } from './plan.js';
import { type Ended, runCheck } from './run-check.js';
import { watchClient } from './watching.js';
import { MARK_RULE, Testimony } from './witness/testimony.js';
import type { Witness } from './witness/witness.js';

/** What is to be examined. */
export interface ExaminationOrder {
  readonly line: Line;
  /** Only questions to this unit are disturbed; any unit when undefined. */
  readonly unitId: number | undefined;
  readonly checks: readonly Check[];
  /** In ms; what is not reached by then is not run. */
  readonly limitMs: number;
  readonly seed: number;
  /** What shows the values that the client has read; undefined where nothing does. */
  readonly witness?: Witness | undefined;
}

/** Replies to the last requests are waited for so long. */
const LAST_REPLIES_MS = 100;

const CLOSED: ReadonlySet<LineStateEvent['state']> = new Set(['lost', 'failed', 'not opened', 'stopped']);

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
  /** Rules that were there before, and are left alone. */
  readonly #others: ReadonlySet<string>;
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
    this.#others = new Set(this.#rules.list().map(({ rule }) => rule.name));
    this.#log = new ExchangeLog(() => this.#spoiling().reduce((sum, { hits }) => sum + hits, 0));
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
    this.#removeRules();
    const problem = await this.#outage.end();
    if (problem !== undefined) {
      end = { verdict: 'error', text: problem };
      this.#conclusions.push(problem);
    }
    if (!end) await this.#lastReplies();
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
    const { line, seed } = this.order;
    const found = foundText(this.found);
    const bench = this.#bench;
    return {
      kind: 'examination',
      name: `the client on line ${line.name}`,
      startedAt: this.startedAt,
      durationMs: (this.#endedAt ?? this.#clock.now()) - this.#begun,
      verdict:
        this.#refusal === undefined ? overallVerdict(this.#findings.map(({ verdict }) => verdict)) : 'error',
      line: line.name,
      seed,
      conclusions: [this.#refusal ?? (found || 'No time was measured'), ...this.#conclusions].map(sentence),
      parameters: parametersOf(this.found),
      found: { ...this.found },
      findings: this.#findings,
      // It may be long, and not everybody who looks at a report wants it.
      get configuration() {
        return [...configurationText(bench.running)].join('');
      },
      versions: versions(),
    };
  }

  /** Replies to the last requests belong to the evidence. */
  async #lastReplies(): Promise<void> {
    await new Promise<void>((resolve) => void this.#clock.callAfter(LAST_REPLIES_MS, resolve));
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
    const of = { rules: this.#rules, line: line.name, target: watched.target };
    const parts: ExamParts = {
      clock: this.#clock,
      line: examinedLine(line),
      log: this.#log,
      found: this.found,
      rules: this.#rules,
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
      this.#removeRules();
      this.#add(check, outcome, this.#clock.now() - startedAt);
      if (hasStopped)
        return { verdict: 'not run', text: `the client polls no more since the check ${check.id}` };
    }
    return undefined;
  }

  #add(
    { id, group, title, does, matters, rule, source }: Check,
    outcome: Ended | { readonly verdict: End['verdict']; readonly summary: string },
    durationMs: number,
  ): void {
    const evidence = 'evidence' in outcome ? outcome.evidence : [];
    const finding: Finding = {
      id,
      title,
      verdict: outcome.verdict,
      summary: outcome.summary,
      // Replies to the frames may still come after the check.
      get frames() {
        return framesOf(evidence);
      },
      durationMs,
      about: { group, does, matters, rule, source },
    };
    if ('conclusion' in outcome && outcome.conclusion) this.#conclusions.push(outcome.conclusion);
    this.#findings.push(finding);
    this.#told(finding, this.#findings.length);
  }

  #hear(event: TrafficEvent): void {
    if (event.line !== this.order.line.name) return;
    this.#log.add(event);
    for (const listener of this.#listeners) listener();
    if (event.kind === 'line' && CLOSED.has(event.state) && !this.#outage.isOn) {
      this.#end({ verdict: 'error', text: `line ${event.line} was closed: ${event.text}` });
    }
  }

  readonly #onEvent = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  get #rules() {
    return this.#bench.faults.rules;
  }

  #ownRules() {
    return this.#rules.list().filter(({ rule }) => isOurs(rule.name) && !this.#others.has(rule.name));
  }

  #spoiling() {
    return this.#ownRules().filter(({ rule }) => rule.name !== MARK_RULE);
  }

  #removeRules(): void {
    this.#log.settle();
    for (const { rule } of this.#ownRules()) this.#rules.remove(rule.name);
  }
}

/** Names of rules as `Exam.disturb` makes them. */
function isOurs(name: string): boolean {
  return name.startsWith('examine-');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
