import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { Spoilt } from './actions.js';
import { type DeviceAt, type Seen, seenOf } from './seen.js';

/** Something that happens while a step runs: an event, the end of a wait, or the end of the test. */
export type Happening =
  | {
      readonly kind: 'event';
      readonly event: TrafficEvent;
      readonly seen: Seen | undefined;
      /** What the faults of the running step did to this request; undefined when none was to act. */
      readonly spoilt: Spoilt | undefined;
    }
  | { readonly kind: 'time' }
  | { readonly kind: 'end'; readonly verdict: 'fail' | 'error' | 'inconclusive'; readonly text: string };

/**
 * How many happenings wait at most: a client that floods the line before the first step must not take all
 * memory.
 */
const MOST_WAITING = 20_000;

/**
 * Keeps what has happened, in order, until a step looks at it. So a step begins with the first event after
 * the one that ended the step before it, however fast the client is.
 */
export class Inbox {
  readonly #waiting: Happening[] = [];
  readonly #deviceAt: DeviceAt;
  readonly #haveActed: () => Spoilt | undefined;
  #wake: (() => void) | undefined;

  /**
   * @param haveActed called with each request; says what the faults of the running step have done since the
   *   request before
   */
  constructor(deviceAt: DeviceAt, haveActed: () => Spoilt | undefined) {
    this.#deviceAt = deviceAt;
    this.#haveActed = haveActed;
  }

  add(event: TrafficEvent): void {
    const seen = seenOf(event, this.#deviceAt);
    const spoilt = seen?.reply === undefined && seen ? this.#haveActed() : undefined;
    this.put({ kind: 'event', event, seen, spoilt });
  }

  put(happening: Happening): void {
    this.#waiting.push(happening);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
    this.#wake?.();
  }

  /** Resolves with the next happening, which stays in the inbox until `take`. */
  async next(): Promise<Happening> {
    while (this.#waiting.length === 0) await this.#arrival();
    return this.#waiting[0] as Happening;
  }

  /**
   * Resolves with the first event that `find` takes. It and all that came before it stay in the inbox.
   * @returns undefined when `isOver`, or when the test ends before such an event comes
   */
  async first(
    find: (event: TrafficEvent, seen: Seen | undefined) => boolean,
    isOver: () => boolean,
  ): Promise<TrafficEvent | undefined> {
    for (;;) {
      for (const happening of this.#waiting) {
        if (happening.kind === 'end') return undefined;
        if (happening.kind === 'time') continue;
        if (find(happening.event, happening.seen)) return happening.event;
      }
      if (isOver()) return undefined;
      await this.#arrival();
    }
  }

  /** Resolves when something is put in. */
  async #arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Removes the happening that `next` has shown. */
  take(): void {
    this.#waiting.shift();
  }

  /** Removes and returns everything that waits. */
  drain(): Happening[] {
    return this.#waiting.splice(0);
  }
}
