import type { PlayReport, StepReport } from '../../protocol/play-report.js';
import type { BreakStep, ReplyPlan, Step } from '../../protocol/reply-plan.js';
import type { BytePort } from './port.js';
import { callAt } from './precise-timer.js';

/** When a line may speak. */
export interface ReplyTiming {
  readonly t35: number;
  /** Wait after the request before a reply, in ms; undefined replies as soon as the frame is complete. */
  readonly turnaround: number | undefined;
  /** How long one character keeps the wire busy after it was written, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the port may hold a byte back before it is on the wire, in ms. */
  readonly outputHold: number;
}

/** What a request does that comes while an earlier one is still to be answered. */
export type WhenBusy = 'queue' | 'drop' | 'replace';

/** What the player asks about the bytes that come in. */
export interface Listening {
  /** Are there bytes that may become a frame yet? */
  readonly busy: boolean;
  /** When the last byte came. */
  readonly lastAt: number;
}

/** A request as far as the player cares. Times in ms. */
export interface Cue {
  readonly startedAt: number;
  readonly receivedAt: number;
}

interface Pending {
  readonly cue: Cue;
  readonly plan: Extract<ReplyPlan, { kind: 'send' }>;
  readonly ended: (report: PlayReport) => void;
  readonly steps: StepReport[];
}

/**
 * Sends replies on a half-duplex line, one at a time.
 *
 * A client that sends again has given up waiting, so its new request ends the reply that is still pending, as a
 * device's own would: a late reply would be taken for the answer to the new request. Requests that came in one piece,
 * without t3.5 between them, were merged on their way here: they are all answered, in their order.
 * `queue` answers every request, `drop` leaves it to the line not to execute those that come too early.
 */
export class ReplyPlayer {
  readonly #port: BytePort;
  readonly #timing: ReplyTiming;
  readonly #listening: Listening;
  readonly #whenBusy: WhenBusy;
  readonly #queue: Pending[] = [];
  #cancelTimer: (() => void) | undefined;
  /** The next step's wait is over, but bytes came in that must be understood first. */
  #held = false;
  #wireFreeAt = Number.NEGATIVE_INFINITY;

  constructor(port: BytePort, timing: ReplyTiming, listening: Listening, whenBusy: WhenBusy = 'replace') {
    this.#port = port;
    this.#timing = timing;
    this.#listening = listening;
    this.#whenBusy = whenBusy;
  }

  /** Is a reply pending that keeps the line from executing another request? */
  get refuses(): boolean {
    return this.#whenBusy === 'drop' && this.#queue.length > 0;
  }

  /** Takes over a plan for the request `cue`; `ended` is called once, when the plan was played or superseded. */
  play(cue: Cue, plan: ReplyPlan, ended: (report: PlayReport) => void): void {
    const last = this.#queue.at(-1);
    const merged = last && cue.startedAt - last.cue.receivedAt < this.#timing.t35;
    if (last && !merged && this.#whenBusy === 'replace') this.supersede();
    if (plan.kind === 'silence') {
      ended({ steps: [], ended: 'complete' });
      return;
    }
    this.#queue.push({ cue, plan, ended, steps: [] });
    if (this.#queue.length === 1) this.#begin(Number.NEGATIVE_INFINITY);
  }

  /** The client has turned to somebody else, or the line is closed: nothing pending is sent any more. */
  supersede(ended: 'superseded' | 'disconnected' = 'superseded'): void {
    this.#cancelTimer?.();
    this.#held = false;
    for (const { steps, ended: report } of this.#queue.splice(0)) report({ steps, ended });
  }

  /** Tells that what came in is understood now: call it after every silence and every chunk. */
  listened(): void {
    if (!this.#held || this.#listening.busy) return;
    this.#held = false;
    this.#start(performance.now());
  }

  #begin(notBefore: number): void {
    const current = this.#queue[0];
    if (!current) return;
    const { turnaround } = this.#timing;
    const due = this.#mayInterrupt(current) ? performance.now() : current.cue.receivedAt + (turnaround ?? 0);
    this.#schedule(Math.max(due, notBefore), (at) => this.#start(at));
  }

  #mayInterrupt({ plan }: Pending): boolean {
    return plan.early || this.#timing.turnaround === undefined;
  }

  /** The turnaround is over. More bytes since the request put the reply off until t3.5 after the last of them. */
  #start(due: number): void {
    const current = this.#queue[0];
    if (!current) return;
    if (this.#mayInterrupt(current)) {
      this.#step(current, 0, due);
      return;
    }
    if (this.#listening.busy) {
      this.#held = true;
      return;
    }
    const quietAt = this.#listening.lastAt + this.#timing.t35;
    if (quietAt > performance.now()) this.#schedule(quietAt, (at) => this.#start(at));
    else this.#step(current, 0, due);
  }

  /** Does the steps from `index` on; the wait before the first of them counts from `from`. */
  #step(current: Pending, index: number, from: number): void {
    const step = current.plan.steps[index];
    if (!step) {
      this.#finish(current);
      return;
    }
    const plannedAt = from + step.waitMs;
    const perform = () => {
      const ended = this.#perform(current, step, plannedAt);
      if (typeof ended === 'number') this.#step(current, index + 1, ended);
      else void ended.then((at) => this.#queue[0] === current && this.#step(current, index + 1, at));
    };
    if (step.waitMs > 0) this.#schedule(plannedAt, perform);
    else perform();
  }

  /** Does one step and notes it; the time at which it ends, or will have ended. */
  #perform(current: Pending, step: Step, plannedAt: number): number | Promise<number> {
    const achievedAt = performance.now();
    switch (step.kind) {
      case 'bytes':
        this.#port.write(step.bytes);
        current.steps.push({
          plannedAt,
          achievedAt,
          uncertainty: this.#uncertainty(achievedAt),
          outcome: 'achieved',
        });
        this.#wireFreeAt = achievedAt + step.bytes.length * this.#timing.wireTime;
        return this.#wireFreeAt;
      case 'break':
        return this.#break(current, step, plannedAt);
      case 'close':
        current.steps.push({
          plannedAt,
          achievedAt,
          ...notAchieved('a serial line has no connection to close'),
        });
        return achievedAt;
    }
  }

  async #break(current: Pending, { ms }: BreakStep, plannedAt: number): Promise<number> {
    const achievedAt = performance.now();
    const reason = this.#port.sendBreak ? await this.#port.sendBreak(ms) : 'this port has no break';
    const uncertainty = this.#uncertainty(achievedAt + ms);
    current.steps.push({
      plannedAt,
      achievedAt,
      ...(reason === undefined ? { uncertainty, outcome: 'achieved' } : notAchieved(reason)),
    });
    this.#wireFreeAt = performance.now();
    return this.#wireFreeAt;
  }

  /** What passed since the bytes were handed over, and what the port adds to it. */
  #uncertainty(since: number): number {
    return Math.max(0, performance.now() - since) + this.#timing.outputHold;
  }

  #finish(current: Pending): void {
    this.#queue.shift();
    current.ended({ steps: current.steps, ended: 'complete' });
    this.#begin(this.#wireFreeAt + this.#timing.t35);
  }

  #schedule(at: number, callback: (at: number) => void): void {
    this.#cancelTimer = callAt(at, () => callback(at));
  }
}

function notAchieved(reason: string) {
  return { uncertainty: 0, outcome: 'not achieved', reason } as const;
}
