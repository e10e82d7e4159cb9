import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { sentFrames } from '../../modbus/protocol/reply-plan.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { settle, watchValues } from '../client/checks/real-world.js';
import { timesBetween } from '../client/heard/exchange.js';
import type { Exam } from '../client/trial/exam.js';
import type { ValueOracle } from '../client/trial/values.js';
import type { WatchedClient } from '../client/watched-client.js';
import { durationText } from '../report/words.js';
import { Actions } from '../scenario/actions.js';
import type { ScenarioStep } from '../scenario/scenario.js';
import { pduOf } from '../tested-line.js';
import { median } from '../times.js';
import { closedMs, type Move, type Schedule, stepOf } from './move.js';
import type { RequestPace } from './pace.js';

/**
 * A client behaviour that no device may cause. `ended`: its program exited. `gone`: it sends nothing more.
 * `endless`: it sends far more requests than usual, without a pause. `bytes`: it sends bytes that are not a
 * request. `value`: it has a value that no reply carried. `astray`: it sends requests, but no longer its
 * usual polling cycle.
 */
export interface ClientFailure {
  readonly kind: 'ended' | 'gone' | 'endless' | 'bytes' | 'value' | 'astray';
  readonly text: string;
}

/**
 * A client is gone if it sends nothing, and astray if it sends requests but not as usual, for this many ms,
 * this many poll periods, or this many times the longest silence that it ended on its own, whichever is
 * longest. Seeing a failure again takes less time than seeing it first.
 */
const FIRST = { goneMs: 60_000, astrayMs: 60_000 };
const AGAIN = { goneMs: 30_000, astrayMs: 15_000 };
const PERIODS = 40;
const PAUSES = 3;
/** How long a move waits for requests from a silent client, in ms and in poll periods. */
const PATIENCE_MS = 5_000;
const LONGEST_PATIENCE_MS = 30_000;
const PATIENCE_PERIODS = 10;

/**
 * A client polls more slowly than before if each of its newest intervals exceeds the usual one by this factor
 * and this many ms.
 */
const SLOWER = 1.2;
const SLOWER_MS = 10;
const INTERVALS = 2;

const DEAF: ClientFailure = { kind: 'value', text: 'no longer shows the values of good replies' };

/** A move that has begun: the sequence numbers of the event before it and, if it has ended, of its last event. */
interface Begun {
  readonly since: number;
  until?: number;
}

/** Plays schedules on a line, and judges the client's behaviour. */
export class Player {
  readonly #simulator: Simulator;
  readonly #client: WatchedClient;
  readonly #actions: Actions;
  readonly #pace: RequestPace;
  #step: ScenarioStep | undefined;
  #begun: Begun[] = [];
  /** How long this client must be silent, or astray. */
  #limits = FIRST;

  constructor(simulator: Simulator, client: WatchedClient, pace: RequestPace) {
    this.#simulator = simulator;
    this.#client = client;
    this.#actions = new Actions(simulator);
    this.#pace = pace;
  }

  /**
   * Plays moves, and waits for the client to poll as before.
   * @param usual failures that the client shows without any move; they do not hide others
   * @returns what the client did wrong; undefined if it did nothing unusual
   */
  async play(
    exam: Exam,
    schedule: Schedule,
    usual: ReadonlySet<ClientFailure['kind']>,
  ): Promise<ClientFailure | undefined> {
    const client = this.#client;
    const mark = await settle(exam);
    // The client may have stopped accepting replies after the previous play was judged.
    const isDoubtful = mark === undefined && client.values?.isUsable === true && (await exam.recover());
    if (isDoubtful && !(await showsGoodReplies(exam, client.values as ValueOracle))) return DEAF;
    const { last: since } = exam.log;
    const observer = client.values && mark !== undefined && watchValues(exam, client.values, mark);
    client.disturb();
    this.#begun = [];
    for (const move of schedule) {
      const begins = await this.#asks(exam, move.after);
      if (!begins) break;
      const begun: Begun = { since: exam.log.last };
      this.#begun.push(begun);
      await this.#make(exam, move);
      begun.until = exam.log.last;
    }
    client.disturbed();
    const seen = (await this.#comesBack(exam)) ?? sentBytes(exam, since);
    const failure = seen && usual.has(seen.kind) ? undefined : seen;
    const wrong = observer && (await observer());
    exam.mark();
    if (failure || !observer || !client.values) return failure;
    if (wrong !== undefined && !isOtherValue(exam, since))
      return { kind: 'value', text: `showed ${JSON.stringify(wrong)}, which no reply carried` };
    if (await showsGoodReplies(exam, client.values)) return undefined;
    return DEAF;
  }

  /** The moves of the latest play that have begun. */
  get begun(): readonly Begun[] {
    return this.#begun;
  }

  /** True while a move has closed the line. */
  get isClosing(): boolean {
    return this.#actions.keepsClosed(this.#client.line.name);
  }

  /** Ends effects of a move that would otherwise continue. */
  async clear(): Promise<void> {
    this.#actions.endStep();
    await this.#actions.changing;
    for (const { device } of this.#step?.power ?? []) device.restore(0);
    this.#step = undefined;
  }

  async #make(exam: Exam, move: Move): Promise<void> {
    const step = stepOf(move, this.#simulator);
    if (!step) return;
    this.#step = step;
    if (this.#actions.begin(step) !== undefined) return this.clear();
    await this.#actions.changing;
    // No request can come on a closed line.
    if (this.isClosing) await exam.watch(closedMs(move.requests, exam.periodMs));
    else await this.#asks(exam, move.requests);
    // The requests may come this fast because the client sends them endlessly. If so, the move continues
    // until that is known.
    const { clock } = exam;
    const isOver = () => !this.#pace.isRacing(clock.now()) || undefined;
    for (let waited = 0; !isOver() && waited < this.#pace.endlessMs; waited += exam.periodMs || 1)
      await exam.watch(exam.periodMs || 1);
    await this.clear();
  }

  /**
   * Waits for requests of the client.
   * @returns false if it sends nothing for longer than usual
   */
  async #asks(exam: Exam, requests: number): Promise<boolean> {
    const { log, periodMs } = exam;
    const pauses = Math.max(PATIENCE_PERIODS * periodMs, PAUSES * this.#pace.longestMs, PATIENCE_MS);
    const patience = Math.min(LONGEST_PATIENCE_MS, pauses);
    for (let left = requests; left > 0; left--) {
      const { last } = log;
      if (!(await exam.until(() => log.after(last)[0], patience))) return false;
    }
    return true;
  }

  /** Waits for the client's usual polling cycle. @returns what the client does instead; undefined if the cycle came */
  async #comesBack(exam: Exam): Promise<ClientFailure | undefined> {
    const { clock, log, periodMs } = exam;
    const since = log.last;
    const begin = clock.now();
    const longestOf = (leastMs: number) =>
      Math.max(leastMs, PERIODS * periodMs, PAUSES * this.#pace.longestMs);
    const [goneMs, astrayMs] = [longestOf(this.#limits.goneMs), longestOf(this.#limits.astrayMs)];
    for (;;) {
      if (await exam.recover(1 + INTERVALS, astrayMs / 2)) {
        // A client that sends requests endlessly also sends its usual ones, and soon.
        if (clock.now() - begin < periodMs) await exam.watch(periodMs);
        while (this.#pace.isRacing(clock.now())) await exam.watch(periodMs || 1);
        if (!isSlower(exam)) return undefined;
        await exam.watch(periodMs);
      }
      const asked = log.after(since);
      const silent = clock.now() - (log.newest().at(-1)?.at ?? begin);
      const isGone = silent >= goneMs;
      if (!isGone && (silent > astrayMs / 2 || clock.now() - begin < astrayMs)) continue;
      this.#limits = AGAIN;
      if (!isGone) return { kind: 'astray', text: astrayText(exam, since) };
      const more = asked.length === 0 ? '' : `sent ${asked.length} more requests, then `;
      return {
        kind: 'gone',
        text: `${more}sent nothing for ${durationText(Math.round(silent / 1000) * 1000)}`,
      };
    }
  }
}

/** True if the client polls more slowly than it ever did while it was watched. */
function isSlower(exam: Exam): boolean {
  const { client, target, periodMs } = exam;
  const newest = exam.askedAfter(client.disturbedUntil).slice(-1 - INTERVALS);
  if (newest.length <= INTERVALS) return false;
  const late = client.lateness.between(newest[0]?.at ?? 0);
  const most = Math.max(SLOWER * periodMs, ...target.intervals) + Math.max(SLOWER_MS, late);
  return timesBetween(newest).every((ms) => ms > most);
}

/** Describes the requests of a client that does not return to its usual polling cycle. */
function astrayText({ log, client, target }: Exam, since: number): string {
  const asked = log.after(since);
  const missing = client.polls.filter(
    (each) => each.asked.length * 2 >= target.asked.length && !asked.some(({ poll }) => poll === each.key),
  );
  if (missing.length > 0) return `never sent ${missing.map(({ text }) => text).join(', ')} again`;
  const times = asked.filter(({ poll }) => poll === target.key).map(({ at }) => at);
  const interval = Math.round(median(times.slice(1).map((at, i) => at - (times[i] ?? at))));
  const before = Math.round(target.periodMs ?? 0);
  return Number.isNaN(interval)
    ? `did not return to its usual polls`
    : `did not return to its usual rhythm: it polls every ${durationText(interval)} instead of every ${durationText(before)}`;
}

/** Reports whether the observer shows a new value that good replies carry; it has two chances. */
async function showsGoodReplies(exam: Exam, values: ValueOracle): Promise<boolean> {
  const [, value] = values.threeMarks();
  const isShown = (await values.settles(exam, value)) || (await values.settles(exam, value));
  exam.mark();
  return isShown;
}

/** The client's bytes that are not a request; undefined if there are none. */
function sentBytes({ log }: Exam, since: number): ClientFailure | undefined {
  const damaged = log.othersAfter(since).filter(isNoRequest);
  if (damaged.length === 0) return undefined;
  const times = damaged.length === 1 ? 'once' : `${damaged.length} times`;
  return { kind: 'bytes', text: `sent bytes that are not a request, ${times}` };
}

function isNoRequest(event: TrafficEvent): boolean {
  const isNoFrame = event.kind === 'damaged' || event.kind === 'discarded';
  return isNoFrame || (event.kind === 'client rejected' && event.reason === 'protocol');
}

/**
 * True if a reply carried a value different from the last good one for the same request, in a frame that any
 * client may accept. Without a check value, a client accepts whatever is in the place of a frame, even in
 * damaged replies. Unsolicited bytes may be any reply.
 */
function isOtherValue({ log, client }: Exam, since: number): boolean {
  if (log.othersAfter(since).some(({ kind }) => kind === 'unsolicited')) return true;
  const replies = log.after(since).flatMap(({ poll, reply }) => (reply ? [{ poll, reply }] : []));
  const good = new Map(
    replies.flatMap(({ poll, reply }) => {
      const pdu = pduOf(reply);
      return pdu ? [[poll, pdu]] : [];
    }),
  );
  return replies.some(({ poll, reply: { plan, report, framing } }) =>
    sentFrames(plan, report).some((frame) => {
      const pdu = framing.decode(frame)?.pdu;
      if (!pdu) return client.line.framing === 'socket';
      const marked = good.get(poll);
      const isData = ((pdu[0] as number) & EXCEPTION_FLAG) === 0;
      return isData && marked !== undefined && Buffer.compare(pdu, marked) !== 0;
    }),
  );
}
