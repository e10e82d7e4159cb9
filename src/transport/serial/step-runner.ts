import type { StepReport } from '../../protocol/play-report.js';
import type { BreakStep, SendStep, Step } from '../../protocol/reply-plan.js';
import type { BytePort } from './port.js';
import { callAt } from './precise-timer.js';

export interface StepRunnerOptions {
  readonly port: BytePort;
  /** How long one character keeps the wire busy after it was written, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the port may hold a byte back before it is on the wire, in ms. */
  readonly outputHold: number;
  /** Bytes were written; the last of them is on the wire at `endsAt`. */
  readonly onSent?: (bytes: Uint8Array, endsAt: number) => void;
}

/** Does the steps of one plan after the other on a serial port, and notes when each really happened. */
export class StepRunner {
  readonly #options: StepRunnerOptions;
  #reports: StepReport[] = [];
  #run = 0;
  #cancelTimer: (() => void) | undefined;
  #wireFreeAt = Number.NEGATIVE_INFINITY;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
  }

  /** When the last character written so far has left the wire. */
  get wireFreeAt(): number {
    return this.#wireFreeAt;
  }

  /** Does `steps`; the wait before the first of them counts from `from`. `done` gets a report for each. */
  start(steps: readonly Step[], from: number, done: (reports: StepReport[]) => void): void {
    this.#reports = [];
    this.#continue(++this.#run, steps, 0, from, done);
  }

  /** Stops where it is; what has been done so far. */
  cancel(): StepReport[] {
    this.#run++;
    this.#cancelTimer?.();
    return this.#reports;
  }

  /** Does the steps from `index` on, as far as they need no waiting. */
  #continue(
    run: number,
    steps: readonly Step[],
    index: number,
    from: number,
    done: (reports: StepReport[]) => void,
  ): void {
    let start = from;
    for (let i = index; i < steps.length; i++) {
      const step = steps[i] as Step;
      const plannedAt = start + step.waitMs;
      if (mustWait(step) && plannedAt > performance.now()) {
        this.#cancelTimer = callAt(plannedAt, () => this.#continue(run, steps, i, start, done));
        return;
      }
      if (step.kind === 'break') {
        void this.#break(step, plannedAt).then((endedAt) => {
          if (run === this.#run) this.#continue(run, steps, i + 1, endedAt, done);
        });
        return;
      }
      start = step.kind === 'bytes' ? this.#send(step, plannedAt) : this.#refuse(plannedAt);
    }
    const reports = this.#reports;
    this.#reports = [];
    done(reports);
  }

  /** Writes the bytes; when the last of them will have left the wire. */
  #send({ bytes }: SendStep, plannedAt: number): number {
    const { port, wireTime, outputHold, onSent } = this.#options;
    const writtenAt = performance.now();
    port.write(bytes);
    const uncertainty = performance.now() - writtenAt + outputHold;
    // Bytes that were written before may still be on the wire: these leave behind them.
    const achievedAt = Math.max(writtenAt, this.#wireFreeAt);
    this.#reports.push({ plannedAt, achievedAt, uncertainty, outcome: 'achieved' });
    this.#wireFreeAt = achievedAt + bytes.length * wireTime;
    onSent?.(bytes, this.#wireFreeAt);
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
