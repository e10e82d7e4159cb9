import { compact } from '../../common/compact.js';
import { seededRandom } from '../../common/random.js';
import { inSlices } from '../../common/work.js';
import type { Clock } from '../../modbus/transport/clock.js';
import type { Simulator } from '../../simulator/simulator.js';
import { decodeEvent } from '../../simulator/traffic/decode.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { framesOf } from '../client/client-test-report.js';
import type { Poll } from '../client/heard/exchange.js';
import { watchClient } from '../client/heard/watching.js';
import { Exam } from '../client/trial/exam.js';
import { crashOf, helpedByNewConnection } from '../client/trial/run-check.js';
import { type Audience, type End, WatchedClient } from '../client/watched-client.js';
import type { Doing } from '../doing.js';
import type { Report } from '../report/report.js';
import { groupOf, makingDeck, simplestOf } from './deck.js';
import { findingOf, fuzzReport, type KnownByNow, type SeenFailure } from './fuzz-report.js';
import { metIn } from './met.js';
import { afterRest, type FuzzOrder, kindsIn, type Move, moveText, type Schedule, stepOf } from './move.js';
import { RequestPace } from './pace.js';
import { type ClientFailure, Player } from './play.js';
import { NEEDED, type Plays, playsOf, shrunk } from './shrink.js';

interface PlayEnd {
  readonly failure: ClientFailure | undefined;
  /** Sequence numbers of the last event before the play, and of the last event in it. */
  readonly since: number;
  readonly last: number;
  /** The moves actually played: the client may have failed before the last one. */
  readonly schedule: Schedule;
  /** What the client met in each move; undefined if the replies were good. */
  readonly met: readonly (string | undefined)[];
}

/**
 * The result of reproducing a failure. `shown`: moves reproduce it. `by itself`: the client fails without any
 * move. `once`: it could not be reproduced. `stuck`: no more moves can be played.
 */
type Proof = 'shown' | 'by itself' | 'once' | 'stuck';

/** How many of the newest moves to replay if a schedule no longer reproduces its failure; the fewest first. */
const HISTORIES = [40, 160];
/** Number of moves between two notes. */
const NOTE_EVERY = 25;
/** After this many failures, another one shows nothing new. */
const MOST_SEEN = 20;
const TOO_MANY_SEEN: End = {
  by: 'client',
  text: `the client failed ${MOST_SEEN} times, so no more moves were tried`,
};
const NOTHING_LEFT: End = { by: 'client', text: 'the client fails on every kind of move' };
/** What a client does other than send requests. */
const DEEDS: readonly TrafficEvent['kind'][] = [
  'client',
  'client gone',
  'client rejected',
  'damaged',
  'discarded',
];
/** If a client does these without any move, its other failures can still be tested. */
const BEARABLE: readonly ClientFailure['kind'][] = ['bytes', 'value'];
/** Maximum length of a play without moves, in requests, before the shortest schedule is known. */
const LONGEST_WITHOUT = 60;
/** Maximum number of plays for shrinking. */
const MOST_SHRINKING = 400;

/**
 * Fuzzes the client that polls a line: plays schedules of random moves until it fails, and then looks for the
 * shortest schedule on which it fails again. It always removes its faults at the end.
 */
export class FuzzRun {
  readonly order: FuzzOrder;
  readonly #bench: Simulator;
  readonly #client: WatchedClient;
  #onEndless: (failure: ClientFailure) => void = () => {};
  #pace: RequestPace | undefined;
  #player: Player | undefined;
  #exam: Exam | undefined;
  readonly #known: KnownByNow = { moves: 0, plays: 0, seen: [], leftOut: [] };
  /** Kinds of the single moves that reproduced the newest failure. */
  #broke = new Set<string>();
  /** Failures that the client shows without any move, which are no findings. */
  readonly #usual = new Set<ClientFailure['kind']>();
  /** True if the client was restarted and nothing has been played since. */
  #isFresh = false;
  /** The current moves, and whether they replay a failure. */
  #played: Schedule = [];
  #isProving = false;

  constructor(bench: Simulator, order: FuzzOrder, audience?: Audience, clock?: Clock) {
    this.order = order;
    this.#bench = bench;
    const keepsClosed = () => this.#player?.isClosing ?? false;
    this.#client = new WatchedClient(bench, order, { audience, clock, keepsClosed });
  }

  get isOver(): boolean {
    return this.#client.isOver;
  }

  /** Records that the client program has exited. @param how a sentence, with the last output below */
  clientEnded(how: string): void {
    this.#client.clientEnded(how);
  }

  /** Stops the fuzz run. It keeps its findings. */
  stop(): void {
    this.#client.stop('it was stopped');
  }

  /** Fuzzes the client, and resolves at the end of the run. It never throws because of the client. */
  async run(): Promise<Report> {
    await this.#client.during(this.#runAll());
    this.#exam?.end();
    await this.#player?.clear();
    await this.#client.leave();
    this.#client.close();
    return this.report;
  }

  /** The report on the results so far. */
  get report(): Report {
    return fuzzReport(this.order, this.#client, this.#known);
  }

  /** The current move, and the client's last action; undefined after the end. */
  get doing(): Doing | undefined {
    const { clock, course, log, target } = this.#client;
    if (course.isOver) return undefined;
    const begun = this.#player?.begun ?? [];
    const move = this.#played[begun.length - 1];
    const isOn = move && begun.at(-1)?.until === undefined;
    const asked = log.newest().at(-1)?.request;
    const did = log.othersAfter(asked?.seq ?? 0).findLast(({ kind }) => DEEDS.includes(kind));
    const last = did ?? asked;
    const waits = `${target ? 'waiting for the usual polls of' : 'watching'} the client`;
    return compact({
      what: isOn ? `${this.#isProving ? 'again ' : ''}${moveText({ ...move, after: 0 })}` : waits,
      number: begun.length > 0 && !this.#isProving ? this.#known.moves + begun.length : undefined,
      last: last && {
        text: decodeEvent(last, (seq) => this.#bench.traffic.read(seq)).text,
        agoMs: clock.now() - last.at,
      },
      moreMs: target && this.order.limitMs - course.durationMs,
    });
  }

  async #runAll(): Promise<End | undefined> {
    const client = this.#client;
    const watched = await watchClient(client);
    if ('crash' in watched) client.refuse(`the client exited before the first move: ${watched.crash}`);
    if (!('target' in watched)) return undefined;
    this.#pace = RequestPace.of(client, watched.target, (text) => this.#onEndless({ kind: 'endless', text }));
    this.#player = new Player(this.#bench, client, this.#pace);
    const unusable = await client.values?.ready(this.#newExam());
    if (unusable !== undefined) client.note(`Values are not checked: ${unusable}.`);
    const { replay } = this.order;
    return replay ? this.#replay(replay) : this.#walk(watched.target);
  }

  /**
   * Plays schedules until the time is up or no moves are left, or until several moves together cause a
   * failure. A kind of move that breaks the client on its own is excluded from then on.
   */
  async #walk(target: Poll): Promise<End | undefined> {
    const { line, seed, unitId, observer, except = [], mostMoves = Number.POSITIVE_INFINITY } = this.order;
    const { line: about, polls } = this.#client;
    const played = { simulator: this.#bench, line, about, unitId, polls, target, showing: observer?.device };
    const newDeck = () => {
      const leftOut = new Set([...except, ...this.#known.leftOut]);
      return inSlices(makingDeck({ ...played, except: leftOut }, seed));
    };
    let deck = await newDeck();
    let history: Schedule = [];
    for (let number = 0; this.#known.moves < mostMoves; number++) {
      if (this.#client.course.whyEnded !== undefined) return undefined;
      if (!deck) return NOTHING_LEFT;
      const schedule = deck.schedule(number);
      const rested = this.#client.log.after(this.#client.disturbedUntil).length;
      const end = await this.#play(schedule);
      this.#known.moves += schedule.length;
      history = [...history, ...afterRest(end.schedule, rested)].slice(-Math.max(...HISTORIES));
      if (!end.failure) {
        this.#sayHowFar(schedule.length);
        continue;
      }
      this.#known.seen.push(this.#fuzzed(end, end.failure, { failed: 1, played: 1 }));
      this.#tell();
      if (!(await this.#isBack(end.failure))) return undefined;
      this.#isProving = true;
      const proof = await this.#prove(end.schedule, history, end.failure);
      this.#isProving = false;
      if (proof === 'stuck') return undefined;
      if (proof === 'by itself') {
        if (!BEARABLE.includes(end.failure.kind)) return undefined;
        this.#usual.add(end.failure.kind);
      }
      if (proof === 'shown') {
        if (!this.#leaveOut()) return undefined;
        deck = await newDeck();
      }
      if (this.#known.seen.length >= MOST_SEEN) return TOO_MANY_SEEN;
      history = [];
    }
    return undefined;
  }

  #sayHowFar(newMoves: number): void {
    const { moves, plays } = this.#known;
    if (Math.floor(moves / NOTE_EVERY) > Math.floor((moves - newMoves) / NOTE_EVERY))
      this.#client.note(`${moves} moves in ${plays} plays, no failure`);
  }

  /**
   * Excludes the kinds of a move that breaks the client on its own; the whole group if another kind in it has
   * done the same.
   * @returns false if the failure takes several moves, so that no kind is to blame
   */
  #leaveOut(): boolean {
    const { seen, leftOut } = this.#known;
    if (seen.at(-1)?.schedule.length !== 1) return false;
    const kinds = [...this.#broke].flatMap((kind) => {
      const group = groupOf(kind);
      return group.some((each) => leftOut.includes(each)) ? group : [kind];
    });
    const isNew = (kind: string) => !leftOut.includes(kind);
    const added = [...new Set(kinds)].filter(isNew);
    leftOut.push(...added);
    this.#client.note(`from now on without ${added.join(', ')}, to find other failures`);
    return true;
  }

  /** Plays one schedule until it is known whether the client fails in two of three plays. */
  async #replay(schedule: Schedule): Promise<undefined> {
    let plays: Plays = { failed: 0, played: 0 };
    while (plays.failed < NEEDED && plays.played - plays.failed < NEEDED) {
      if (plays.played > 0) await this.#refresh();
      const end = await this.#play(schedule);
      this.#known.moves += schedule.length;
      const failed = plays.failed + (end.failure ? 1 : 0);
      plays = { failed, played: plays.played + 1 };
      if (!end.failure) continue;
      this.#known.seen[0] = this.#fuzzed(end, end.failure, plays);
      this.#tell();
      if (failed < NEEDED && !(await this.#isBack(end.failure))) return undefined;
    }
    return undefined;
  }

  /** Reproduces a failure, and shrinks the schedule that causes it. */
  async #prove(schedule: Schedule, history: Schedule, { kind }: ClientFailure): Promise<Proof> {
    let isStuck = false;
    this.#broke = new Set();
    const playsFor = async (candidate: Schedule, before?: Plays) => {
      let latest: (PlayEnd & { failure: ClientFailure }) | undefined;
      const plays = await playsOf(async () => {
        if (isStuck) return false;
        await this.#refresh();
        const played = await this.#play(candidate);
        const { failure } = played;
        if (failure?.kind === kind) latest = { ...played, failure };
        if (failure && !(await this.#isBack(failure))) isStuck = true;
        return failure?.kind === kind;
      }, before);
      if (plays.failed < NEEDED) {
        if (before) this.#improve({ plays });
        return false;
      }
      const {
        schedule: [only, ...others],
      } = latest ?? { schedule: [] };
      if (only && others.length === 0) for (const each of kindsIn(only.does)) this.#broke.add(each);
      if (latest) this.#improve(this.#fuzzed(latest, latest.failure, plays));
      this.#tell();
      return true;
    };
    let shown = schedule;
    let isShown = await playsFor(schedule, { failed: 1, played: 1 });
    // Earlier moves may matter: an error counter, a leak.
    for (const length of HISTORIES) {
      if (isShown || isStuck || shown.length >= history.length) break;
      shown = history.slice(-length);
      isShown = await playsFor(shown);
    }
    if (isStuck) return 'stuck';
    if (!isShown) return 'once';
    const isShort = requestsIn(shown) <= LONGEST_WITHOUT;
    if (isShort && (await this.#failsWithoutMoves(kind))) return 'by itself';
    const deadline = this.#known.plays + MOST_SHRINKING;
    const fits = (candidate: Schedule) => candidate.every((move) => stepOf(move, this.#bench) !== undefined);
    const { except = [] } = this.order;
    const leftOut = new Set([...except, ...this.#known.leftOut]);
    await shrunk(
      this.#newest.schedule,
      simplestOf({ line: this.order.line, about: this.#client.line, except: leftOut }),
      async (candidate) => fits(candidate) && (await playsFor(candidate)),
      () => isStuck || this.#known.plays >= deadline,
    );
    if (isStuck) return 'stuck';
    this.#improve({ isShortest: true });
    return !isShort && (await this.#failsWithoutMoves(kind)) ? 'by itself' : 'shown';
  }

  /** Lets as many requests pass as the newest schedule has. A client that fails meanwhile does so without any move. */
  async #failsWithoutMoves(kind: ClientFailure['kind']): Promise<boolean> {
    const nothing = this.#newest.schedule.map((move): Move => ({ ...move, does: {} }));
    const without = await playsOf(async () => {
      await this.#refresh();
      const { failure } = await this.#play(nothing);
      return failure?.kind === kind && (await this.#isBack(failure));
    });
    this.#improve({ without });
    if (without.failed < NEEDED) return false;
    this.#tell();
    return true;
  }

  get #newest(): SeenFailure {
    return this.#known.seen.at(-1) as SeenFailure;
  }

  #improve(better: Partial<SeenFailure>): void {
    this.#known.seen[this.#known.seen.length - 1] = { ...this.#newest, ...better };
  }

  async #play(schedule: Schedule): Promise<PlayEnd> {
    const { log, crashed } = this.#client;
    const since = log.last;
    this.#isFresh = false;
    this.#played = schedule;
    this.#known.plays++;
    const endless = new Promise<ClientFailure>((resolve) => {
      this.#onEndless = resolve;
    });
    const exam = this.#newExam();
    const player = this.#player as Player;
    const seen = await Promise.race([
      player.play(exam, schedule, this.#usual),
      endless,
      crashed.then((how): ClientFailure => ({ kind: 'ended', text: crashOf(how).text })),
    ]);
    exam.end();
    exam.mark();
    await player.clear();
    const failure = seen && this.#usual.has(seen.kind) ? undefined : seen;
    const begun = schedule.slice(0, Math.max(1, player.begun.length));
    return { failure, since, last: log.last, schedule: failure ? begun : schedule, met: this.#met() };
  }

  /** What the client met in each move of the latest play. */
  #met(): (string | undefined)[] {
    const { log, polls } = this.#client;
    const begun = this.#player?.begun ?? [];
    const answered = new Set(polls.filter(({ isAnswered }) => isAnswered).map(({ key }) => key));
    return begun.map(({ since, until = log.last }) =>
      metIn(log.after(since).filter(({ seq, poll }) => seq <= until && answered.has(poll))),
    );
  }

  /**
   * Gets a failed client to poll again.
   * @returns false if no more moves can be played, because the client can't be restarted
   */
  async #isBack({ kind }: ClientFailure): Promise<boolean> {
    if (this.order.restart) return this.#isFresh || this.#startAgain();
    const exam = this.#newExam();
    this.#client.disturbed();
    const isWell = async () => (await exam.recover()) || helpedByNewConnection(exam);
    const hasCrashed = this.#client.crashed.then(() => false);
    const isThere = kind !== 'ended' && (await Promise.race([isWell(), hasCrashed]));
    exam.end();
    if (!isThere) this.#known.fate ??= 'the client did not recover and could not be restarted';
    return isThere;
  }

  /** Restarts the client unless nothing has been played since the last start. Does nothing if it can't be restarted. */
  async #refresh(): Promise<void> {
    if (this.order.restart && !this.#isFresh) await this.#startAgain();
  }

  /** @returns whether the client polls again */
  async #startAgain(): Promise<boolean> {
    let problem = await this.#client.restart();
    if (problem === undefined) {
      this.#pace?.reset();
      const exam = this.#newExam();
      const isThere = await Promise.race([exam.recover(), this.#client.crashed]);
      exam.end();
      if (isThere !== true) problem = isThere === false ? 'it did not poll as before' : isThere;
    }
    if (problem !== undefined) this.#known.fate ??= `the client could not be restarted: ${problem}`;
    this.#isFresh = true;
    return problem === undefined;
  }

  #newExam(): Exam {
    const random = seededRandom(this.order.seed, this.#known.plays);
    const target = this.#client.target as Poll;
    this.#exam = new Exam(this.#client, { name: 'fuzz', random, target });
    return this.#exam;
  }

  #fuzzed(end: PlayEnd, failure: ClientFailure, plays: Plays): SeenFailure {
    const { schedule, met, since, last } = end;
    const { log } = this.#client;
    const heard = [...log.after(since), ...log.othersAfter(since)].filter(({ seq }) => seq <= last);
    return { schedule, met, failure, plays, frames: framesOf(heard), since, last };
  }

  #tell(): void {
    const { length } = this.#known.seen;
    this.#client.found(findingOf(this.#newest, length), length);
  }
}

/** The length of a schedule, in requests. */
function requestsIn(schedule: Schedule): number {
  return schedule.reduce((sum, { after, requests }) => sum + after + requests, 0);
}
