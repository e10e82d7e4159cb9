import { compact } from '../../common/compact.js';
import { seededRandom } from '../../common/random.js';
import type { Clock } from '../../modbus/transport/clock.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { Doing } from '../doing.js';
import type { Finding, Report } from '../report/report.js';
import { durationText, longDuration } from '../report/words.js';
import { median } from '../times.js';
import { type ClientTestOrder, inTurns, leavesPolls, runnable, sideBySide } from './client-test-order.js';
import { clientTestReport, findingOf } from './client-test-report.js';
import { type Poll, pollsIn, targetOf, timesBetween } from './heard/exchange.js';
import { unevenText, watchClient } from './heard/watching.js';
import { type Check, Exam, SLOWEST_MS } from './trial/exam.js';
import { type StoppedPolls, secondsSince, soFar, stoppedAfter } from './trial/gone.js';
import { crashOf, runCheck } from './trial/run-check.js';
import { type EndedCheck, LAST_FRAMES, sure } from './trial/verdict.js';
import { type Audience, type End, WatchedClient } from './watched-client.js';

/** The approximate number of polls that a check takes. */
const POLLS_PER_CHECK = 8;
/** A disturbance of at least this length, in ms, comes last and is announced. */
const LONG_MS = 30_000;
/**
 * A poll that has not come for this long, in ms, while others have come, counts as dropped: some clients try
 * again after a minute.
 */
const DROPPED_MS = 100_000;
/** A poll period that differs by this fraction counts as a new rhythm. */
const OTHER_RHYTHM = 0.1;
/** Number of polls that show a new rhythm. */
const FEW_POLLS = 4;
/** The groups of checks in which no reply is lost. */
const LOSE_NONE: readonly (Check['group'] | undefined)[] = ['exceptions', 'connections'];

interface Running {
  readonly check: Check;
  readonly exam: Exam;
  readonly startedAt: number;
}

/** A check that has ended. */
interface Outcome {
  readonly running: Running;
  readonly ended: EndedCheck;
}

/** A check that has ended except for the next poll, which the next check may disturb. */
interface Owed extends Outcome {
  readonly isInTime: Promise<boolean>;
}

/** A check whose poll the client no longer sends. */
interface Stop extends Outcome {
  readonly stopped: StoppedPolls;
}

/**
 * A test of the client that polls a line. It watches the client first, and then runs one check after another,
 * with recovery between them. It always removes its faults at the end.
 */
export class ClientTest {
  readonly order: ClientTestOrder;
  readonly #client: WatchedClient;
  readonly #findings: Finding[] = [];
  /** What became of the client, as sentences: it crashed, or is gone. */
  readonly #fates: string[] = [];
  /** The checks after which the client may have been restarted, and how that was seen; parts of a sentence. */
  readonly #away: string[] = [];
  readonly #running = new Set<Running>();
  #owed: Owed | undefined;
  /** The checks that disturbed the client last. */
  #newest: readonly Check[] = [];
  /** True if the client exited or stopped sending a poll, and no check is to blame. */
  #isGone = false;
  /** When the first check began, and when the newest finding was made. */
  #begunAt: number | undefined;
  #foundAt = 0;

  constructor(bench: Simulator, order: ClientTestOrder, audience?: Audience, clock?: Clock) {
    this.order = { ...order, checks: runnable(order) };
    this.#client = new WatchedClient(bench, order, { audience, clock });
  }

  get isOver(): boolean {
    return this.#client.isOver;
  }

  /**
   * Informs the client test that the client program has exited.
   * @param how a sentence, with the last output on further lines
   */
  clientEnded(how: string): void {
    this.#client.clientEnded(how);
  }

  /** Stops the client test. Remaining checks are not run. */
  stop(): void {
    this.#client.stop('the client test was stopped');
  }

  /** Runs all checks, and resolves when they are done. It never throws because of the client. */
  async run(): Promise<Report> {
    let end = await this.#client.during(this.#runAll());
    // The next poll did not come, so it is unknown whether the client polls as before.
    this.#owed = undefined;
    for (const running of this.#running) this.#breakOff(running, this.#reason(end));
    const problem = await this.#client.leave();
    if (problem !== undefined) {
      end = { by: 'bench', text: problem };
      this.#fates.push(problem);
    }
    this.#sayDropped();
    const summary = `${this.#reason(end)}${end?.by === 'stop' || end?.by === 'limit' ? ' before' : ''}`;
    for (const [i, check] of this.#left().entries()) {
      this.#add(check, { verdict: i === 0 && end?.by === 'bench' ? 'error' : 'not run', summary }, 0);
    }
    this.#client.close();
    return this.report;
  }

  /** The report on what the client test has found so far. */
  get report(): Report {
    const fates = [...this.#fates, ...awayText(this.#away)];
    return clientTestReport(this.order, this.#client, {
      fates,
      findings: this.#findings,
      isGone: this.#isGone,
    });
  }

  /**
   * Names the polls that the client no longer sends although it sends others, and what it met at the last
   * request of each.
   */
  #sayDropped(): void {
    const { log, polls, clock, target } = this.#client;
    const [now, newest] = [clock.now(), log.newest()];
    const isRegular = ({ asked }: Poll) => asked.length * 2 >= (target?.asked.length ?? 0);
    if (now - (newest.at(-1)?.at ?? 0) > FEW_POLLS * (target?.periodMs ?? 0)) return;
    for (const { key, text, periodMs = 0 } of polls.filter(isRegular)) {
      const last = newest.findLast(({ poll }) => poll === key);
      if (
        newest.length === 0 ||
        now - (last?.at ?? newest[0]?.at ?? now) < Math.max(DROPPED_MS, 5 * periodMs)
      )
        continue;
      const spoilt = log.spoilt.find(({ seq }) => seq >= (last?.seq ?? 0)) ?? log.spoilt.at(-1);
      const met = this.order.checks.find(({ id }) => spoilt?.rule?.name.startsWith(`test-${id}-`));
      this.#fates.push(`the client no longer polls ${text}${met ? ` after ${met.what}` : ''}`);
      this.#isGone = true;
    }
  }

  /** The current activity; undefined after the end. */
  get doing(): Doing | undefined {
    const { clock, isOver, order, course } = this.#client;
    if (isOver) return undefined;
    const [on, ...others] = [...this.#running].filter(({ check }) => !isWatching(check));
    const more = this.#moreMs;
    const moreMs = more && Math.min(more, order.limitMs - course.durationMs);
    if (!on)
      return compact({ what: `${more === undefined ? 'watching' : 'waiting for'} the client`, moreMs });
    const { disturbedSince = Number.NEGATIVE_INFINITY } = on.exam;
    const leftMs = disturbedSince + (on.check.lastsMs ?? 0) - clock.now();
    return compact({
      what: [on, ...others].map(({ check }) => check.what).join(' and '),
      number: this.#findings.length + 1,
      of: this.order.checks.length,
      leftMs: leftMs > 0 ? leftMs : undefined,
      moreMs,
    });
  }

  /**
   * Estimated time for the remaining checks, in ms: the length of their disturbances, plus the average
   * overhead of the completed ones. Undefined until the first check begins.
   */
  get #moreMs(): number | undefined {
    const { clock, target } = this.#client;
    if (this.#begunAt === undefined) return undefined;
    const checks = this.order.checks.filter((check) => !isWatching(check));
    const left = this.#left().filter((check) => checks.includes(check));
    const lastingMs = (those: readonly Check[]) => those.reduce((sum, { lastsMs = 0 }) => sum + lastsMs, 0);
    const over = checks.length - left.length;
    const spentMs = this.#foundAt - this.#begunAt - (lastingMs(checks) - lastingMs(left));
    const eachMs = over === 0 ? POLLS_PER_CHECK * (target?.periodMs ?? 0) : Math.max(0, spentMs) / over;
    return Math.max(0, left.length * eachMs + lastingMs(left) - (clock.now() - this.#foundAt));
  }

  /** Why the client test ended, as a sentence; if its time ran out, also what made it slow. */
  #reason({ by, text }: End = { by: 'client', text: '' }): string {
    const { target, isWithoutRhythm } = this.#client;
    const uneven = target && unevenText(target);
    const { waitMs = 0, neverGivesUp } = this.#client.facts;
    const endless = neverGivesUp ? 'the client waits forever for each reply' : undefined;
    const goesOn = `the client takes ${durationText(Math.round(waitMs))} to continue after a request without a reply`;
    const slow = endless ?? (waitMs > SLOWEST_MS + (this.#client.target?.periodMs ?? 0) ? goesOn : undefined);
    const cause = isWithoutRhythm ? 'the client left its poll rhythm' : (slow ?? uneven);
    return by === 'limit' && cause !== undefined ? `${cause}, and ${text}` : text;
  }

  /**
   * Watches the client, and then runs all checks.
   * @returns why the remaining checks are not run; undefined if none remain
   */
  async #runAll(): Promise<End | undefined> {
    const client = this.#client;
    const watched = await watchClient(client);
    if ('refused' in watched) return { by: 'client', text: watched.refused };
    if ('crash' in watched) return this.#clientHasCrashed([], watched.crash);
    const { target } = watched;
    const needMs = this.order.checks.length * POLLS_PER_CHECK * (target.periodMs ?? 0);
    if (needMs > this.order.limitMs) {
      const every = durationText(Math.round(target.periodMs ?? 0));
      client.note(
        `a poll comes every ${every}, so all checks may take ${longDuration(needMs / 1000)}; checks that do not fit into ${durationText(this.order.limitMs)} (--limit) are not run`,
      );
    }
    this.#begunAt = client.clock.now();
    this.#foundAt = this.#begunAt;
    const watching = this.order.checks.filter(isWatching).map(async (check) => {
      const running = this.#begin(check, target, false);
      this.#finish(running, await runCheck(check, running.exam));
    });
    const disturbing = this.order.checks.filter((check) => !isWatching(check));
    const turns = inTurns(disturbing, this.order.seed, this.#targets.length);
    while (turns.length > 0) {
      const { waitMs = 0 } = client.facts;
      // If a lost reply costs the client a minute, the checks that lose no reply come first.
      const quick =
        waitMs > SLOWEST_MS + (this.#client.target?.periodMs ?? 0)
          ? turns.findIndex(([check]) => LOSE_NONE.includes(check?.group))
          : 0;
      const [turn = []] = turns.splice(Math.max(0, quick), 1);
      const end = await this.#takeTurn(turn);
      if (end) return end;
    }
    const end = await this.#settle();
    if (end) return end;
    await Promise.all(watching);
    return undefined;
  }

  /** The polls that can be disturbed, beginning with the one for a check that runs alone. */
  get #targets(): readonly Poll[] {
    const { values, target } = this.#client;
    if (!target) return [];
    return values ? [target] : sideBySide(this.#client, target);
  }

  /**
   * Runs one check, or several at the same time, each on its own poll. Of several, only a pass counts: a
   * check that did not pass runs again alone, unless the client has stopped.
   * @returns why the remaining checks are not run; undefined if they can run
   */
  async #takeTurn(turn: readonly Check[]): Promise<End | undefined> {
    if (!leavesPolls(turn.slice(0, this.#targets.length))) {
      const end = await this.#settle();
      if (end) return end;
    }
    const targets = this.#targets;
    const hadRhythm = !this.#client.isWithoutRhythm;
    const together = turn.slice(0, targets.length);
    const isBeside = together.length > 1;
    for (const { what, lastsMs = 0 } of together)
      if (lastsMs >= LONG_MS) this.#client.note(`now ${what}: this takes ${durationText(lastsMs)}`);
    const runs = together.map((check, i) => this.#begin(check, targets[i] as Poll, isBeside));
    const late = this.#owed
      ? [this.#owed.isInTime.then((isInTime) => (isInTime ? new Promise<never>(() => {}) : undefined))]
      : [];
    const outcomes = await Promise.race([
      Promise.all(
        runs.map(async (running) => ({ running, ended: await runCheck(running.check, running.exam) })),
      ),
      this.#client.crashed,
      ...late,
    ]);
    if (outcomes === undefined) {
      for (const running of runs) this.#drop(running);
      this.#client.rules.removeAll();
      return (await this.#settle()) ?? this.#takeTurn(turn);
    }
    if (hadRhythm && this.#client.isWithoutRhythm) this.#sayRhythm(targets[0] as Poll);
    this.#newest = together;
    const end = await (typeof outcomes === 'string'
      ? this.#clientHasCrashed(runs, outcomes)
      : this.#owes(outcomes)
        ? undefined
        : this.#judge(outcomes, isBeside));
    if (end) return end;
    const owed = this.#owed?.running.check;
    for (const check of this.#left().filter((each) => turn.includes(each) && each !== owed)) {
      const end = await this.#takeTurn([check]);
      if (end) return end;
    }
    return undefined;
  }

  /** True for a check that has ended except for the client's next poll. */
  #owes([outcome]: readonly Outcome[]): boolean {
    const { afterwards } = outcome?.ended ?? {};
    if (!outcome || !afterwards) return false;
    const owed = { ...outcome, isInTime: afterwards.isInTime() };
    this.#owed = owed;
    this.#client.rules.removeAll();
    void owed.isInTime.then((isPaid) => isPaid && this.#paid(owed));
    return true;
  }

  #paid(owed: Owed): void {
    if (this.#owed !== owed) return;
    this.#owed = undefined;
    this.#finish(owed.running, owed.ended, true);
    owed.running.exam.end();
    this.#running.delete(owed.running);
  }

  /**
   * Waits until it is known whether the client polls as usual after the last check. @returns why the
   * remaining checks are not run
   */
  async #settle(): Promise<End | undefined> {
    const owed = this.#owed;
    if (!owed) return undefined;
    const { running, ended, isInTime } = owed;
    const over = isInTime.then((isPaid) => (isPaid ? ended : (ended.afterwards?.later() ?? ended)));
    const final = await Promise.race([over, this.#client.crashed]);
    if (this.#owed !== owed) return undefined;
    this.#owed = undefined;
    if (typeof final === 'string') return this.#clientHasCrashed([running], final);
    return this.#judge([{ running, ended: final }], false);
  }

  /** Reports that the client has lost its rhythm, and since when: several checks may have run at the same time. */
  #sayRhythm({ key, text, periodMs = 0 }: Poll): void {
    const asked = this.#client.log.newest().filter(({ poll }) => poll === key);
    const nowMs = median(timesBetween(asked.slice(-FEW_POLLS)));
    const [now, before] = [nowMs, periodMs].map((ms) => durationText(Math.round(ms)));
    const since = this.#newest.map(({ what }) => what).join(' and ');
    if (since !== '' && Math.abs(nowMs - periodMs) > OTHER_RHYTHM * periodMs)
      this.#fates.push(
        `since ${since}, the client has polled ${text} every ${now} instead of every ${before}`,
      );
  }

  /**
   * Reports a failure at once if the check ran alone. Any other verdict counts only if the client still sends
   * the check's poll.
   */
  async #judge(outcomes: readonly Outcome[], isBeside: boolean): Promise<End | undefined> {
    const open: Outcome[] = [];
    for (const outcome of outcomes) {
      const { running, ended } = outcome;
      const isPassed = ended.verdict === 'pass' && (isBeside || !this.#client.isDisturbed);
      if (isPassed) this.#finish(running, ended);
      else open.push(outcome);
      if (ended.verdict === 'fail' && !isBeside) this.#finish(running, ended, true);
    }
    const looked = await Promise.race([
      Promise.all(open.map(async (each) => ({ ...each, stopped: await stoppedAfter(each.running.exam) }))),
      this.#client.crashed,
    ]);
    const runs = open.map(({ running }) => running);
    if (typeof looked === 'string') return this.#clientHasCrashed(runs, looked);
    const over = looked.flatMap(({ stopped, ...rest }) => (stopped ? [{ ...rest, stopped }] : []));
    if (over.length === 0 && !isBeside) for (const { running, ended } of open) this.#finish(running, ended);
    const end = over.length > 0 ? await this.#stopped(over) : undefined;
    for (const running of runs) this.#drop(running);
    this.#client.rules.removeAll();
    return end;
  }

  /**
   * Handles a client that has stopped sending the polls of some checks. If it sends nothing at all, the check
   * whose fault it met last fails; otherwise, each check fails whose poll is missing. A check that disturbed
   * nothing is not to blame.
   * @returns why the remaining checks are not run
   */
  async #stopped(over: readonly Stop[]): Promise<End | undefined> {
    const [all] = over.filter(({ stopped }) => stopped.what === 'everything');
    const [first] = over as [Stop, ...Stop[]];
    if (all && this.#client.facts.neverGivesUp) {
      for (const { running, ended } of over) this.#finish(running, ended);
      return this.#startAgain('the client waits forever for a reply, even on a new connection');
    }
    const met = metLast(over, ({ running }) => running);
    for (const { running, ended, stopped } of all ? met.slice(0, 1) : met) {
      const { what } = running.check;
      const text = `${ended.summary}; then the client ${stopped.text}`;
      // If the client is gone, the first line says what it met.
      const conclusion = all ? undefined : `${stopped.blame} after ${what}`;
      this.#finish(running, sure('wrong', text, ended.evidence, conclusion));
    }
    if (!all) return this.#turnTo(first);
    const [blamed] = met;
    const text = `sent no more requests ${blamed ? `after ${blamed.running.check.what}` : this.#undisturbed}`;
    this.#fates.push(`the client is gone: it ${text}`);
    if (blamed) return this.#startAgain(`the client ${text}`);
    this.#isGone = true;
    return { by: 'client', text: `the client ${text}` };
  }

  /** Continues with another poll that the client still sends. @returns why that is not possible */
  #turnTo({ running: { exam }, stopped }: Stop): End | undefined {
    const { log, values, order } = this.#client;
    const last = exam.askedAfter(0).at(-1)?.seq ?? 0;
    const polls = pollsIn(log.after(last));
    const target = targetOf(polls, order.unitId);
    if (!target || values) return { by: 'client', text: `the client ${stopped.text}` };
    this.#client.note(`the client ${stopped.text}; from now on the checks disturb ${target.text}`);
    this.#client.watched(polls, target);
    return undefined;
  }

  /** Describes what the client met last, if nothing has been disturbed since. */
  get #undisturbed(): string {
    const { log, clock } = this.#client;
    const last = log.spoilt.at(-1);
    const check = this.order.checks.find(({ id }) => last?.rule?.name.startsWith(`test-${id}-`));
    if (!last || !check) return 'although nothing was disturbed';
    return `although nothing was disturbed in the ${secondsSince({ clock }, last.at)} since ${check.what}`;
  }

  /**
   * Ends checks because the client program has exited. The check whose fault it met last fails; if nothing
   * was disturbed, none fails.
   */
  async #clientHasCrashed(runs: readonly Running[], how: string): Promise<End | undefined> {
    const owed = this.#owed;
    const [blamed] = metLast(owed ? [owed.running, ...runs] : runs, (running) => running);
    if (owed && blamed !== owed.running) this.#paid(owed);
    this.#owed = undefined;
    const { headline, text } = crashOf(how, blamed ? `after ${blamed.check.what}` : this.#undisturbed);
    this.#fates.push(headline);
    if (blamed) this.#finish(blamed, sure('wrong', text, this.#client.log.newest().slice(-LAST_FRAMES)));
    for (const running of owed ? [owed.running, ...runs] : runs) this.#drop(running);
    this.#client.rules.removeAll();
    if (blamed) return this.#startAgain('the client had exited');
    this.#isGone = true;
    return { by: 'client', text: 'the client had exited' };
  }

  /**
   * Restarts the client.
   * @returns why the remaining checks are not run, if the client could not be started
   */
  async #startAgain(text: string): Promise<End | undefined> {
    if (!this.order.restart) return { by: 'client', text };
    this.#client.note('restarting the client');
    const problem = await this.#client.restart();
    if (problem === undefined) return undefined;
    this.#fates.push(`the client could not be restarted: ${problem}`);
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
   * Adds the finding for a check, once.
   * @param goesOn true if the check still waits for the client
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

  /** Aborts a check, and keeps what its trials have shown so far. */
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
    this.#foundAt = this.#client.clock.now();
    this.#client.found(finding, this.#findings.length);
  }
}

function isWatching({ beside }: Check): boolean {
  return beside === 'watches';
}

/** Sorts the checks that disturbed the client, beginning with the one whose fault it met last. */
function metLast<Item>(items: readonly Item[], runningOf: (item: Item) => Running): Item[] {
  const seq = (item: Item) => runningOf(item).exam.lastMet?.seq ?? 0;
  return items.filter((item) => runningOf(item).exam.hasDisturbed).sort((a, b) => seq(b) - seq(a));
}

/** Says for all checks in one sentence that the client may have been restarted; empty if it never looked that way. */
function awayText([first, ...others]: readonly string[]): string[] {
  if (first === undefined) return [];
  const checks = others.length === 1 ? 'one more check' : `${others.length} more checks`;
  const more = others.length === 0 ? '' : `; the same in ${checks}`;
  return [`the client may have been restarted, or paused for longer than usual: ${first}${more}`];
}
