import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { Spoilt } from './actions.js';
import { type DeviceAt, type Seen, seenOf } from './seen.js';

/** Something that happens during a step: an event, the end of a wait, or the end of the test. */
export type Happening =
  | {
      readonly kind: 'event';
      readonly event: TrafficEvent;
      readonly seen: Seen | undefined;
      /** What the faults of the current step did to this request; undefined if none applies to it. */
      readonly spoilt: Spoilt | undefined;
    }
  | { readonly kind: 'time' }
  | { readonly kind: 'end'; readonly verdict: 'fail' | 'error' | 'inconclusive'; readonly text: string };

/**
 * Maximum number of queued happenings: a client that floods the line before the first step must not use up
 * all memory.
 */
const MOST_WAITING = 20_000;

/**
 * Queues happenings, in order, until a step looks at them. A step therefore begins with the first event after
 * the one that ended the previous step, however fast the client is.
 */
export class Inbox {
  readonly #waiting: Happening[] = [];
  readonly #deviceAt: DeviceAt;
  readonly #haveActed: () => Spoilt | undefined;
  #wake: (() => void) | undefined;

  /**
   * @param haveActed called with each request; reports what the faults of the current step have done since
   * the
   *   previous request
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

  /** Resolves with the next happening, which stays in the queue until `take`. */
  async next(): Promise<Happening> {
    while (this.#waiting.length === 0) await this.#arrival();
    return this.#waiting[0] as Happening;
  }

  /**
   * Resolves with the first event that `find` accepts. It and all earlier ones stay in the queue.
   * @returns undefined if `isOver`, or if the test ends before such an event comes
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

  /** Resolves when something is queued. */
  async #arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Removes the happening that `next` returned. */
  take(): void {
    this.#waiting.shift();
  }

  /** Removes and returns the whole queue. */
  drain(): Happening[] {
    return this.#waiting.splice(0);
  }
}
