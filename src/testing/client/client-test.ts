import { seededRandom } from '../../common/random.js';
import { type Clock, systemClock } from '../../modbus/transport/clock.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { Lateness } from '../lateness.js';
import type { Finding, Report, Verdict } from '../report/report.js';
import { durationText } from '../report/words.js';
import { closedText, lastReplies, Outage, polledLine } from '../tested-line.js';
import { type ClientTestOrder, inTurns } from './client-test-order.js';
import { clientTestReport, findingOf } from './client-test-report.js';
import { isReading, type Question } from './heard/exchange.js';
import type { ClientFacts } from './heard/found.js';
import { ExchangeLog, Waits } from './heard/log.js';
import { unevenText, watchClient } from './heard/watching.js';
import type { Check } from './trial/exam.js';
import { Exam, type TestedClient } from './trial/exam.js';
import { OwnRules } from './trial/rules.js';
import { crashOf, isGone, LAST_FRAMES, runCheck, soFar } from './trial/run-check.js';
import { ValueOracle } from './trial/values.js';
import { type EndedCheck, sure } from './trial/verdict.js';

/** Callbacks for a follower of a client test. */
export interface Audience {
  /**
   * Called when a check is over.
   * @param number counts the checks from 1
   */
  readonly found?: (finding: Finding, number: number) => void;
  /** Called with a sentence that says what is waited for. */
  readonly note?: (text: string) => void;
}

/** Says why a client test ends early. */
interface End {
  readonly verdict: Extract<Verdict, 'not run' | 'error'>;
  /** The reason, as a sentence. */
  readonly text: string;
}

/** A check that runs. */
interface Running {
  readonly check: Check;
  readonly exam: Exam;
  readonly startedAt: number;
}

/**
 * One client test of the client that polls a line. It watches the client first, and then runs one check after
 * the other, with recovery between them. Whatever happens, it takes its faults away in the end.
 */
export class ClientTest {
  readonly order: ClientTestOrder;
  readonly found: ClientFacts = {};
  readonly startedAt = Date.now();
  readonly #bench: Simulator;
  readonly #clock: Clock;
  readonly #audience: Audience;
  readonly #begun: number;
  readonly #log: ExchangeLog;
  readonly #outage: Outage;
  /** The waits before the checks begin. */
  readonly #watching: Waits;
  readonly #unsubscribe: () => void;
  readonly #findings: Finding[] = [];
  /** What became of the client, as sentences: it has crashed, or is gone. */
  readonly #fates: string[] = [];
  /** After which checks the client was away as if restarted, and how that was seen; parts of a sentence. */
  readonly #away: string[] = [];
  readonly #rules: OwnRules;
  readonly #running = new Set<Running>();
  readonly #client: TestedClient;
  /** The question that is disturbed; undefined until the client was watched. */
  #target: Question | undefined;
  readonly #ended: Promise<End>;
  #end: (end: End) => void = () => {};
  /** Resolves with a sentence when the program of the client has ended. */
  #crashed: Promise<string> = new Promise(() => {});
  #crash: (how: string) => void = () => {};
  #refusal: string | undefined;
  #endedAt: number | undefined;
  #isStopped = false;

  constructor(bench: Simulator, order: ClientTestOrder, audience: Audience = {}, clock = systemClock) {
    this.order = order;
    this.#bench = bench;
    this.#clock = clock;
    this.#audience = audience;
    this.#begun = clock.now();
    this.#outage = new Outage(order.line, bench, (text) => this.#end({ verdict: 'error', text }));
    this.#rules = new OwnRules(bench.faults.rules);
    this.#log = new ExchangeLog(() => this.#rules.acted());
    this.#watching = new Waits(clock, this.#log);
    this.#client = {
      clock,
      line: polledLine(order.line),
      simulated: order.line,
      unitId: order.unitId,
      log: this.#log,
      found: this.found,
      rules: this.#rules,
      outage: this.#outage,
      lateness: new Lateness(clock),
      note: (text) => audience.note?.(text),
      values: order.observer && new ValueOracle(order.observer),
      questions: [],
      isWithoutRhythm: false,
      isDisturbed: false,
      disturbedUntil: 0,
    };
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#awaitCrash();
    this.#unsubscribe = bench.traffic.subscribe((event) => this.#hear(event));
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** Why the client test could not begin, as a sentence; undefined when it could. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /**
   * Tells the client test that the program of the client has ended.
   * @param how a sentence, with the last output on further lines
   */
  clientEnded(how: string): void {
    this.#crash(how);
  }

  /** Ends the client test. Checks that it has not reached are not run. */
  stop(): void {
    this.#isStopped ||= !this.isOver;
    this.#end({ verdict: 'not run', text: 'the client test was stopped before' });
  }

  /** Runs all checks and resolves when they are over. It never throws for what the client does. */
  async run(): Promise<Report> {
    const callOff = this.#clock.callAfter(this.order.limitMs, () => {
      const limit = `the limit of ${durationText(this.order.limitMs)} was reached before`;
      const cause = this.#whySlow;
      this.#end({ verdict: 'not run', text: cause === undefined ? limit : `${cause}, and ${limit}` });
    });
    this.#client.lateness.begin();
    let end = await Promise.race([this.#ended, this.#runAll()]);
    callOff();
    this.#client.lateness.end();
    this.#watching.end();
    for (const running of this.#running) this.#breakOff(running, end?.text ?? '');
    this.#rules.removeAll();
    const problem = await this.#outage.end();
    if (problem !== undefined) {
      end = { verdict: 'error', text: problem };
      this.#fates.push(problem);
    }
    if (!end) await lastReplies(this.#clock);
    for (const [i, check] of this.#left().entries()) {
      const verdict = i === 0 && end ? end.verdict : 'not run';
      this.#add(check, { verdict, summary: end?.text ?? '' }, 0);
    }
    this.#unsubscribe();
    this.#endedAt = this.#clock.now();
    return this.report;
  }

  /** The report on what the client test has found by now. */
  get report(): Report {
    const ended = this.#endedAt ?? this.#clock.now();
    return clientTestReport(this.order, this.#bench, {
      startedAt: this.startedAt,
      durationMs: ended - this.#begun,
      refusal: this.#refusal,
      fates: [...this.#fates, ...awayText(this.#away)],
      isOver: this.isOver,
      isStopped: this.#isStopped,
      found: this.found,
      findings: this.#findings,
    });
  }

  /**
   * Says why a client test may take longer than its checks, as a part of a sentence; undefined when it does
   * not.
   */
  get #whySlow(): string | undefined {
    if (this.#client.isWithoutRhythm) return 'the client lost the rhythm that was waited for';
    return this.#target && unevenText(this.#target);
  }

  /**
   * Watches the client, and then runs all checks.
   * @returns why the remaining checks are not run; undefined when none remain
   */
  async #runAll(): Promise<End | undefined> {
    const { limitMs, seed } = this.order;
    const client = this.#client;
    const how = this.#crashed.then((how) => ({ how }));
    const watched = await Promise.race([watchClient({ ...client, waits: this.#watching, limitMs }), how]);
    if ('how' in watched) {
      if (this.#log.after(0).length > 0) return this.#clientHasCrashed([], watched.how);
      const text = 'the client ended before it asked anything';
      this.#refusal = `${text}: ${watched.how}`;
      return { verdict: 'not run', text };
    }
    if (!watched.ok) {
      this.#refusal = watched.error;
      return { verdict: 'not run', text: watched.error };
    }
    this.#log.usualUntil = this.#log.last;
    const { target, questions } = watched.value;
    client.questions = questions;
    this.#target = target;
    const isWatching = ({ beside }: Check) => beside === 'watches';
    const watching = this.order.checks.filter(isWatching).map(async (check) => {
      const running = this.#begin(check, target, false);
      this.#finish(running, await runCheck(check, running.exam));
    });
    const targets = client.values ? [target] : sideBySide(client, target);
    const disturbing = this.order.checks.filter((check) => !isWatching(check));
    for (const turn of inTurns(disturbing, seed, targets.length)) {
      const end = await this.#takeTurn(turn, targets);
      if (end) return end;
    }
    await Promise.all(watching);
    return undefined;
  }

  /**
   * Runs one check, or several beside each other, each on a question of its own. Of several checks only a
   * pass counts: a check that has not passed is run again alone.
   * @returns why the remaining checks are not run; undefined when they may be
   */
  async #takeTurn(turn: readonly Check[], targets: readonly Question[]): Promise<End | undefined> {
    const runs = turn.map((check, i) => this.#begin(check, targets[i] as Question, turn.length > 1));
    const outcomes = await Promise.race([
      Promise.all(runs.map(({ check, exam }) => runCheck(check, exam))),
      this.#crashed,
    ]);
    const [first] = runs;
    const [only] = outcomes;
    if (typeof outcomes === 'string') {
      const end = await this.#clientHasCrashed(runs, outcomes);
      if (end) return end;
    } else if (runs.length === 1 && first && typeof only === 'object') {
      return this.#judge(first, only);
    } else {
      for (const [i, running] of runs.entries()) {
        const ended = outcomes[i] as EndedCheck;
        if (ended.verdict === 'pass') this.#finish(running, ended);
        else this.#drop(running);
      }
    }
    for (const check of this.#left().filter((each) => turn.includes(each))) {
      const end = await this.#takeTurn([check], targets.slice(0, 1));
      if (end) return end;
    }
    return undefined;
  }

  /** Reports a failure at once. Any other verdict counts only when the client is still there. */
  async #judge(running: Running, ended: EndedCheck): Promise<End | undefined> {
    const { check, exam } = running;
    if (ended.verdict === 'pass' && !this.#client.isDisturbed) {
      this.#finish(running, ended);
      return undefined;
    }
    if (ended.verdict === 'fail') this.#finish(running, ended, true);
    const gone = await Promise.race([isGone(exam), this.#crashed]);
    if (typeof gone === 'string') return this.#clientHasCrashed([running], gone);
    if (!gone) {
      this.#finish(running, ended);
      return undefined;
    }
    const since = exam.hasDisturbed ? `after ${check.what}` : 'although nothing was disturbed';
    const text = `asked nothing more ${since}`;
    this.#finish(running, sure('wrong', `${ended.summary}; afterwards the client ${text}`, ended.evidence));
    this.#fates.push(`the client is gone: it ${text}`);
    return this.#startAgain(`the client ${text}`);
  }

  /**
   * Ends checks because the program of the client has ended. The first check that has disturbed the client
   * fails; without one, the first that runs, or the one that would have come next.
   */
  async #clientHasCrashed(runs: readonly Running[], how: string): Promise<End | undefined> {
    const disturbing = runs.filter(({ exam }) => exam.hasDisturbed);
    const blamed = disturbing[0] ?? runs[0];
    const [first] = this.#left();
    const { headline, text } = crashOf(
      how,
      disturbing.map(({ check }) => check.what),
    );
    this.#fates.push(headline);
    const ended = sure('wrong', text, this.#log.newest().slice(-LAST_FRAMES));
    if (blamed) this.#finish(blamed, ended);
    else if (first) this.#add(first, ended, 0);
    for (const running of runs) this.#drop(running);
    return disturbing.length > 0
      ? this.#startAgain('the client had ended')
      : { verdict: 'not run', text: 'the client had ended' };
  }

  /**
   * Starts the client again.
   * @returns why the remaining checks are not run, when the client could not be started
   */
  async #startAgain(text: string): Promise<End | undefined> {
    const { restart } = this.order;
    if (!restart) return { verdict: 'not run', text };
    this.#awaitCrash();
    this.#audience.note?.('the client is started again');
    const problem = await restart();
    [this.#client.isDisturbed, this.#client.disturbedUntil] = [true, this.#log.last];
    if (problem === undefined) return undefined;
    this.#fates.push(`the client could not be started again: ${problem}`);
    return { verdict: 'not run', text };
  }

  #awaitCrash(): void {
    this.#crashed = new Promise((resolve) => {
      this.#crash = resolve;
    });
  }

  #begin(check: Check, target: Question, isBeside: boolean): Running {
    const random = seededRandom(this.order.seed, this.order.checks.indexOf(check) + 1);
    const exam = new Exam(this.#client, { name: check.id, random, target, isBeside });
    const running = { check, exam, startedAt: this.#clock.now() };
    this.#running.add(running);
    return running;
  }

  /**
   * Adds the finding on a check, once.
   * @param goesOn true when the check still waits for the client
   */
  #finish(running: Running, ended: EndedCheck, goesOn = false): void {
    const { check, startedAt } = running;
    const isNew = this.#left().includes(check);
    if (isNew) this.#add(check, ended, this.#clock.now() - startedAt);
    if (!goesOn) this.#drop(running);
  }

  #drop(running: Running): void {
    running.exam.end();
    this.#running.delete(running);
    if (running.check.beside !== undefined) return;
    this.#rules.removeAll();
  }

  /** Ends a check from outside, and keeps what its trials have shown by then. */
  #breakOff(running: Running, why: string): void {
    const { check, exam } = running;
    const known = soFar(check, exam, why.replace(/ before$/, ''));
    if (known) this.#finish(running, known);
    if (known?.verdict === 'fail' && check.beside !== 'watches')
      this.#fates.push(`the client is gone: it ${known.summary}`);
    this.#drop(running);
  }

  /** The checks that have no verdict yet. */
  #left(): Check[] {
    const done = new Set(this.#findings.map(({ id }) => id));
    return this.order.checks.filter(({ id }) => !done.has(id));
  }

  #add(check: Check, ended: EndedCheck, durationMs: number): void {
    if (ended.away !== undefined) this.#away.push(`after ${check.what} it ${ended.away}`);
    const finding = findingOf(check, ended, durationMs);
    this.#findings.push(finding);
    this.#audience.found?.(finding, this.#findings.length);
  }

  #hear(event: TrafficEvent): void {
    if (event.line !== this.order.line.name) return;
    this.#log.add(event);
    const closed = closedText(event);
    if (closed !== undefined && !this.#outage.isOn) this.#end({ verdict: 'error', text: closed });
  }
}

/** Says in one sentence for all checks that the client was away; no sentence when it never was. */
function awayText([first, ...others]: readonly string[]): string[] {
  if (first === undefined) return [];
  const checks = others.length === 1 ? 'one more check' : `${others.length} more checks`;
  const more = others.length === 0 ? '' : `; the same in ${checks}`;
  return [`the client was away: ${first}${more}`];
}

/**
 * The questions that can be disturbed beside each other: the target, and reading questions that are answered
 * and asked at least half as often.
 */
function sideBySide({ questions, unitId }: TestedClient, target: Question): Question[] {
  const others = questions.filter(
    (each) =>
      each.key !== target.key &&
      each.isAnswered &&
      isReading(each) &&
      each.asked.length * 2 >= target.asked.length &&
      (unitId === undefined || each.unitId === unitId),
  );
  return [target, ...others];
}
