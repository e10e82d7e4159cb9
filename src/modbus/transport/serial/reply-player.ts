import { notReached, type StepReport, stepsOf } from '../../protocol/reply-plan.js';
import type { Clock } from '../clock.js';
import type { WhenBusy } from '../settings.js';
import type { LineReply, TimedBytes } from '../transport.js';
import { type Arrival, asOnWire, type ReplyTiming } from './behaviour.js';
import { StepRunner, type StepRunnerOptions } from './step-runner.js';

/** What the player needs to know about received bytes. */
interface Listening {
  /** True if there are bytes that may still become a frame. */
  readonly busy: boolean;
  readonly lastAt: number;
}

export interface ReplyPlayerOptions extends StepRunnerOptions {
  readonly timing: ReplyTiming;
  readonly listening: Listening;
  readonly arrival: Arrival;
  readonly whenBusy: WhenBusy;
}

/** Maximum number of waiting replies, so that a client that floods the line does not fill the memory. */
const MAX_QUEUE = 256;

interface Pending {
  readonly request: TimedBytes;
  /** When the player got the reply, in ms of the clock. */
  readonly addedAt: number;
  readonly reply: LineReply;
}

/**
 * Sends replies on a half-duplex line, one at a time.
 *
 * With `replace`, a new request cancels the pending reply, as on a real device. A client that sends again has
 * given up waiting, and would take a late reply for the answer to its new request. Requests without t3.5
 * between them were merged on the way, so all of them are answered, in order.
 *
 * `queue` answers every request. With `drop`, the line must not execute requests that arrive too early.
 */
export class ReplyPlayer {
  readonly #clock: Clock;
  #options: ReplyPlayerOptions;
  readonly #runner: StepRunner;
  readonly #queue: Pending[] = [];
  #cancelTimer: (() => void) | undefined;
  /** True if the first reply could begin, but bytes arrived that may become a frame. `listened` lets it begin. */
  #waitsForFrame = false;

  constructor(options: ReplyPlayerOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#runner = new StepRunner(options, clock);
  }

  /** Changes the options, and gives up pending replies. */
  change(options: ReplyPlayerOptions): void {
    this.giveUp('the settings of the line have changed');
    this.#options = options;
    this.#runner.change(options);
  }

  /** True if pending replies keep the line from executing another request. */
  get refuses(): boolean {
    return this.#queue.length >= (this.#options.whenBusy === 'drop' ? 1 : MAX_QUEUE);
  }

  /** Adds the reply to a request. The reply's `played` is called when its plan was played or given up. */
  play(request: TimedBytes, reply: LineReply): void {
    this.#runner.requestBegan(request.startedAt);
    const last = this.#queue.at(-1);
    if (last && !this.#isMerged(request, last)) this.#replace('a newer request came');
    if (reply.plan?.kind === 'silence') {
      reply.played({ steps: [], ended: 'complete' });
      return;
    }
    const pending: Pending = { request, addedAt: this.#clock.now(), reply };
    this.#queue.push(pending);
    if (reply.plan === undefined) reply.whenPlanned?.(() => pending === this.#queue[0] && this.#begin());
    if (this.#queue.length === 1) this.#begin();
  }

  /** Gives up all pending replies, for `reason`. A break can't be stopped, so its reply ends when the break ends. */
  giveUp(reason: string, ended: 'superseded' | 'disconnected' = 'superseded'): void {
    this.#cancelTimer?.();
    this.#waitsForFrame = false;
    for (const pending of this.#queue.splice(0)) {
      // Only the first reply can have begun.
      const { reply } = pending;
      const begun = this.#runner.cancel(reason, (steps) => reply.played({ steps, ended }));
      if (begun) continue;
      const due = this.#earliestStart(pending);
      reply.played({ steps: notReached(stepsOf(reply.plan), due, this.#clock.now(), reason), ended });
    }
  }

  /**
   * Reports that the client has sent a request to another unit: with `replace`, it no longer waits for
   * pending replies.
   */
  turnedAway(): void {
    this.#replace('the client has sent a request to another unit');
  }

  #replace(reason: string): void {
    if (this.#options.whenBusy === 'replace') this.giveUp(reason);
  }

  /** Reports whether there was no t3.5 between the previous request and this one. */
  #isMerged(request: TimedBytes, before: Pending): boolean {
    const { timing, arrival } = this.#options;
    return asOnWire(request, arrival).startedAt - before.request.receivedAt < timing.t35;
  }

  /**
   * Reports that the framer has processed everything received so far. Call this after every silence and every
   * chunk.
   */
  listened(): void {
    if (!this.#waitsForFrame || this.#options.listening.busy) return;
    this.#waitsForFrame = false;
    this.#start(this.#clock.now());
  }

  /**
   * Sends unsolicited bytes, if no reply is pending and the line has been silent for t3.5.
   * @param sent gets the report on the bytes, within this call
   * @returns how many ms later to try again; undefined if the bytes were sent, or are lost
   */
  sendUnsolicited(bytes: Uint8Array, sent: (report: StepReport) => void): number | undefined {
    const { listening, timing } = this.#options;
    const now = this.#clock.now();
    if (this.#queue.length > 0 || listening.busy || this.#runner.breaking !== undefined) return timing.t35;
    const free = Math.max(listening.lastAt, this.#runner.wireFreeAt) + timing.t35;
    if (free > now) return free - now;
    const step = { kind: 'bytes', waitMs: 0, bytes, continues: false } as const;
    this.#runner.start([step], now, ([report]) => report && sent(report));
    return undefined;
  }

  /** Begins the first reply, unless its plan does not exist yet. A late plan may be silent. */
  #begin(): void {
    const first = this.#queue[0];
    if (first?.reply.plan === undefined) return;
    if (first.reply.plan.kind === 'send') this.#startAt(this.#earliestStart(first));
    else this.#end(first, []);
  }

  #end(first: Pending, steps: readonly StepReport[]): void {
    this.#queue.shift();
    first.reply.played({ steps, ended: 'complete' });
    this.#begin();
  }

  /**
   * Returns when a reply may begin, as far as known. All waiting for t3.5 is done here.
   *
   * An ordinary reply begins after its turnaround, and t3.5 after the last character on the line, whoever
   * sent it. A reply that begins at once (`early`, or any on an `eager` line) ignores the client's
   * characters. It keeps t3.5 only from our own: from an earlier reply, or a break that was given up, that
   * had not ended when the reply was added.
   */
  #earliestStart(pending: Pending): number {
    const { receivedAt } = pending.request;
    const { t35, turnaround = 0 } = this.#options.timing;
    const { wireFreeAt } = this.#runner;
    if (this.#beginsAtOnce(pending))
      return wireFreeAt > pending.addedAt ? Math.max(receivedAt, wireFreeAt + t35) : receivedAt;
    return Math.max(receivedAt + turnaround, Math.max(this.#options.listening.lastAt, wireFreeAt) + t35);
  }

  #beginsAtOnce({ reply: { plan } }: Pending): boolean {
    return (plan?.kind === 'send' && plan.early) || this.#options.timing.turnaround === undefined;
  }

  #startAt(due: number): void {
    if (due <= this.#clock.now()) this.#start(due);
    else this.#cancelTimer = this.#clock.callAt(due, () => this.#start(due));
  }

  /**
   * Starts the first reply, or postpones it.
   * @param due when the reply should have begun, as far as was known
   */
  #start(due: number): void {
    const first = this.#queue[0];
    if (!first) return;
    const { breaking } = this.#runner;
    if (breaking !== undefined) {
      // The break was given up but still holds the line, possibly for longer than planned.
      void breaking.then(() => {
        if (first === this.#queue[0]) this.#start(this.#clock.now());
      });
      return;
    }
    if (!this.#beginsAtOnce(first) && this.#options.listening.busy) {
      this.#waitsForFrame = true;
      return;
    }
    const earliest = this.#earliestStart(first);
    if (earliest > this.#clock.now()) {
      this.#startAt(earliest);
      return;
    }
    this.#runner.start(stepsOf(first.reply.plan), due, (steps) => this.#end(first, steps));
  }
}
