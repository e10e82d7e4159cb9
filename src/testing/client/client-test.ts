import { seededRandom } from '../../common/random.js';
import type { Clock } from '../../modbus/transport/clock.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { Finding, Report } from '../report/report.js';
import { type ClientTestOrder, inTurns } from './client-test-order.js';
import { clientTestReport, findingOf } from './client-test-report.js';
import { isReading, type Poll } from './heard/exchange.js';
import { unevenText, watchClient } from './heard/watching.js';
import { type Check, Exam } from './trial/exam.js';
import { crashOf, isGone, LAST_FRAMES, runCheck, soFar } from './trial/run-check.js';
import { type EndedCheck, sure } from './trial/verdict.js';
import { type Audience, type End, WatchedClient } from './watched-client.js';

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
  readonly #client: WatchedClient;
  readonly #findings: Finding[] = [];
  /** What became of the client, as sentences: it has crashed, or is gone. */
  readonly #fates: string[] = [];
  /** After which checks the client was away as if restarted, and how that was seen; parts of a sentence. */
  readonly #away: string[] = [];
  readonly #running = new Set<Running>();

  constructor(bench: Simulator, order: ClientTestOrder, audience?: Audience, clock?: Clock) {
    this.order = order;
    this.#client = new WatchedClient(bench, order, { audience, clock });
  }

  get isOver(): boolean {
    return this.#client.isOver;
  }

  /**
   * Tells the client test that the program of the client has ended.
   * @param how a sentence, with the last output on further lines
   */
  clientEnded(how: string): void {
    this.#client.clientEnded(how);
  }

  /** Ends the client test. Checks that it has not reached are not run. */
  stop(): void {
    this.#client.stop('the client test was stopped');
  }

  /** Runs all checks and resolves when they are over. It never throws for what the client does. */
  async run(): Promise<Report> {
    let end = await this.#client.during(this.#runAll());
    for (const running of this.#running) this.#breakOff(running, this.#reason(end));
    const problem = await this.#client.leave();
    if (problem !== undefined) {
      end = { by: 'bench', text: problem };
      this.#fates.push(problem);
    }
    const summary = `${this.#reason(end)}${end?.by === 'stop' || end?.by === 'limit' ? ' before' : ''}`;
    for (const [i, check] of this.#left().entries()) {
      this.#add(check, { verdict: i === 0 && end?.by === 'bench' ? 'error' : 'not run', summary }, 0);
    }
    this.#client.close();
    return this.report;
  }

  /** The report on what the client test has found by now. */
  get report(): Report {
    const fates = [...this.#fates, ...awayText(this.#away)];
    return clientTestReport(this.order, this.#client, { fates, findings: this.#findings });
  }

  /** Why the client test has ended, with what made it slow where its time was over; a sentence. */
  #reason({ by, text }: End = { by: 'client', text: '' }): string {
    const { target, isWithoutRhythm } = this.#client;
    const uneven = target && unevenText(target);
    const cause = isWithoutRhythm ? 'the client lost the rhythm that was waited for' : uneven;
    return by === 'limit' && cause !== undefined ? `${cause}, and ${text}` : text;
  }

  /**
   * Watches the client, and then runs all checks.
   * @returns why the remaining checks are not run; undefined when none remain
   */
  async #runAll(): Promise<End | undefined> {
    const client = this.#client;
    const watched = await watchClient(client);
    if ('refused' in watched) return { by: 'client', text: watched.refused };
    if ('crash' in watched) return this.#clientHasCrashed([], watched.crash);
    const { target } = watched;
    const isWatching = ({ beside }: Check) => beside === 'watches';
    const watching = this.order.checks.filter(isWatching).map(async (check) => {
      const running = this.#begin(check, target, false);
      this.#finish(running, await runCheck(check, running.exam));
    });
    const targets = client.values ? [target] : sideBySide(client, target);
    const disturbing = this.order.checks.filter((check) => !isWatching(check));
    for (const turn of inTurns(disturbing, this.order.seed, targets.length)) {
      const end = await this.#takeTurn(turn, targets);
      if (end) return end;
    }
    await Promise.all(watching);
    return undefined;
  }

  /**
   * Runs one check, or several beside each other, each on a poll of its own. Of several checks only a
   * pass counts: a check that has not passed is run again alone.
   * @returns why the remaining checks are not run; undefined when they may be
   */
  async #takeTurn(turn: readonly Check[], targets: readonly Poll[]): Promise<End | undefined> {
    const runs = turn.map((check, i) => this.#begin(check, targets[i] as Poll, turn.length > 1));
    const outcomes = await Promise.race([
      Promise.all(runs.map(({ check, exam }) => runCheck(check, exam))),
      this.#client.crashed,
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
    const gone = await Promise.race([isGone(exam), this.#client.crashed]);
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
    const ended = sure('wrong', text, this.#client.log.newest().slice(-LAST_FRAMES));
    if (blamed) this.#finish(blamed, ended);
    else if (first) this.#add(first, ended, 0);
    for (const running of runs) this.#drop(running);
    return disturbing.length > 0
      ? this.#startAgain('the client had ended')
      : { by: 'client', text: 'the client had ended' };
  }

  /**
   * Starts the client again.
   * @returns why the remaining checks are not run, when the client could not be started
   */
  async #startAgain(text: string): Promise<End | undefined> {
    if (!this.order.restart) return { by: 'client', text };
    this.#client.note('the client is started again');
    const problem = await this.#client.restart();
    if (problem === undefined) return undefined;
    this.#fates.push(`the client could not be started again: ${problem}`);
    return { by: 'client', text };
  }

  #begin(check: Check, target: Poll, isBeside: boolean): Running {
    const random = seededRandom(this.order.seed, this.order.checks.indexOf(check) + 1);
    const exam = new Exam(this.#client, { name: check.id, random, target, isBeside });
    const running = { check, exam, startedAt: exam.clock.now() };
    this.#running.add(running);
    return running;
  }

  /**
   * Adds the finding on a check, once.
   * @param goesOn true when the check still waits for the client
   */
  #finish(running: Running, ended: EndedCheck, goesOn = false): void {
    const { check, exam, startedAt } = running;
    const isNew = this.#left().includes(check);
    if (isNew) this.#add(check, ended, exam.clock.now() - startedAt);
    if (!goesOn) this.#drop(running);
  }

  #drop(running: Running): void {
    running.exam.end();
    this.#running.delete(running);
    if (running.check.beside !== undefined) return;
    this.#client.rules.removeAll();
  }

  /** Ends a check from outside, and keeps what its trials have shown by then. */
  #breakOff(running: Running, why: string): void {
    const { check, exam } = running;
    const known = soFar(check, exam, why);
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
    this.#client.found(finding, this.#findings.length);
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
 * The polls that can be disturbed beside each other: the target, and reading polls that are answered
 * and asked at least half as often.
 */
function sideBySide({ polls, order: { unitId } }: WatchedClient, target: Poll): Poll[] {
  const others = polls.filter(
    (each) =>
      each.key !== target.key &&
      each.isAnswered &&
      isReading(each) &&
      each.asked.length * 2 >= target.asked.length &&
      (unitId === undefined || each.unitId === unitId),
  );
  return [target, ...others];
}
