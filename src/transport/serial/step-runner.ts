import type { StepReport } from '../../protocol/play-report.js';
import type { BreakStep, SendStep, Step } from '../../protocol/reply-plan.js';
import type { BytePort } from '../port/port.js';
import { callAt } from '../precise-timer.js';
import type { Piece } from './echo-filter.js';

export interface StepRunnerOptions {
  readonly port: Pick<BytePort, 'write' | 'sendBreak' | 'isSending'>;
  /** How long one character keeps the wire busy after it was written, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the port may hold a byte back before it is on the wire, in ms. */
  readonly outputHold: number;
  /** How long the port waits before it sends what was written to a free line, in ms: until its driver is on. */
  readonly lead: number;
  /** Bytes were written; the last of them is on the wire at `endsAt`. */
  readonly onSent?: (bytes: Uint8Array, endsAt: number, piece: Piece) => void;
}

/** A step takes up to 20 µs, and nothing else runs meanwhile: after so many of them, others have their turn. */
const STEPS_PER_TURN = 64;

type Done = (reports: readonly StepReport[]) => void;

/** A plan that is being played. */
interface Run {
  readonly steps: readonly Step[];
  /** One for each step that is over. */
  readonly reports: StepReport[];
  /** Gets the reports when all steps are over. */
  readonly done: Done;
  /** A step is being done at this moment, which has to be reported whatever comes. */
  isBusy: boolean;
  /** Gets the reports instead of `done` when the step is over in which the run was called off. */
  calledOff: Done | undefined;
}

/** Does the steps of one plan after the other on a serial port, and notes when each really happened. */
export class StepRunner {
  #options: StepRunnerOptions;
  #run: Run | undefined;
  #cancelTimer: (() => void) | undefined;
  #breaking: Promise<number> | undefined;
  #wireFreeAt = Number.NEGATIVE_INFINITY;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
  }

  /** Goes on with other settings; not while steps are being done. */
  change(options: StepRunnerOptions): void {
    this.#options = options;
  }

  /** When the last character written so far has left the wire, or the break on it ends. */
  get wireFreeAt(): number {
    return this.#wireFreeAt;
  }

  /** A break that holds the line now, called off or not: nothing else would be heard before it has ended. */
  get breaking(): Promise<unknown> | undefined {
    return this.#breaking;
  }

  /**
   * A whole request was received, the first bytes of it at `startedAt`. When that was after the last write, the wire
   * was free by then, or the client would not have been heard: a port may have no wire of its baud rate (a USB
   * gadget, CDC-ACM, a null modem in software). Not so while the driver still sends: a full-duplex line carries both.
   */
  requestBegan(startedAt: number): void {
    if (startedAt <= this.#writtenAt || startedAt >= this.#wireFreeAt || this.#breaking !== undefined) return;
    if (this.#options.port.isSending?.() === false) this.#wireFreeAt = startedAt;
  }

  /**
   * Does `steps`; the wait before the first of them counts from `from`. `done` gets a report for each. Steps that
   * were started before are over or called off, and no break holds the line.
   */
  start(steps: readonly Step[], from: number, done: Done): void {
    this.#run = { steps, reports: [], done, isBusy: false, calledOff: undefined };
    this.#continue(this.#run, 0, from);
  }

  /**
   * Stops where it is. `done` gets what has been done, instead of the one who waited for the end: at once, or
   * when the step is over that is being done, be it a break, or a write in which the port went away.
   */
  cancel(done: Done): void {
    this.#cancelTimer?.();
    const run = this.#run;
    this.#run = undefined;
    if (run?.isBusy) run.calledOff = done;
    else done(run?.reports ?? []);
  }

  /** Does the steps from `index` on, as far as they need no waiting and until the run is called off. */
  #continue(run: Run, index: number, from: number): void {
    const { steps } = run;
    let start = from;
    for (let i = index; i < steps.length && run === this.#run; i++) {
      const step = steps[i] as Step;
      const plannedAt = start + step.waitMs;
      const due = mustWait(step) ? plannedAt : performance.now();
      if (due > performance.now() || i - index === STEPS_PER_TURN) {
        this.#cancelTimer = callAt(due, () => this.#continue(run, i, start));
        return;
      }
      if (step.kind === 'break') {
        run.isBusy = true;
        const breaking = this.#break(run, step, plannedAt);
        this.#breaking = breaking;
        void breaking.then((endedAt) => {
          this.#breaking = undefined;
          run.isBusy = false;
          this.#continue(run, i + 1, endedAt);
        });
        return;
      }
      start =
        step.kind === 'bytes'
          ? this.#send(run, step, continuesWith(steps[i + 1]), plannedAt)
          : this.#refuse(run, plannedAt);
    }
    if (run !== this.#run) {
      run.calledOff?.(run.reports);
      return;
    }
    this.#run = undefined;
    run.done(run.reports);
  }

  /** Writes the bytes; when the last of them will have left the wire. */
  #send(run: Run, { bytes, continues }: SendStep, more: boolean, plannedAt: number): number {
    const { port, wireTime, outputHold, lead, onSent } = this.#options;
    const writtenAt = performance.now();
    run.isBusy = true;
    const lost = port.write(bytes);
    run.isBusy = false;
    if (lost !== undefined) {
      run.reports.push(notAchieved(plannedAt, writtenAt, lost));
      return writtenAt;
    }
    const uncertainty = performance.now() - writtenAt + outputHold;
    // Bytes that were written before may still be on the wire: these leave behind them.
    const achievedAt = this.#wireFreeAt > writtenAt ? this.#wireFreeAt : writtenAt + lead;
    run.reports.push({ plannedAt, achievedAt, uncertainty, outcome: 'achieved' });
    this.#writtenAt = writtenAt;
    this.#wireFreeAt = achievedAt + bytes.length * wireTime;
    onSent?.(bytes, this.#wireFreeAt, { continues, more });
    return this.#wireFreeAt;
  }

  async #break(run: Run, { ms }: BreakStep, plannedAt: number): Promise<number> {
    const { port, outputHold } = this.#options;
    const achievedAt = performance.now();
    this.#wireFreeAt = achievedAt + ms;
    const reason = port.sendBreak ? await port.sendBreak(ms) : 'this port has no break';
    const endedAt = performance.now();
    const uncertainty = Math.max(0, endedAt - achievedAt - ms) + outputHold;
    run.reports.push(
      reason === undefined
        ? { plannedAt, achievedAt, uncertainty, outcome: 'achieved' }
        : notAchieved(plannedAt, endedAt, reason),
    );
    this.#wireFreeAt = endedAt;
    return endedAt;
  }

  #refuse(run: Run, plannedAt: number): number {
    const gaveUpAt = performance.now();
    run.reports.push(notAchieved(plannedAt, gaveUpAt, 'a serial line has no connection to close'));
    return gaveUpAt;
  }
}

function notAchieved(plannedAt: number, achievedAt: number, reason: string): StepReport {
  return { plannedAt, achievedAt, uncertainty: undefined, outcome: 'not achieved', reason };
}

/** Bytes without a wait go right behind those before them; a break must not cut into what is still on the wire. */
function mustWait(step: Step): boolean {
  return step.waitMs > 0 || step.kind === 'break';
}

/** True when the next step is another piece of the same frame. */
function continuesWith(next: Step | undefined): boolean {
  return next?.kind === 'bytes' && next.continues;
}
