import type { Dependent, PlacedSignal } from './point.js';
import { nearestValue } from './registers/value.js';
import type { Signal } from './signals/signal.js';

/** The maximum number of values in a FIFO response (Application Protocol V1.1b3, 6.18). */
export const MAX_FIFO_COUNT = 31;

/**
 * The definition of a FIFO queue that a signal feeds: the address of its pointer, and the ms between two
 * values.
 */
export interface FeedDefinition {
  readonly address: number;
  readonly signal: PlacedSignal;
  readonly every: number;
}

/**
 * A FIFO queue to which a signal adds its value every `every` ms of the device's clock, for the first time
 * after `every` ms. The queue holds the newest 31 values, oldest first.
 */
export class QueueFeed implements Dependent {
  readonly keeps = true;
  readonly definition: FeedDefinition;
  readonly #signal: Signal;
  /** The values that became final before something changed that the signal depends on. */
  #fixed: { readonly count: number; readonly words: readonly number[] } = { count: 0, words: [] };

  constructor(definition: FeedDefinition, signal: Signal) {
    this.definition = definition;
    this.#signal = signal;
  }

  get needs(): readonly string[] {
    return this.definition.signal.definition.needs;
  }

  /** Returns the words in the queue at a time of the device's clock. */
  wordsAt(time: number): readonly number[] {
    const { every } = this.definition;
    const count = Math.floor(time / every);
    const first = Math.max(this.#fixed.count, count - MAX_FIFO_COUNT) + 1;
    const added = Array.from({ length: Math.max(0, count - first + 1) }, (_, i) => {
      return Number(nearestValue('uint16', this.#signal.valueAt((first + i) * every)).value);
    });
    return [...this.#fixed.words, ...added].slice(-MAX_FIFO_COUNT);
  }

  settle(time: number): void {
    this.#fixed = { count: Math.floor(time / this.definition.every), words: this.wordsAt(time) };
  }
}
