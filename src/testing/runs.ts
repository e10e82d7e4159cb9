import { done, type Outcome, refusal } from '../simulator/commands/refusal.js';
import type { Simulator } from '../simulator/simulator.js';
import { type Progress, progressOn } from './progress.js';
import type { Report } from './report/report.js';

/** Of each kind, runs that are kept after their end, the newest ones. */
const MOST_KEPT = 20;

export type RunKind = Report['kind'];

/** A test or an examination. */
interface Runnable {
  readonly isOver: boolean;
  readonly report: Report;
  run(): Promise<Report>;
}

/** A test or an examination that runs, or has run, on lines of a running simulator. */
export interface KnownRun {
  readonly id: number;
  readonly kind: RunKind;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  readonly report: Report;
  /**
   * Ends it; the report on what it has done stays. Does nothing where it is over.
   * @param failure why the step or the check that runs has failed; without it, that one is not decided
   */
  readonly stop: (failure?: string) => void;
}

/**
 * The tests and the examinations of a running simulator: all that run, and the newest that are over. At most one of them works on a
 * line at a time: two would take each other's faults for their own.
 */
export class Runs {
  readonly simulator: Simulator;
  readonly #kept = new Map<number, KnownRun>();
  /** Counts tests and examinations together, from 1. */
  #last = 0;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  /**
   * Starts a run on lines that are open and that nobody else has.
   * @param make makes it
   * @param stop ends it: what has failed, or that somebody has stopped it
   */
  start<Run extends Runnable>(
    kind: RunKind,
    lines: readonly string[],
    make: (progress: Progress) => Run,
    stop: (run: Run, failure?: string) => void,
  ): Outcome<KnownRun> {
    // A scenario may name its lines in many places.
    const path = kind === 'test' ? '' : 'line';
    const closed = lines.find((line) => this.simulator.lines.get(line)?.state.kind !== 'open');
    if (closed !== undefined) return refusal('line.not_open', path, `line ${closed} is not open`);
    for (const line of lines) {
      const other = [...this.#kept.values()].find((each) => !each.isOver && each.lines.includes(line));
      const runs = `${other?.kind} ${other?.id} runs on line ${line}; DELETE stops it`;
      if (other) return refusal('line.under_test', path, runs);
    }
    const id = ++this.#last;
    const progress = progressOn(this.simulator, lines, id);
    const made = make(progress);
    const run: KnownRun = {
      id,
      kind,
      get isOver() {
        return made.isOver;
      },
      lines,
      get report() {
        return made.report;
      },
      stop: (failure) => stop(made, failure),
    };
    this.#kept.set(id, run);
    const kept = this.list(kind);
    const over = kept.filter(({ isOver }) => isOver);
    for (const old of over.slice(0, Math.max(0, kept.length - MOST_KEPT))) this.#kept.delete(old.id);
    progress.began(made.report.name);
    void made.run().then((report) => progress.over(report));
    return done(run);
  }

  get(kind: RunKind, id: number): KnownRun | undefined {
    const run = this.#kept.get(id);
    return run?.kind === kind ? run : undefined;
  }

  /** The oldest first. */
  list(kind: RunKind): KnownRun[] {
    return [...this.#kept.values()].filter((run) => run.kind === kind);
  }

  stopAll(): void {
    for (const { stop } of this.#kept.values()) stop();
  }
}
