import { randomUUID } from 'node:crypto';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Simulator } from '../simulator.js';

/** The running simulator as commands see it, and what they may do beside it. */
export interface CommandContext {
  readonly simulator: Simulator;
  readonly log: Logger;
  /** Another one for each simulator: who sees another one has lost what he knew. */
  readonly run: string;
  /** The directory in which remote clients may let files be made. */
  readonly writesIn: string;
  /** For the owner of the machine: his files may name any path, and a simulator may be without a line for a moment. */
  readonly isOwner: boolean;
  /** Numbers definitions, each the first time that it is seen: another number means that something has changed. */
  readonly revisionOf: (definition: object) => number;
  readonly lag: LoopLag;
}

export function newContext(simulator: Simulator, log: Logger, writesIn?: string): CommandContext {
  return {
    simulator,
    log,
    run: randomUUID(),
    isOwner: false,
    writesIn: simulator.trafficFile?.directory ?? writesIn ?? simulator.directory,
    revisionOf: revisions(),
    lag: new LoopLag(),
  };
}

/** The room as those see it who read the files of the owner: the reload of the configuration, and the kept state. */
export function ownersContext(simulator: Simulator, log: Logger): CommandContext {
  return { ...newContext(simulator, log), isOwner: true };
}

function revisions(): (definition: object) => number {
  const known = new WeakMap<object, number>();
  let last = 0;
  return (definition) => {
    const revision = known.get(definition) ?? ++last;
    known.set(definition, revision);
    return revision;
  };
}

const RESOLUTION_MS = 10;
const QUANTILES = [0.5, 0.99, 1] as const;

/** How late the event loop of the lines gets to its timers. Measuring begins with the first question. */
class LoopLag {
  #delays: IntervalHistogram | undefined;

  /** Seconds for each of `QUANTILES` since the last question; undefined at the first one. */
  take(): readonly number[] | undefined {
    const delays = this.#delays;
    // Node measures the time between two timers in ns: the lag and the interval.
    const seconds = delays && QUANTILES.map((each) => lagOf(delays.percentile(100 * each)));
    delays?.reset();
    if (!delays) {
      this.#delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#delays.enable();
    }
    return seconds;
  }

  stop(): void {
    this.#delays?.disable();
  }
}

function lagOf(ns: number): number {
  return Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000);
}
