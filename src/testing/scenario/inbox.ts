import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { Spoilt } from './actions.js';
import type { DeviceAt } from './event-text.js';
import { type Seen, seenOf } from './seen.js';

/** What happens while a step runs. */
export type Happening =
  | {
      readonly kind: 'event';
      readonly event: TrafficEvent;
      readonly seen: Seen | undefined;
      /** A fault of the running step acted on this request, or was to act. */
      readonly spoilt: Spoilt | undefined;
    }
  | { readonly kind: 'time' }
  | { readonly kind: 'end'; readonly verdict: 'fail' | 'error' | 'inconclusive'; readonly text: string };

/** A client that floods the line before the first step must not take all memory. */
const MOST_WAITING = 20_000;

/**
 * What has happened and no step has looked at yet, in its order. So a step begins with the first event after the one that
 * ended the step before it, however fast the client is.
 */
export class Inbox {
  readonly #waiting: Happening[] = [];
  readonly #deviceAt: DeviceAt;
  readonly #haveActed: () => Spoilt | undefined;
  #wake: (() => void) | undefined;

  /** @param haveActed what the faults of the running step have done since the last request; called with each request */
  constructor(deviceAt: DeviceAt, haveActed: () => Spoilt | undefined) {
    this.#deviceAt = deviceAt;
    this.#haveActed = haveActed;
  }

  /** Takes an event of the stream. */
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

  /** What happened next, once it has happened; it stays until `take`. */
  async next(): Promise<Happening> {
    while (this.#waiting.length === 0) await this.#put();
    return this.#waiting[0] as Happening;
  }

  /** The reply to a request, once it has come; it stays, as all that comes before it. @returns undefined when `isOver` */
  async replyTo(request: number, isOver: () => boolean): Promise<TrafficEvent | undefined> {
    for (;;) {
      for (const happening of this.#waiting) {
        if (happening.kind === 'end') return undefined;
        if (happening.kind === 'time') continue;
        const { event } = happening;
        if (event.kind === 'reply' && event.request === request) return event;
      }
      if (isOver()) return undefined;
      await this.#put();
    }
  }

  /** Something has happened. */
  async #put(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** Takes away what `next` has shown. */
  take(): void {
    this.#waiting.shift();
  }

  /** Takes all that waits. */
  drain(): Happening[] {
    return this.#waiting.splice(0);
  }
}
