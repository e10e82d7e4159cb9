import { notReached, type PlayReport } from '../../protocol/play-report.js';
import type { Step } from '../../protocol/reply-plan.js';
import type { Clock } from '../clock.js';
import type { TimedBytes } from '../framer/burst.js';
import type { WhenBusy } from '../settings.js';
import type { LineReply } from '../transport.js';
import { beginOnWire } from './serial-times.js';
import { StepRunner, type StepRunnerOptions } from './step-runner.js';

/** When a line may speak. */
export interface ReplyTiming {
  readonly t35: number;
  /** Wait after the request before a reply, in ms; undefined replies as soon as the frame is complete. */
  readonly turnaround: number | undefined;
  /** How long one character keeps the wire busy after it was written, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the port may hold a byte back before it is on the wire, in ms. */
  readonly outputHold: number;
  /** How long the port waits before it sends what was written to a free line, in ms. */
  readonly lead: number;
}

/** What the player asks about received bytes. */
interface Listening {
  /** Whether there are bytes that may still become a frame. */
  readonly busy: boolean;
  /** When the last byte came. */
  readonly lastAt: number;
}

export interface ReplyPlayerOptions {
  readonly port: StepRunnerOptions['port'];
  readonly timing: ReplyTiming;
  readonly listening: Listening;
  /** How long the adapter may hold received bytes back, in ms. */
  readonly inputHold: number;
  readonly whenBusy: WhenBusy;
  readonly onSent?: NonNullable<StepRunnerOptions['onSent']>;
}

/** The most replies that may wait, so that a client that floods the line does not fill the memory. */
const MAX_QUEUE = 256;

interface Pending {
  readonly request: TimedBytes;
  /** When the player took it over. */
  readonly takenAt: number;
  readonly steps: readonly Step[];
  /** The reply does not wait for the end of the turnaround. */
  readonly early: boolean;
  readonly ended: (report: PlayReport) => void;
}

/**
 * Sends replies on a half-duplex line, one at a time.
 *
 * With `replace`, a new request ends the reply that is still pending, as on a real device. A client that sends again
 * has given up waiting, and would take a late reply for the answer to its new request. Requests without t3.5 between
 * them were merged on their way here, so all of them are answered, in order.
 *
 * `queue` answers every request. With `drop`, the line must not execute requests that come too early.
 */
export class ReplyPlayer {
  readonly #clock: Clock;
  #options: ReplyPlayerOptions;
  readonly #runner: StepRunner;
  readonly #queue: Pending[] = [];
  #cancelTimer: (() => void) | undefined;
  /** The turnaround is over, but bytes came in that must be understood first. */
  #held = false;

  constructor(options: ReplyPlayerOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#runner = new StepRunner(runnerOptions(options), clock);
  }

  /** Goes on with other settings; what is pending is given up. */
  change(options: ReplyPlayerOptions): void {
    this.giveUp('the settings of the line have changed');
    this.#options = options;
    this.#runner.change(runnerOptions(options));
  }

  /** Whether pending replies keep the line from executing another request. */
  get refuses(): boolean {
    return this.#queue.length >= (this.#options.whenBusy === 'drop' ? 1 : MAX_QUEUE);
  }

  /**
   * Takes over the reply to a request. The reply is told when its plan was played or superseded. A break can't be
   * stopped, but is over by then.
   */
  play(request: TimedBytes, reply: LineReply): void {
    const { plan } = reply;
    const ended = (report: PlayReport) => reply.played(report);
    this.#runner.requestBegan(request.startedAt);
    const last = this.#queue.at(-1);
    if (last && !this.#isMerged(request, last)) this.#replace('a newer request came');
    if (plan.kind === 'silence') {
      ended({ steps: [], ended: 'complete' });
      return;
    }
    const { steps, early } = plan;
    this.#queue.push({ request, takenAt: this.#clock.now(), steps, early, ended });
    if (this.#queue.length === 1) this.#begin();
  }

  /** Gives up all pending replies, for `reason`. */
  giveUp(reason: string, ended: 'superseded' | 'disconnected' = 'superseded'): void {
    this.#cancelTimer?.();
    this.#held = false;
    for (const pending of this.#queue.splice(0)) {
      // Only the first reply can have begun.
      const begun = this.#runner.cancel(reason, (steps) => pending.ended({ steps, ended }));
      if (begun) continue;
      const due = this.#earliest(pending);
      pending.ended({ steps: notReached(pending.steps, due, this.#clock.now(), reason), ended });
    }
  }

  /** The client has turned to another unit: with `replace`, it no longer waits for pending replies. */
  turnedAway(): void {
    this.#replace('the client has turned to somebody else');
  }

  #replace(reason: string): void {
    if (this.#options.whenBusy === 'replace') this.giveUp(reason);
  }

  /** Whether there was no t3.5 between the request before and this one. */
  #isMerged(request: TimedBytes, before: Pending): boolean {
    const { timing, inputHold } = this.#options;
    const began = beginOnWire(request, { wireTime: timing.wireTime, inputHold });
    return began - before.request.receivedAt < timing.t35;
  }

  /** The framer has read everything received so far. Call this after every silence and every chunk. */
  listened(): void {
    if (!this.#held || this.#options.listening.busy) return;
    this.#held = false;
    this.#start(this.#clock.now());
  }

  #begin(): void {
    const current = this.#queue[0];
    if (current) this.#wait(this.#earliest(current));
  }

  /**
   * When a reply may begin, as far as is known now. Even a reply that waits for nothing else keeps t3.5 to what we were
   * still sending when the player took it over, or have sent since: earlier replies, or a break that was called off.
   */
  #earliest(current: Pending): number {
    const { takenAt } = current;
    const { receivedAt } = current.request;
    const { t35, turnaround = 0 } = this.#options.timing;
    const { wireFreeAt } = this.#runner;
    if (this.#mayInterrupt(current))
      return wireFreeAt > takenAt ? Math.max(receivedAt, wireFreeAt + t35) : receivedAt;
    return Math.max(receivedAt + turnaround, Math.max(this.#options.listening.lastAt, wireFreeAt) + t35);
  }

  #mayInterrupt({ early }: Pending): boolean {
    return early || this.#options.timing.turnaround === undefined;
  }

  /** The reply was due at `due`, as far as was known. Later events may put it off. */
  #start(due: number): void {
    const current = this.#queue[0];
    if (!current) return;
    const { breaking } = this.#runner;
    if (breaking !== undefined) {
      // The break was called off but still holds the line, perhaps for longer than planned.
      void breaking.then(() => {
        if (current === this.#queue[0]) this.#start(this.#clock.now());
      });
      return;
    }
    if (!this.#mayInterrupt(current) && this.#options.listening.busy) {
      this.#held = true;
      return;
    }
    const earliest = this.#earliest(current);
    if (earliest > this.#clock.now()) {
      this.#wait(earliest);
      return;
    }
    this.#runner.start(current.steps, due, (steps) => {
      this.#queue.shift();
      current.ended({ steps, ended: 'complete' });
      this.#begin();
    });
  }

  #wait(at: number): void {
    if (at <= this.#clock.now()) this.#start(at);
    else this.#cancelTimer = this.#clock.callAt(at, () => this.#start(at));
  }
}

function runnerOptions({ port, timing, onSent }: ReplyPlayerOptions): StepRunnerOptions {
  const { wireTime, outputHold, lead } = timing;
  return { port, wireTime, outputHold, lead, ...(onSent && { onSent }) };
}
