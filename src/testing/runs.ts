import { done, type Outcome, refusal } from '../simulator/commands/refusal.js';
import type { Simulator } from '../simulator/simulator.js';
import type { Doing } from './doing.js';
import type { Finding, Report, ServerTestReport } from './report/report.js';
import type { RunKind } from './run-kinds.js';

type Progress = ReturnType<typeof progressOn>;

/**
 * Tells how far a run has come, as events of its lines, so that a client that follows the traffic follows the
 * run as well.
 * @param test number of the run
 */
function progressOn({ lines: known }: Simulator, lines: readonly string[], test: number) {
  const report = (state: 'began' | 'step' | 'over', text: string) => {
    for (const line of lines) known.get(line)?.tested({ test, state, text });
  };
  return {
    began: (name: string) => report('began', name),
    /**
     * Tells that a step or a check has ended.
     * @param number place of the step or check in the run, counted from 1
     */
    ended({ title, verdict, summary }: Pick<Finding, 'title' | 'verdict' | 'summary'>, number: number) {
      const [first = ''] = summary.split('\n');
      const why = verdict === 'pass' || first === '' ? '' : ` (${first})`;
      report('step', `${number} ${title}: ${verdict}${why}`);
    },
    /**
     * Tells what the run waits for.
     * @param text a sentence
     */
    waits: (text: string) => report('step', text),
    over: ({ name, verdict }: Pick<Report, 'name' | 'verdict'>) => report('over', `${name}: ${verdict}`),
  };
}

/** How many runs of one kind are kept. The oldest that are over are dropped first. */
const MOST_KEPT = 20;

export type AnyReport = Report | ServerTestReport;

interface Runnable {
  readonly isOver: boolean;
  readonly report: AnyReport;
  readonly doing: Doing | undefined;
  run(): Promise<AnyReport>;
}

/** A run on lines of a running simulator; a server test needs none. */
export interface KnownRun {
  readonly id: number;
  readonly kind: RunKind;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  /** The place of the server that is tested; server tests only. */
  readonly server?: string | undefined;
  readonly report: AnyReport;
  /** What it does now; undefined when it is over. */
  readonly doing: Doing | undefined;
  /**
   * Ends the run and keeps its report. Does nothing when the run is over.
   * @param failure why the running step or check has failed; without it, that step or check stays undecided
   */
  readonly stop: (failure?: string) => void;
  /** Resolves when the run is over, and its lines are free for another one. */
  readonly ended: Promise<void>;
}

/**
 * The runs of a running simulator: all that run, and of each kind the newest that are over. At most one of them
 * works on a line at a time, because two would take each other's faults for their own.
 */
export class Runs {
  readonly simulator: Simulator;
  readonly #kept = new Map<number, KnownRun>();
  /** Id of the newest run. Runs of all kinds share the ids, which count from 1. */
  #last = 0;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  /**
   * Starts a run. Refused unless each of its lines is open and no other run works on it.
   * @param make makes the run, which tells `progress` how far it has come
   * @param stop ends the run; `failure` says what has failed, and is absent when somebody stops it
   * @param server the place of the server that is tested
   */
  start<Run extends Runnable>(
    kind: RunKind,
    lines: readonly string[],
    make: (progress: Progress) => Run,
    stop: (run: Run, failure?: string) => void,
    server?: string,
  ): Outcome<KnownRun> {
    // A refused scenario has no path to its line, because it may name lines in many places.
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

  /** Lists the runs of one kind, or of all kinds, the oldest first. */
  list(kind?: RunKind): KnownRun[] {
    return [...this.#kept.values()].filter((run) => kind === undefined || run.kind === kind);
  }

  /** Stops all runs. Resolves when they are over: a server test has put its values back by then. */
  async stopAll(): Promise<void> {
    const running = [...this.#kept.values()].filter(({ isOver }) => !isOver);
    for (const { stop } of running) stop();
    await Promise.all(running.map(({ ended }) => ended));
  }
}
