import { done, type Outcome, refusal } from '../simulator/commands/refusal.js';
import type { Simulator } from '../simulator/simulator.js';
import type { Doing } from './doing.js';
import type { Finding, Report, ServerTestReport } from './report/report.js';
import type { RunKind } from './run-kinds.js';

type Progress = ReturnType<typeof progressOn>;

/**
 * Reports the progress of a run as events on its lines, so that a client that follows the traffic also
 * follows the run.
 * @param test number of the run
 */
function progressOn({ lines: known }: Simulator, lines: readonly string[], test: number) {
  const report = (state: 'began' | 'step' | 'over', text: string) => {
    for (const line of lines) known.get(line)?.tested({ test, state, text });
  };
  return {
    began: (name: string) => report('began', name),
    /**
     * Reports that a step or a check has ended.
     * @param number position of the step or check in the run, counted from 1
     */
    ended({ title, verdict, summary }: Pick<Finding, 'title' | 'verdict' | 'summary'>, number: number) {
      const [first = ''] = summary.split('\n');
      const why = verdict === 'pass' || first === '' ? '' : ` (${first})`;
      report('step', `${number} ${title}: ${verdict}${why}`);
    },
    /**
     * Reports what the run is waiting for.
     * @param text a sentence
     */
    waits: (text: string) => report('step', text),
    over: ({ name, verdict }: Pick<Report, 'name' | 'verdict'>) => report('over', `${name}: ${verdict}`),
  };
}

/** Maximum number of runs kept per kind. The oldest completed ones are dropped first. */
const MOST_KEPT = 20;

export type AnyReport = Report | ServerTestReport;

interface Runnable {
  readonly isOver: boolean;
  readonly report: AnyReport;
  readonly doing: Doing | undefined;
  run(): Promise<AnyReport>;
}

/** A run on lines of a running simulator. A server test needs no lines. */
export interface KnownRun {
  readonly id: number;
  readonly kind: RunKind;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  /** The address of the tested server; server tests only. */
  readonly server?: string | undefined;
  readonly report: AnyReport;
  /** The current activity; undefined after the end. */
  readonly doing: Doing | undefined;
  /**
   * Stops the run and keeps its report. Does nothing if the run has ended.
   * @param failure why the current step or check has failed; if absent, it remains undecided
   */
  readonly stop: (failure?: string) => void;
  /** Resolves when the run has ended, and its lines are free for another one. */
  readonly ended: Promise<void>;
}

/**
 * The runs of a running simulator: all in progress, and the newest completed ones of each kind. At most one
 * of them works on a line at a time, because two would take each other's faults for their own.
 */
export class Runs {
  readonly simulator: Simulator;
  readonly #kept = new Map<number, KnownRun>();
  /** Id of the newest run. Runs of all kinds share one series of ids, from 1. */
  #last = 0;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  /**
   * Starts a run. Refused unless each of its lines is open and no other run works on it.
   * @param make makes the run, which reports its progress to `progress`
   * @param stop stops the run; `failure` says what failed, and is absent if someone stops it
   * @param server the address of the tested server
   */
  start<Run extends Runnable>(
    kind: RunKind,
    lines: readonly string[],
    make: (progress: Progress) => Run,
    stop: (run: Run, failure?: string) => void,
    server?: string,
  ): Outcome<KnownRun> {
    // A refused scenario has no path to its line, because it can name lines in many places.
    const path = kind === 'scenario' ? '' : 'line';
    const closed = lines.find((line) => this.simulator.lines.get(line)?.state.kind !== 'open');
    if (closed !== undefined) return refusal('line.not_open', path, `line ${closed} is not open`);
    for (const line of lines) {
      const other = [...this.#kept.values()].find((each) => !each.isOver && each.lines.includes(line));
      const runs = `run ${other?.id} is using line ${line}; DELETE /api/v1/runs/${other?.id} stops it`;
      if (other) return refusal('line.under_test', path, runs);
    }
    const id = ++this.#last;
    const progress = progressOn(this.simulator, lines, id);
    const made = make(progress);
    progress.began(made.report.name);
    const run: KnownRun = {
      id,
      kind,
      get isOver() {
        return made.isOver;
      },
      lines,
      server,
      get report() {
        return made.report;
      },
      get doing() {
        return made.doing;
      },
      stop: (failure) => stop(made, failure),
      ended: made.run().then((report) => progress.over(report)),
    };
    this.#kept.set(id, run);
    const kept = this.list(kind);
    const over = kept.filter(({ isOver }) => isOver);
    for (const old of over.slice(0, Math.max(0, kept.length - MOST_KEPT))) this.#kept.delete(old.id);
    return done(run);
  }

  get(id: number): KnownRun | undefined {
    return this.#kept.get(id);
  }

  /** Lists the runs of one kind, or of all kinds, oldest first. */
  list(kind?: RunKind): KnownRun[] {
    return [...this.#kept.values()].filter((run) => kind === undefined || run.kind === kind);
  }

  /** Stops all runs. Resolves when they have ended: by then, a server test has put its values back. */
  async stopAll(): Promise<void> {
    const running = [...this.#kept.values()].filter(({ isOver }) => !isOver);
    for (const { stop } of running) stop();
    await Promise.all(running.map(({ ended }) => ended));
  }
}
