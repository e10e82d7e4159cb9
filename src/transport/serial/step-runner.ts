import type { StepReport } from '../../protocol/play-report.js';
import type { BreakStep, SendStep, Step } from '../../protocol/reply-plan.js';
import type { BytePort } from '../port/port.js';
import { callAt } from '../precise-timer.js';
import type { Piece } from './echo-filter.js';

export interface StepRunnerOptions {
  readonly port: Pick<BytePort, 'write' | 'sendBreak'>;
  /** How long one character keeps the wire busy after it was written, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the port may hold a byte back before it is on the wire, in ms. */
  readonly outputHold: number;
  /** How long the port waits before it sends what was written to a free line, in ms: until its driver is on. */
  readonly lead: number;
  /** Bytes were written; the last of them is on the wire at `endsAt`. */
  readonly onSent?: (bytes: Uint8Array, endsAt: number, piece: Piece) => void;
}

/** Does the steps of one plan after the other on a serial port, and notes when each really happened. */
export class StepRunner {
  #options: StepRunnerOptions;
  #reports: StepReport[] = [];
  #run = 0;
  #cancelTimer: (() => void) | undefined;
  #breaking: Promise<number> | undefined;
  #wireFreeAt = Number.NEGATIVE_INFINITY;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
  }

  /** Goes on with other settings; not while steps are being done. */
  change(options: StepRunnerOptions): void {
    this.#options = options;
  }

  /** When the last character written so far has left the wire. */
  get wireFreeAt(): number {
    return this.#wireFreeAt;
  }

  /** Does `steps`; the wait before the first of them counts from `from`. `done` gets a report for each. */
  start(steps: readonly Step[], from: number, done: (reports: StepReport[]) => void): void {
    this.cancel();
    const run = this.#run;
    const begin = () => this.#continue(run, steps, 0, from, done);
    // A break that was called off still holds the line: nothing is heard before it has ended.
    if (this.#breaking === undefined) begin();
    else void this.#breaking.then(begin);
  }

  /** Stops where it is; what has been done so far. */
  cancel(): StepReport[] {
    this.#run++;
    this.#cancelTimer?.();
    const reports = this.#reports;
    this.#reports = [];
    return reports;
  }

  /** Does the steps from `index` on, as far as they need no waiting. */
  #continue(
    run: number,
    steps: readonly Step[],
    index: number,
    from: number,
    done: (reports: StepReport[]) => void,
  ): void {
    if (run !== this.#run) return;
    let start = from;
    for (let i = index; i < steps.length; i++) {
      const step = steps[i] as Step;
      const plannedAt = start + step.waitMs;
      if (mustWait(step) && plannedAt > performance.now()) {
        this.#cancelTimer = callAt(plannedAt, () => this.#continue(run, steps, i, start, done));
        return;
      }
      if (step.kind === 'break') {
        const breaking = this.#break(step, plannedAt);
        this.#breaking = breaking;
        void breaking.then((endedAt) => this.#continue(run, steps, i + 1, endedAt, done));
        return;
      }
      start =
        step.kind === 'bytes'
          ? this.#send(step, continuesWith(steps[i + 1]), plannedAt)
          : this.#refuse(plannedAt);
    }
    const reports = this.#reports;
    this.#reports = [];
    done(reports);
  }

  /** Writes the bytes; when the last of them will have left the wire. */
  #send({ bytes, continues }: SendStep, more: boolean, plannedAt: number): number {
    const { port, wireTime, outputHold, lead, onSent } = this.#options;
    const writtenAt = performance.now();
    const lost = port.write(bytes);
    if (lost !== undefined) {
      this.#reports.push({
        plannedAt,
        achievedAt: writtenAt,
        uncertainty: 0,
        outcome: 'not achieved',
        reason: lost,
      });
      return writtenAt;
    }
    const uncertainty = performance.now() - writtenAt + outputHold;
    // Bytes that were written before may still be on the wire: these leave behind them.
    const achievedAt = this.#wireFreeAt > writtenAt ? this.#wireFreeAt : writtenAt + lead;
    this.#reports.push({ plannedAt, achievedAt, uncertainty, outcome: 'achieved' });
    this.#wireFreeAt = achievedAt + bytes.length * wireTime;
    onSent?.(bytes, this.#wireFreeAt, { continues, more });
    return this.#wireFreeAt;
  }

  async #break({ ms }: BreakStep, plannedAt: number): Promise<number> {
    const { port, outputHold } = this.#options;
    const achievedAt = performance.now();
    const reports = this.#reports;
    const reason = port.sendBreak ? await port.sendBreak(ms) : 'this port has no break';
    const endedAt = performance.now();
    const uncertainty = Math.max(0, endedAt - achievedAt - ms) + outputHold;
    reports.push(
      reason === undefined
        ? { plannedAt, achievedAt, uncertainty, outcome: 'achieved' }
        : { plannedAt, achievedAt, uncertainty: 0, outcome: 'not achieved', reason },
    );
    this.#wireFreeAt = endedAt;
    this.#breaking = undefined;
    return endedAt;
  }

  #refuse(plannedAt: number): number {
    const achievedAt = performance.now();
    const reason = 'a serial line has no connection to close';
    this.#reports.push({ plannedAt, achievedAt, uncertainty: 0, outcome: 'not achieved', reason });
    return achievedAt;
  }
}

/** Bytes without a wait go right behind those before them; a break must not cut into what is still on the wire. */
function mustWait(step: Step): boolean {
  return step.waitMs > 0 || step.kind === 'break';
}

/** True when the next step is another piece of the same frame. */
function continuesWith(next: Step | undefined): boolean {
  return next?.kind === 'bytes' && next.continues;
}
