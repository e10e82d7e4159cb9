import {
  achieved,
  type BreakStep,
  notAchieved,
  notReached,
  type SendStep,
  type Step,
  type StepReport,
} from '../../protocol/reply-plan.js';
import type { Clock } from '../clock.js';
import type { BytePort } from '../port/port.js';
import { STEPS_PER_TURN } from '../transport.js';
import type { SendTiming } from './behaviour.js';
import type { SentPiece } from './echo-filter.js';

export interface StepRunnerOptions {
  readonly port: Pick<BytePort, 'write' | 'sendBreak' | 'isSending'>;
  readonly timing: SendTiming;
  /** Called when bytes were written; the last of them is on the wire at `endsAt`. */
  readonly onSent?: (bytes: Uint8Array, endsAt: number, piece: SentPiece) => void;
}

type Done = (reports: readonly StepReport[]) => void;

interface PlayedPlan {
  readonly steps: readonly Step[];
  readonly reports: StepReport[];
  readonly done: Done;
  /** When the last finished step ended; before the first step, when its wait began. */
  from: number;
  /** True while a step is in progress. That step is reported even if the run is called off. */
  isBusy: boolean;
  /** Called instead of `done` if the run was called off during a step, once that step is over. */
  calledOff: (() => void) | undefined;
}

/**
 * Plays one plan after another on a serial port, and records when each step actually happened.
 *
 * `ReplyQueue` does the same for a client on a socket, without this class: there, plans wait for each other,
 * the timers of the event loop are precise enough, and no step takes time. One player for both needed one
 * more file and 19 more lines, and 5 to 20 % more time per step.
 */
export class StepRunner {
  #options: StepRunnerOptions;
  readonly #clock: Clock;
  #run: PlayedPlan | undefined;
  #cancelTimer: (() => void) | undefined;
  #breaking: Promise<unknown> | undefined;
  #wireFreeAt = Number.NEGATIVE_INFINITY;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(options: StepRunnerOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Changes the options. Must not be called while steps are in progress. */
  change(options: StepRunnerOptions): void {
    this.#options = options;
  }

  /** When the last character written so far has left the wire, or the break on the wire ends. */
  get wireFreeAt(): number {
    return this.#wireFreeAt;
  }

  /** The break that holds the line now, even if it was called off. Nothing else can be received before it ends. */
  get breaking(): Promise<unknown> | undefined {
    return this.#breaking;
  }

  /**
   * Reports that a whole request was received, its first bytes at `startedAt`. If that was after the last
   * write, the wire was free by then, or the client would not have been heard: some ports have no wire at
   * their baud rate (a USB gadget, CDC-ACM, a null modem in software). This does not hold while the driver is
   * still sending, because a full-duplex line carries both directions.
   */
  requestBegan(startedAt: number): void {
    if (startedAt <= this.#writtenAt || startedAt >= this.#wireFreeAt || this.#breaking !== undefined) return;
    if (this.#options.port.isSending?.() === false) this.#wireFreeAt = startedAt;
  }

  /**
   * Plays `steps`. The wait before the first step counts from `from`. `done` gets a report for each step.
   * Earlier steps must have ended or been called off, and no break may hold the line.
   */
  start(steps: readonly Step[], from: number, done: Done): void {
    this.#run = { steps, reports: [], done, from, isBusy: false, calledOff: undefined };
    this.#continue(this.#run);
  }

  /**
   * Stops the steps that are being played; returns false if there are none. This `done` gets a report for
   * each step, instead of the `done` passed to `start`. `reason` says why the remaining steps were not
   * reached. `done` is called at once, or when the current step ends: a break, or a write during which the
   * port vanished.
   */
  cancel(reason: string, done: Done): boolean {
    this.#cancelTimer?.();
    const run = this.#run;
    this.#run = undefined;
    if (!run) return false;
    const end = () => {
      const rest = run.steps.slice(run.reports.length);
      done([...run.reports, ...notReached(rest, run.from, this.#clock.now(), reason)]);
    };
    if (run.isBusy) run.calledOff = end;
    else end();
    return true;
  }

  /** Plays the remaining steps until one has to wait or the run is called off. */
  #continue(run: PlayedPlan): void {
    const first = run.reports.length;
    while (run === this.#run && run.reports.length < run.steps.length) {
      const step = run.steps[run.reports.length] as Step;
      const plannedAt = run.from + step.waitMs;
      const now = this.#clock.now();
      const due = mustWait(step) ? plannedAt : now;
      if (due > now || run.reports.length - first === STEPS_PER_TURN) {
        this.#cancelTimer = this.#clock.callAt(due, () => this.#continue(run));
        return;
      }
      run.isBusy = true;
      const underWay = this.#play(run, step, plannedAt);
      if (underWay !== null) {
        this.#breaking = underWay.then(() => {
          this.#breaking = undefined;
          run.isBusy = false;
          this.#continue(run);
        });
        return;
      }
      run.isBusy = false;
    }
    if (run === this.#run) {
      this.#run = undefined;
      run.done(run.reports);
    } else run.calledOff?.();
  }

  /** Does one step and reports it, at once or when the promise resolves. */
  #play(run: PlayedPlan, step: Step, plannedAt: number): Promise<void> | null {
    switch (step.kind) {
      case 'bytes':
        this.#send(run, step, plannedAt);
        return null;
      case 'break':
        return this.#break(run, step, plannedAt);
      case 'close':
        this.#fail(run, plannedAt, 'a serial line has no connection to close');
        return null;
    }
  }

  #send(run: PlayedPlan, { bytes, continues }: SendStep, plannedAt: number): void {
    const { port, timing, onSent } = this.#options;
    const { wireTime, outputHold, lead } = timing;
    const writtenAt = this.#clock.now();
    const lost = port.write(bytes);
    if (lost !== undefined) {
      this.#fail(run, plannedAt, lost);
      return;
    }
    const uncertainty = this.#clock.now() - writtenAt + outputHold;
    // Bytes written earlier may still be on the wire. The new bytes leave after them.
    const achievedAt = this.#wireFreeAt > writtenAt ? this.#wireFreeAt : writtenAt + lead;
    this.#writtenAt = writtenAt;
    this.#wireFreeAt = run.from = achievedAt + bytes.length * wireTime;
    run.reports.push(achieved(plannedAt, achievedAt, this.#wireFreeAt, uncertainty));
    const next = run.steps[run.reports.length];
    onSent?.(bytes, this.#wireFreeAt, { continues, more: next?.kind === 'bytes' && next.continues });
  }

  async #break(run: PlayedPlan, { ms }: BreakStep, plannedAt: number): Promise<void> {
    const { port, timing } = this.#options;
    const achievedAt = this.#clock.now();
    this.#wireFreeAt = achievedAt + ms;
    const reason = port.sendBreak ? await port.sendBreak(ms) : "this port can't send a break";
    const endedAt = this.#clock.now();
    this.#wireFreeAt = endedAt;
    if (reason !== undefined) {
      this.#fail(run, plannedAt, reason);
      return;
    }
    const uncertainty = Math.max(0, endedAt - achievedAt - ms) + timing.outputHold;
    run.reports.push(achieved(plannedAt, achievedAt, endedAt, uncertainty));
    run.from = endedAt;
  }

  #fail(run: PlayedPlan, plannedAt: number, reason: string): void {
    run.from = this.#clock.now();
    run.reports.push(notAchieved(plannedAt, run.from, reason));
  }
}

/**
 * Reports whether a step must wait. Bytes without a wait directly follow the previous ones. A break must not
 * cut into bytes still on the wire.
 */
function mustWait(step: Step): boolean {
  return step.waitMs > 0 || step.kind === 'break';
}
