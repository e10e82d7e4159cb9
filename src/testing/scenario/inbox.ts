import type { TrafficEvent } from '../../traffic/event.js';
import { type DeviceAt, type Seen, seenOf } from './seen.js';

/** What happens while a step runs. */
export type Happening =
  | { readonly kind: 'event'; readonly event: TrafficEvent; readonly seen: Seen | undefined }
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
  /** How often the faults of the running step have acted. */
  readonly #hits: () => number;
  #wake: (() => void) | undefined;
  /** The newest request, and the hits before it. A rule counts its hit after the request has become an event. */
  #newest: { readonly seen: Seen; readonly hits: number } | undefined;
  readonly #spoilt = new WeakSet<Seen>();

  constructor(deviceAt: DeviceAt, hits: () => number) {
    this.#deviceAt = deviceAt;
    this.#hits = hits;
  }

  /** Takes an event of the stream. */
  add(event: TrafficEvent): void {
    const seen = seenOf(event, this.#deviceAt);
    if (seen && seen.reply === undefined) {
      this.settle();
      this.#newest = { seen, hits: this.#hits() };
    }
    this.put({ kind: 'event', event, seen });
  }

  put(happening: Happening): void {
    this.#waiting.push(happening);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
    this.#wake?.();
  }

  /** What happened next, once it has happened; it stays until `take`. */
  async next(): Promise<Happening> {
    while (this.#waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    return this.#waiting[0] as Happening;
  }

  /** Takes away what `next` has shown. */
  take(): void {
    this.#waiting.shift();
  }

  /** Takes all that waits. */
  drain(): Happening[] {
    return this.#waiting.splice(0);
  }

  /** Whether a fault of the running step acted on a request. The line has to be done with planning its reply. */
  isSpoilt(seen: Seen): boolean {
    if (this.#newest?.seen === seen) this.settle();
    return this.#spoilt.has(seen);
  }

  /** Notes whether the newest request was spoilt. Call before the faults of a step are removed with their counts. */
  settle(): void {
    if (this.#newest && this.#hits() > this.#newest.hits) this.#spoilt.add(this.#newest.seen);
  }
}
