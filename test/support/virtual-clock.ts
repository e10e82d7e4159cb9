import { vi } from 'vitest';
import type { Clock } from '../../src/modbus/transport/clock.js';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that advances only on request: what it times happens at once, and always in the same order. */
export class VirtualClock implements Clock {
  #now = 0;
  #timers: Timer[] = [];
  /** How late a call that is due at this time is, as on a machine that stalls. */
  lateBy: (at: number) => number = () => 0;

  now(): number {
    return this.#now;
  }

  /** The number of pending calls. */
  get waiting(): number {
    return this.#timers.length;
  }

  callAt(at: number, callback: () => void): () => void {
    const due = Math.max(at, this.#now);
    const timer = { at: due + this.lateBy(due), callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  callAfter(ms: number, callback: () => void): () => void {
    return this.callAt(this.#now + ms, callback);
  }

  /**
   * Makes the global timers use this clock, because serialport's parser uses them. `vi.unstubAllGlobals`
   * undoes this.
   */
  replaceGlobalTimers(): void {
    vi.stubGlobal('setTimeout', (callback: () => void, ms = 0) => this.callAfter(ms, callback));
    const clearReal = clearTimeout;
    // An earlier file may have left a timer that does not belong to this clock.
    vi.stubGlobal('clearTimeout', (timer?: (() => void) | NodeJS.Timeout) =>
      typeof timer === 'function' ? timer() : clearReal(timer),
    );
  }

  /** Advances by `ms`, and makes all calls that become due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#takeNext(end); due !== undefined; due = this.#takeNext(end)) {
      this.#now = due.at;
      due.callback();
    }
    this.#now = end;
  }

  /** The same, but also awaits work in between: a break, a port that is being opened. */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let due = this.#takeNext(end); due !== undefined; due = this.#takeNext(end)) {
      this.#now = due.at;
      due.callback();
      await settled();
    }
    this.#now = end;
  }

  #takeNext(end: number): Timer | undefined {
    const next = this.#timers
      .filter(({ at }) => at <= end)
      .reduce<Timer | undefined>(
        (first, timer) => (first && first.at <= timer.at ? first : timer),
        undefined,
      );
    if (next) this.#timers = this.#timers.filter((timer) => timer !== next);
    return next;
  }
}

/** Resolves once all promises that can settle now have settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
