import type { Mistakes } from '../schema/findings.js';
import type { Simulator } from '../simulator/simulator.js';
import type { LineLeases } from './line-leases.js';
import { Progress } from './progress.js';
import type { Report } from './report/report.js';

/** Runs that are kept after their end, the newest ones. */
const MOST_KEPT = 20;

/** A test or an examination. */
interface Runnable {
  readonly isOver: boolean;
  readonly report: Report;
  run(): Promise<Report>;
}

/** A test or an examination that runs, or has run, on lines of a running bench. */
export interface KnownRun {
  readonly id: number;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  readonly report: Report;
}

interface Kept extends KnownRun {
  readonly stop: (failure?: string) => void;
}

/** `issues`: what was sent is wrong. `busy`: a line is not open, or has a test or an examination. */
export type Start =
  | { readonly ok: true; readonly run: KnownRun }
  | { readonly ok: false; readonly issues: Mistakes }
  | {
      readonly ok: false;
      readonly busy: string;
      readonly code: 'device.changed' | 'line.not_open' | 'line.under_test';
    };

/** The tests, or the examinations, of a running bench: all that run, and the newest that are over. */
export class Runs {
  readonly simulator: Simulator;
  readonly kind: 'test' | 'examination';
  readonly #leases: LineLeases;
  readonly #kept = new Map<number, Kept>();

  constructor(kind: Runs['kind'], simulator: Simulator, leases: LineLeases) {
    this.kind = kind;
    this.simulator = simulator;
    this.#leases = leases;
  }

  /**
   * Starts a run on lines that are open and that nobody else has.
   * @param make makes it, and says how it is stopped: what has failed, or that somebody has stopped it
   */
  start<Run extends Runnable>(
    lines: readonly string[],
    make: (progress: Progress) => Run,
    stop: (run: Run, failure?: string) => void,
  ): Start {
    const closed = lines.find((line) => this.simulator.lines.get(line)?.state.kind !== 'open');
    if (closed !== undefined) {
      return { ok: false, busy: `line ${closed} is not open`, code: 'line.not_open' };
    }
    const lease = this.#leases.take(lines, this.kind);
    if (typeof lease === 'string') return { ok: false, busy: lease, code: 'line.under_test' };
    const { id } = lease;
    const progress = new Progress(this.simulator, lines, id);
    const made = make(progress);
    const kept: Kept = {
      id,
      get isOver() {
        return made.isOver;
      },
      lines,
      get report() {
        return made.report;
      },
      stop: (failure) => stop(made, failure),
    };
    this.#kept.set(id, kept);
    for (const [old, { isOver }] of this.#kept) {
      if (this.#kept.size > MOST_KEPT && isOver) this.#kept.delete(old);
    }
    progress.began(made.report.name);
    void made
      .run()
      .then((report) => progress.over(report))
      .finally(() => lease.end());
    return { ok: true, run: kept };
  }

  get(id: number): KnownRun | undefined {
    return this.#kept.get(id);
  }

  /** The oldest first. */
  list(): KnownRun[] {
    return [...this.#kept.values()];
  }

  /**
   * Ends a run; the report on what it has done stays. Does nothing for one that is over.
   * @param failure why the step or the check that runs has failed; without it, that one is not decided
   */
  stop(id: number, failure?: string): void {
    this.#kept.get(id)?.stop(failure);
  }

  stopAll(): void {
    for (const { stop } of this.#kept.values()) stop();
  }
}
