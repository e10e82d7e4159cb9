import { randomUUID } from 'node:crypto';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Simulator } from '../simulator.js';

/** The running simulator as commands see it, and what else they need. */
export interface CommandContext {
  readonly simulator: Simulator;
  readonly log: Logger;
  /** Unique per simulator. A client that sees a new id must drop everything that it has read before. */
  readonly run: string;
  /** The directory in which remote clients may have files made. */
  readonly writesIn: string;
  /**
   * True for commands of the owner of the machine: their files may have any path, and a simulator may have no
   * line for a moment.
   */
  readonly isOwner: boolean;
  /** Numbers definitions, each when it is first seen: another number means that something has changed. */
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

/**
 * A context for commands that read files of the owner: the reload of the configuration, and the kept state.
 */
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

/** How late, in seconds, timers were at most in this share of cases. */
export interface Lag {
  readonly quantile: number;
  readonly seconds: number;
}

/** Measures how late the timers of the line side run. Measuring begins with the first call of `take`. */
class LoopLag {
  #delays: IntervalHistogram | undefined;

  /** The lag since the last call; undefined at the first. */
  take(): readonly Lag[] | undefined {
    const delays = this.#delays;
    // Node measures the time between two timers, in ns: the lag and the interval.
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
