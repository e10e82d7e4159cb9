import type { PlayReport, StepReport } from '../../protocol/play-report.js';
import type { ReplyPlan, Step } from '../../protocol/reply-plan.js';
import type { LineRequest } from '../transport.js';
import type { Outlet } from './outlet.js';
import { achieved, notAchieved } from './step-report.js';

/** The longest time setTimeout can wait. Longer waits set it again. */
const MAX_TIMEOUT_MS = 0x7fff_ffff;

/** A step takes up to 10 µs, and nothing else runs meanwhile. After so many steps, others have their turn. */
const STEPS_PER_TURN = 64;

interface Playing {
  readonly request: LineRequest;
  readonly steps: readonly Step[];
  /** When the previous step was achieved. Before the first step: when the request came in. */
  since: number;
  /** When that step was done with: some time after `since` if writing took long. It shortens no wait. */
  endedAt: number;
  next: number;
  readonly reports: StepReport[];
}

export interface ReplyQueueOptions {
  readonly outlet: Outlet;
  readonly played: (request: LineRequest, report: PlayReport) => void;
  /** Replies that had to wait have been played. */
  readonly advanced: () => void;
}

/**
 * Plays the reply plans of one client in the order of their requests (Messaging on TCP/IP V1.0b, 4.2: the
 * transaction identifiers would allow any order, clients rely on this one). A plan waits from the arrival of its
 * own request, so two pipelined requests with a delay of 250 ms are both answered after 250 ms.
 */
export class ReplyQueue {
  readonly #outlet: Outlet;
  readonly #played: ReplyQueueOptions['played'];
  readonly #advanced: () => void;
  readonly #queue: Playing[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Why nothing more is played. */
  #ended: string | undefined;

  constructor({ outlet, played, advanced }: ReplyQueueOptions) {
    this.#outlet = outlet;
    this.#played = played;
    this.#advanced = advanced;
  }

  /** Plans not played to their end. */
  get length(): number {
    return this.#queue.length;
  }

  /** Plays `plan` at once if it is its turn and it has nothing to wait for. */
  add(request: LineRequest, plan: ReplyPlan): void {
    if (this.#queue.length === 0 && this.#ended === undefined && this.#playPlain(request, plan)) return;
    const { receivedAt } = request;
    const steps = plan.kind === 'send' ? plan.steps : [];
    this.#queue.push({ request, steps, since: receivedAt, endedAt: receivedAt, next: 0, reports: [] });
    if (this.#ended !== undefined) this.abandon(this.#ended);
    else if (this.#queue.length === 1) {
      // A plan has several steps because its author wants them apart on the wire.
      this.#outlet.flush();
      this.#run();
    }
  }

  /** Stops playing. Each remaining step, of this or a later plan, is reported as not achieved, for `reason`. */
  abandon(reason: string): void {
    this.#ended ??= reason;
    clearTimeout(this.#timer);
    const gaveUpAt = performance.now();
    for (const { request, steps, since, next, reports } of this.#queue.splice(0)) {
      let plannedAt = since;
      for (const step of steps.slice(next)) {
        plannedAt += step.waitMs;
        reports.push(notAchieved(plannedAt, gaveUpAt, reason));
      }
      this.#report(request, reports, 'disconnected');
    }
  }

  /** Plays the plan of a well-behaved device, without a queue entry. Returns false if `plan` is not that simple. */
  #playPlain(request: LineRequest, plan: ReplyPlan): boolean {
    if (plan.kind === 'silence') {
      this.#report(request, [], 'complete');
      return true;
    }
    const step = plan.steps[0];
    if (plan.steps.length !== 1 || step?.kind !== 'bytes' || step.waitMs > 0 || !this.#outlet.open)
      return false;
    this.#report(request, [this.#play(step, request.receivedAt)], 'complete');
    return true;
  }

  /** Plays everything that is due, and sets the timer for the rest. Harmless when called too early. */
  #run(): void {
    let done = 0;
    for (let playing = this.#queue[0]; playing !== undefined; playing = this.#queue[0]) {
      const step = playing.steps[playing.next];
      if (step === undefined) {
        this.#queue.shift();
        this.#report(playing.request, playing.reports, 'complete');
        continue;
      }
      // A plan has closed the connection.
      if (!this.#outlet.open) {
        this.abandon('the connection is closed');
        return;
      }
      const remaining = playing.endedAt + step.waitMs - performance.now();
      if (remaining > 0 || done === STEPS_PER_TURN) {
        this.#wait(Math.max(0, remaining));
        return;
      }
      done += 1;
      const report = this.#play(step, playing.since + step.waitMs);
      playing.since = report.achievedAt;
      playing.endedAt = performance.now();
      playing.next += 1;
      playing.reports.push(report);
    }
  }

  #play(step: Step, plannedAt: number): StepReport {
    const playedAt = performance.now();
    const failure = this.#outlet.play(step);
    return failure === undefined ? achieved(plannedAt, playedAt) : notAchieved(plannedAt, playedAt, failure);
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(
      () => {
        this.#run();
        this.#advanced();
      },
      Math.min(Math.ceil(ms), MAX_TIMEOUT_MS),
    );
  }

  #report(request: LineRequest, steps: readonly StepReport[], ended: PlayReport['ended']): void {
    this.#outlet.complete({ steps, ended }, (known) => this.#played(request, known));
  }
}
