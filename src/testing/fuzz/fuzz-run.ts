import { seededRandom } from '../../common/random.js';
import { failure } from '../../common/result.js';
import type { Work } from '../../common/work.js';
import { type Clock, systemClock } from '../../modbus/transport/clock.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { framesOf } from '../client/client-test-report.js';
import type { Question } from '../client/heard/exchange.js';
import { ExchangeLog, Waits } from '../client/heard/log.js';
import { watchClient } from '../client/heard/watching.js';
import { Exam, type TestedClient } from '../client/trial/exam.js';
import { OwnRules } from '../client/trial/rules.js';
import { crashOf, helpedByNewConnection } from '../client/trial/run-check.js';
import { ValueOracle } from '../client/trial/values.js';
import { Lateness } from '../lateness.js';
import type { Finding, Report } from '../report/report.js';
import { durationText } from '../report/words.js';
import { closedText, isRequest, lastReplies, Outage, polledLine } from '../tested-line.js';
import { makingDeck, simplestOf } from './deck.js';
import { findingOf, fuzzReport, type SeenFailure } from './fuzz-report.js';
import { type FuzzOrder, type Move, type Schedule, stepOf } from './move.js';
import { AskingPace, type ClientFailure, Player } from './play.js';
import { NEEDED, type Plays, playsOf, shrunk } from './shrink.js';

/** Callbacks for a follower of a fuzz run. */
export interface FuzzAudience {
  /** Called when a failure is known, and with each shorter schedule that shows it. */
  readonly found?: (finding: Finding, number: number) => void;
  /** Called with a sentence that says how far the fuzz run has come. */
  readonly note?: (text: string) => void;
}

/** How one play of a schedule ended. */
interface PlayEnd {
  readonly failure: ClientFailure | undefined;
  /** Sequence numbers of the last event before the play, and of its last event. */
  readonly since: number;
  readonly last: number;
}

/** How many of the newest moves are played, the fewest first, if a schedule shows its failure no more. */
const HISTORIES = [40, 160];
/** The longest rest between two schedules of such a play, in requests. */
const LONGEST_REST = 30;
/** How many moves pass between two notes. */
const NOTE_EVERY = 50;
/** After this many failures that could not be shown again, another one says nothing new. */
const MOST_SEEN = 20;
/** Shrinking takes at most this many plays. */
const MOST_SHRINKING = 400;

/**
 * Fuzzes the client that polls a line: plays schedules of random moves until it fails, and then looks for the
 * shortest schedule on which it fails again. Whatever happens, it takes its faults away in the end.
 */
export class FuzzRun {
  readonly order: FuzzOrder;
  readonly startedAt = Date.now();
  readonly #bench: Simulator;
  readonly #clock: Clock;
  readonly #audience: FuzzAudience;
  readonly #begun: number;
  readonly #log: ExchangeLog;
  readonly #rules: OwnRules;
  readonly #waits: Waits;
  readonly #unsubscribe: () => void;
  readonly #client: TestedClient;
  readonly #ended: Promise<string>;
  #end: (why: string) => void = () => {};
  #whyEnded: string | undefined;
  #crashed: Promise<string> = new Promise(() => {});
  #crash: (how: string) => void = () => {};
  #endless: Promise<ClientFailure> = new Promise(() => {});
  #onEndless: (failure: ClientFailure) => void = () => {};
  #target: Question | undefined;
  #pace: AskingPace | undefined;
  #player: Player | undefined;
  #exam: Exam | undefined;
  #plays = 0;
  #moves = 0;
  readonly #seen: SeenFailure[] = [];
  #refusal: string | undefined;
  #fate: string | undefined;
  /** True when the client was started again and nothing was played since. */
  #isFresh = false;
  #endedAt: number | undefined;
  #isStopped = false;

  constructor(bench: Simulator, order: FuzzOrder, audience: FuzzAudience = {}, clock = systemClock) {
    this.order = order;
    this.#bench = bench;
    this.#clock = clock;
    this.#audience = audience;
    this.#begun = clock.now();
    this.#rules = new OwnRules(bench.faults.rules);
    this.#log = new ExchangeLog(() => undefined);
    this.#waits = new Waits(clock, this.#log);
    this.#client = {
      clock,
      line: polledLine(order.line),
      simulated: order.line,
      unitId: order.unitId,
      log: this.#log,
      found: {},
      rules: this.#rules,
      outage: new Outage(order.line, bench, (text) => this.#end(text)),
      lateness: new Lateness(clock),
      note: (text) => audience.note?.(text),
      values: order.observer && new ValueOracle(order.observer),
      questions: [],
      isWithoutRhythm: false,
      isDisturbed: false,
      disturbedUntil: 0,
    };
    this.#ended = new Promise((resolve) => {
      this.#end = (why) => {
        this.#whyEnded ??= why;
        resolve(why);
      };
    });
    this.#awaitCrash();
    this.#unsubscribe = bench.traffic.subscribe((event) => this.#hear(event));
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** Tells that the program of the client has ended. @param how a sentence, with the last output below */
  clientEnded(how: string): void {
    this.#crash(how);
  }

  /** Ends the fuzz run. What it has found by then stays. */
  stop(): void {
    this.#isStopped ||= !this.isOver;
    this.#end('it was stopped');
  }

  /** Fuzzes the client and resolves when that is over. It never throws for what the client does. */
  async run(): Promise<Report> {
    const { limitMs } = this.order;
    const callOff = this.#clock.callAfter(limitMs, () =>
      this.#end(`the limit of ${durationText(limitMs)} was reached`),
    );
    await Promise.race([this.#ended, this.#runAll()]);
    callOff();
    this.#waits.end();
    this.#exam?.end();
    await this.#player?.clear();
    this.#rules.removeAll();
    await lastReplies(this.#clock);
    this.#unsubscribe();
    this.#endedAt = this.#clock.now();
    return this.report;
  }

  /** The report on what is known by now. */
  get report(): Report {
    return fuzzReport(this.order, this.#bench, {
      startedAt: this.startedAt,
      durationMs: (this.#endedAt ?? this.#clock.now()) - this.#begun,
      isOver: this.isOver,
      isStopped: this.#isStopped,
      whyEnded: this.#whyEnded,
      refusal: this.#refusal,
      fate: this.#fate,
      moves: this.#moves,
      plays: this.#plays,
      seen: this.#seen,
      target: this.#target,
      questions: this.#client.questions,
    });
  }

  async #runAll(): Promise<void> {
    const { limitMs, replay } = this.order;
    const client = this.#client;
    const crashed = this.#crashed.then((how) => failure(`the client ended before anything was done: ${how}`));
    const watched = await Promise.race([watchClient({ ...client, waits: this.#waits, limitMs }), crashed]);
    if (!watched.ok) {
      this.#refusal = watched.error;
      return;
    }
    const { target, questions } = watched.value;
    this.#target = target;
    client.questions = questions;
    this.#log.usualUntil = this.#log.last;
    this.#pace = this.#paceOf(target);
    this.#player = new Player(this.#bench, client, this.#pace);
    const unusable = await client.values?.ready(this.#newExam());
    if (unusable !== undefined) client.note(`Values are not looked at: ${unusable}.`);
    if (replay) await this.#replay(replay);
    else await this.#walk(target);
  }

  /** Plays drawn schedules until the client fails, or until there is no more time or are no more moves. */
  async #walk(target: Question): Promise<void> {
    const { line, seed, unitId, observer, mostMoves = Number.POSITIVE_INFINITY } = this.order;
    const about = this.#client.line;
    const { questions } = this.#client;
    const showing = observer?.device;
    const played = { simulator: this.#bench, line, about, unitId, questions, target, showing };
    const deck = await this.#inTurns(makingDeck(played, seed));
    if (this.#whyEnded !== undefined) return;
    let history: Schedule = [];
    for (let number = 0; this.#moves < mostMoves; number++) {
      const schedule = deck.schedule(number);
      const rested = this.#log.after(this.#client.disturbedUntil).length;
      const end = await this.#play(schedule);
      this.#moves += schedule.length;
      history = [...history, ...rests(schedule, rested)].slice(-Math.max(...HISTORIES));
      if (!end.failure) {
        if (Math.floor(this.#moves / NOTE_EVERY) > Math.floor((this.#moves - schedule.length) / NOTE_EVERY))
          this.#audience.note?.(`${this.#moves} moves in ${this.#plays} plays, the client is well`);
        continue;
      }
      this.#seen.push(this.#fuzzed(schedule, end, end.failure, { failed: 1, played: 1 }));
      this.#tell();
      if (!(await this.#isBack(end.failure))) return;
      if (await this.#prove(schedule, history, end)) return;
      if (this.#seen.length >= MOST_SEEN) return this.#end('too many failures could not be shown again');
      history = [];
    }
  }

  /** Does work in turns of the event loop, by the clock of the fuzz run, so that lines are served in between. */
  async #inTurns<Result>(work: Work<Result>): Promise<Result> {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      await new Promise<void>((resolve) => this.#clock.callAfter(0, resolve));
    }
  }

  /** Plays one schedule until it is known whether the client fails in two of three plays. */
  async #replay(schedule: Schedule): Promise<void> {
    let plays: Plays = { failed: 0, played: 0 };
    while (plays.failed < NEEDED && plays.played - plays.failed < NEEDED) {
      if (this.order.restart && plays.played > 0 && !this.#isFresh) await this.#startAgain();
      const end = await this.#play(schedule);
      this.#moves += schedule.length;
      const failed = plays.failed + (end.failure ? 1 : 0);
      plays = { failed, played: plays.played + 1 };
      if (!end.failure) continue;
      this.#seen[0] = this.#fuzzed(schedule, end, end.failure, plays);
      this.#tell();
      if (failed < NEEDED && !(await this.#isBack(end.failure))) return;
    }
  }

  /**
   * Shows a failure again, and shrinks the schedule that shows it.
   * @returns false when it could not be shown again
   */
  async #prove(schedule: Schedule, history: Schedule, end: PlayEnd): Promise<boolean> {
    const { kind } = end.failure as ClientFailure;
    let isStuck = false;
    const playsFor = async (candidate: Schedule, before?: Plays) => {
      let latest: (PlayEnd & { failure: ClientFailure }) | undefined;
      const plays = await playsOf(async () => {
        if (isStuck) return false;
        if (this.order.restart && !this.#isFresh) await this.#startAgain();
        const played = await this.#play(candidate);
        const { failure } = played;
        if (failure?.kind === kind) latest = { ...played, failure };
        if (failure && !(await this.#isBack(failure))) isStuck = true;
        return failure?.kind === kind;
      }, before);
      const known = this.#seen.at(-1);
      if (plays.failed < NEEDED) {
        if (known?.schedule === candidate) this.#seen[this.#seen.length - 1] = { ...known, plays };
        return false;
      }
      if (latest) this.#seen[this.#seen.length - 1] = this.#fuzzed(candidate, latest, latest.failure, plays);
      this.#tell();
      return true;
    };
    let shown = schedule;
    let isShown = await playsFor(schedule, { failed: 1, played: 1 });
    // What came before may count: an error counter, a leak.
    for (const length of HISTORIES) {
      if (isShown || isStuck || shown.length >= history.length) break;
      shown = history.slice(-length);
      isShown = await playsFor(shown);
    }
    if (!isShown) return isStuck;
    const deadline = this.#plays + MOST_SHRINKING;
    const fits = (candidate: Schedule) => candidate.every((move) => stepOf(move, this.#bench) !== undefined);
    await shrunk(
      shown,
      simplestOf({ line: this.order.line, about: this.#client.line }),
      async (candidate) => fits(candidate) && (await playsFor(candidate)),
      () => isStuck || this.#plays >= deadline,
    );
    if (!isStuck) await this.#playWithoutMoves(kind);
    return true;
  }

  /** Lets as many requests pass as the shortest schedule lasts: a client that fails then fails by itself. */
  async #playWithoutMoves(kind: ClientFailure['kind']): Promise<void> {
    const shown = this.#seen.at(-1) as SeenFailure;
    const nothing = shown.schedule.map((move): Move => ({ ...move, does: {} }));
    const without = await playsOf(async () => {
      if (this.order.restart && !this.#isFresh) await this.#startAgain();
      const { failure } = await this.#play(nothing);
      return failure?.kind === kind && (await this.#isBack(failure));
    });
    this.#seen[this.#seen.length - 1] = { ...shown, without };
    if (without.failed >= NEEDED) this.#tell();
  }

  async #play(schedule: Schedule): Promise<PlayEnd> {
    const since = this.#log.last;
    this.#isFresh = false;
    this.#awaitEndless();
    this.#plays++;
    const exam = this.#newExam();
    const player = this.#player as Player;
    const failure = await Promise.race([
      player.play(exam, schedule),
      this.#endless,
      this.#crashed.then((how): ClientFailure => ({ kind: 'ended', text: crashOf(how).text })),
    ]);
    exam.end();
    exam.mark();
    await player.clear();
    return { failure, since, last: this.#log.last };
  }

  /**
   * Brings a client back that has failed.
   * @returns false when nothing more can be played, because nobody can start it again
   */
  async #isBack({ kind }: ClientFailure): Promise<boolean> {
    if (this.order.restart) return this.#isFresh || this.#startAgain();
    const exam = this.#newExam();
    this.#client.disturbedUntil = this.#log.last;
    const isThere = kind !== 'ended' && (await Promise.race([isWell(exam), this.#crashed.then(() => false)]));
    exam.end();
    if (!isThere) this.#fate ??= 'the client did not come back, and nobody could start it again';
    return isThere;
  }

  /** @returns whether the client polls again */
  async #startAgain(): Promise<boolean> {
    this.#awaitCrash();
    const problem = (await this.order.restart?.()) ?? (await this.#polls());
    if (problem !== undefined) this.#fate ??= `the client could not be started again: ${problem}`;
    this.#isFresh = true;
    return problem === undefined;
  }

  /** Waits for a client that was just started. @returns why it can't be used, as a sentence */
  async #polls(): Promise<string | undefined> {
    this.#pace?.reset();
    this.#client.disturbedUntil = this.#log.last;
    const exam = this.#newExam();
    const isThere = await Promise.race([exam.recover(), this.#crashed]);
    exam.end();
    if (isThere === true) return undefined;
    return isThere === false ? 'it did not poll as before' : isThere;
  }

  #newExam(): Exam {
    const random = seededRandom(this.order.seed, this.#plays);
    const exam = new Exam(this.#client, {
      name: 'fuzz',
      random,
      target: this.#target as Question,
      isBeside: false,
    });
    this.#exam = exam;
    return exam;
  }

  /** Describes a failure for the report. */
  #fuzzed(schedule: Schedule, { since, last }: PlayEnd, failure: ClientFailure, plays: Plays): SeenFailure {
    const exchanges = this.#log.after(since).filter(({ seq }) => seq <= last);
    const others = this.#log.othersAfter(since).filter(({ seq }) => seq <= last);
    return { schedule, failure, plays, frames: framesOf([...exchanges, ...others]), since, last };
  }

  /** Tells the followers of the newest failure. */
  #tell(): void {
    const number = this.#seen.length;
    const newest = this.#seen.at(-1);
    if (newest) this.#audience.found?.(findingOf(newest, number), number);
  }

  #paceOf(target: Question): AskingPace {
    const heard = this.#log.newest();
    const gaps = heard.slice(1).map(({ at }, i) => at - (heard[i]?.at ?? at));
    const ms = (heard.at(-1)?.at ?? 0) - (heard[0]?.at ?? 0);
    const requestsPerMs = (heard.length - 1) / Math.max(1, ms);
    const periodMs = target.periodMs ?? 0;
    return new AskingPace({ periodMs, requestsPerMs }, Math.max(0, ...gaps), (requests, lasted) => {
      const text = `asked without end: ${requests} times in ${durationText(Math.round(lasted))}`;
      this.#onEndless({ kind: 'endless', text });
    });
  }

  #awaitCrash(): void {
    this.#crashed = new Promise((resolve) => {
      this.#crash = resolve;
    });
  }

  #awaitEndless(): void {
    this.#endless = new Promise((resolve) => {
      this.#onEndless = resolve;
    });
  }

  #hear(event: TrafficEvent): void {
    if (event.line !== this.order.line.name) return;
    this.#log.add(event);
    if (isRequest(event)) this.#pace?.add(event.at, this.#log.after(event.seq - 1)[0]?.question ?? '');
    const closed = closedText(event);
    if (closed !== undefined && !this.#player?.isClosing) this.#end(closed);
  }
}

/** The schedule with a rest before it, in requests. Some mistakes show only after the client was well. */
function rests([first, ...others]: Schedule, requests: number): Schedule {
  return first ? [{ ...first, after: first.after + Math.min(requests, LONGEST_REST) }, ...others] : [];
}

/** Waits for the client to poll as before, and helps it with a new connection if it does not. */
async function isWell(exam: Exam): Promise<boolean> {
  return (await exam.recover()) || helpedByNewConnection(exam);
}
