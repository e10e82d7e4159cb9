import {
  achieved,
  notAchieved,
  notReached,
  type PlayReport,
  type Step,
  type StepReport,
  stepsOf,
} from '../../protocol/reply-plan.js';
import { type LineReply, STEPS_PER_TURN } from '../transport.js';

/** Why a step was not done; undefined if it was. */
export type StepFailure = string | undefined;

/** Writes the replies to one client. Plans are played one after another, their steps in order. */
export interface ReplyWriter {
  /** False once nothing more can be sent. */
  readonly open: boolean;
  /**
   * Does one step now, while the writer is open. "Done" means that the operating system has accepted the
   * bytes, or that they wait until it does; `complete` reports the outcome of waiting bytes.
   */
  play(step: Step): StepFailure;
  /**
   * Makes the bytes of the next plan wait for the bytes of the plan after it. Absent if every plan is sent
   * separately.
   */
  coalesce?(): void;
  /**
   * Accepts the report of the plan that was played last, and passes it on once it is known which bytes the
   * operating system has accepted, usually at once. What the system does with them later can't be known.
   */
  complete(report: PlayReport, reported: (report: PlayReport) => void): void;
  /** Makes the bytes written so far leave separately from later ones. */
  flush(): void;
}

/** The longest time that setTimeout can wait, in ms. For longer waits it is set repeatedly. */
const MAX_TIMEOUT_MS = 0x7fff_ffff;

interface Playing {
  readonly reply: LineReply;
  /** The steps; undefined until the plan exists. */
  steps: readonly Step[] | undefined;
  /** When the previous step was achieved; before the first step, when the request or a late plan arrived. */
  since: number;
  /**
   * When writing the previous step ended, which is after `since` if writing took long. The wait before the
   * next step still counts from `since`.
   */
  endedAt: number;
  next: number;
  readonly reports: StepReport[];
}

/**
 * Plays the reply plans of one client in the order of their requests (Messaging on TCP/IP V1.0b, 4.2: the
 * transaction identifiers would allow any order, but clients rely on this one). A plan waits from the arrival
 * of its own request, so two pipelined requests with a delay of 250 ms are both answered after 250 ms.
 */
export class ReplyQueue {
  readonly #writer: ReplyWriter;
  readonly #advanced: () => void;
  readonly #queue: Playing[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Why nothing more is played; undefined while plans are played. */
  #ended: string | undefined;

  /** Creates the queue. @param advanced called when replies that had to wait have been played */
  constructor(writer: ReplyWriter, advanced: () => void) {
    this.#writer = writer;
    this.#advanced = advanced;
  }

  /** How many plans have not been played to the end. */
  get length(): number {
    return this.#queue.length;
  }

  /**
   * Plays the plan of `reply` at once if it is its turn and it has nothing to wait for.
   * @param receivedAt when the request arrived
   */
  add(reply: LineReply, receivedAt: number): void {
    if (this.#queue.length === 0 && this.#ended === undefined && this.#playPlain(reply, receivedAt)) return;
    const steps = plannedSteps(reply);
    const playing: Playing = { reply, steps, since: receivedAt, endedAt: receivedAt, next: 0, reports: [] };
    this.#queue.push(playing);
    if (steps === undefined) reply.whenPlanned?.(() => this.#planned(playing));
    if (this.#ended !== undefined) this.abandon(this.#ended);
    else if (this.#queue.length === 1) {
      // A plan has several steps to keep them apart on the wire.
      this.#writer.flush();
      this.#run();
    }
  }

  /** Stops playing. Each remaining step, of this plan or a later one, is reported as not achieved, for `reason`. */
  abandon(reason: string): void {
    this.#ended ??= reason;
    clearTimeout(this.#timer);
    const gaveUpAt = performance.now();
    for (const { reply, steps, since, next, reports } of this.#queue.splice(0)) {
      reports.push(...notReached(steps?.slice(next) ?? [], since, gaveUpAt, reason));
      this.#report(reply, reports, 'disconnected');
    }
  }

  /**
   * Plays the plan of a well-behaved device without a queue entry. Returns false if the plan is not that
   * simple.
   */
  #playPlain(reply: LineReply, receivedAt: number): boolean {
    const { plan } = reply;
    if (plan === undefined) return false;
    if (plan.kind === 'silence') {
      this.#report(reply, [], 'complete');
      return true;
    }
    const step = plan.steps[0];
    if (plan.steps.length !== 1 || step?.kind !== 'bytes' || step.waitMs > 0 || !this.#writer.open)
      return false;
    if (plan.coalesce) return false;
    this.#report(reply, [this.#play(step, receivedAt)], 'complete');
    return true;
  }

  /** Plays everything that is due, and sets the timer for the rest. Calling it too early is harmless. */
  #run(): void {
    let done = 0;
    for (let playing = this.#queue[0]; playing !== undefined; playing = this.#queue[0]) {
      if (playing.steps === undefined) return;
      const step = playing.steps[playing.next];
      if (step === undefined) {
        this.#queue.shift();
        this.#report(playing.reply, playing.reports, 'complete');
        continue;
      }
      // A plan has closed the connection.
      if (!this.#writer.open) {
        this.abandon('the connection is closed');
        return;
      }
      const remaining = playing.endedAt + step.waitMs - performance.now();
      if (remaining > 0 || done === STEPS_PER_TURN) {
        this.#wait(Math.max(0, remaining));
        return;
      }
      done += 1;
      if (playing.next === 0 && coalesces(playing.reply)) this.#writer.coalesce?.();
      const report = this.#play(step, playing.since + step.waitMs);
      playing.since = report.achievedAt;
      playing.endedAt = performance.now();
      playing.next += 1;
      playing.reports.push(report);
    }
  }

  /** Accepts the plan of a reply once it exists. The waits of its steps begin now. */
  #planned(playing: Playing): void {
    playing.steps = plannedSteps(playing.reply);
    playing.since = playing.endedAt = performance.now();
    if (playing !== this.#queue[0]) return;
    this.#run();
    this.#advanced();
  }

  #play(step: Step, plannedAt: number): StepReport {
    const playedAt = performance.now();
    const failure = this.#writer.play(step);
    // It is unknown how long the bytes stay in the system and on the network, so the uncertainty is unknown
    // too.
    return failure === undefined
      ? achieved(plannedAt, playedAt, playedAt, undefined)
      : notAchieved(plannedAt, playedAt, failure);
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

  #report(reply: LineReply, steps: readonly StepReport[], ended: PlayReport['ended']): void {
    this.#writer.complete({ steps, ended }, (known) => reply.played(known));
  }
}

function plannedSteps({ plan }: LineReply): readonly Step[] | undefined {
  return plan && stepsOf(plan);
}

function coalesces({ plan }: LineReply): boolean {
  return plan?.kind === 'send' && plan.coalesce === true;
}
