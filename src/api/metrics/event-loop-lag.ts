import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type Family, gauge } from './family.js';

const RESOLUTION_MS = 10;
const QUANTILES = [0.5, 0.99, 1] as const;

/**
 * How late the event loop gets to its timers. Measuring begins with the first question, so that it costs nothing where
 * nobody asks.
 */
export class EventLoopLag {
  #delays: IntervalHistogram | undefined;

  /** The lag since the last question; without values at the first one. */
  family(): Family {
    const values = this.#delays
      ? QUANTILES.map((quantile) => [{ quantile }, this.#seconds(quantile)] as const)
      : [];
    this.#delays?.reset();
    if (!this.#delays) {
      this.#delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#delays.enable();
    }
    return gauge('event_loop_lag_seconds', 'How late timers were since the metrics were read last.', values);
  }

  stop(): void {
    this.#delays?.disable();
  }

  /** Node tells the time between two timers, in ns: the lag and the interval. */
  #seconds(quantile: number): number {
    const delay = (this.#delays?.percentile(100 * quantile) ?? 0) / 1e9;
    return Math.max(0, delay - RESOLUTION_MS / 1000);
  }
}
