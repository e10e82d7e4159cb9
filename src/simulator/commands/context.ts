import { randomUUID } from 'node:crypto';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Simulator } from '../simulator.js';

/** The running simulator as commands see it, and the other things that they need. */
export interface CommandContext {
  readonly simulator: Simulator;
  readonly log: Logger;
  /** Unique per simulator. A client that sees a new ID must discard everything it has read before. */
  readonly run: string;
  /** The directory in which remote clients may create files. */
  readonly writesIn: string;
  /**
   * True for commands from the owner of the machine: their files may have any path, and a simulator may have
   * no line for a moment.
   */
  readonly isOwner: boolean;
  /** Returns a number for each definition. A different number means that something has changed. */
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

/** A context for commands that read the owner's files: the reload of the configuration, and the saved state. */
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

/** A quantile of timer delays, in seconds. */
export interface Lag {
  readonly quantile: number;
  readonly seconds: number;
}

/** Measures how late the timers on the line side run. Measuring starts with the first call of `take`. */
class LoopLag {
  #delays: IntervalHistogram | undefined;

  /** The lag since the last call; undefined on the first call. */
  take(): readonly Lag[] | undefined {
    const delays = this.#delays;
    // Node measures the time between two timers, in ns: the interval plus the lag.
    const lags =
      delays &&
      QUANTILES.map((quantile) => ({ quantile, seconds: lagOf(delays.percentile(100 * quantile)) }));
    delays?.reset();
    if (!delays) {
      this.#delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#delays.enable();
    }
    return lags;
  }

  stop(): void {
    this.#delays?.disable();
  }
}

function lagOf(ns: number): number {
  return Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000);
}
