import type { TrafficEvent } from './event.js';
import type { Outline, TrafficStream } from './stream.js';

/** Which events a reader wants. It is asked with the outline, so that the other events are not read. */
export type Wanted = (outline: Outline) => boolean;

const EVERYTHING: Wanted = () => true;

/**
 * A place in the stream, from which events are read one after the other, the oldest first. Nothing is kept for a cursor:
 * what the stream gives up before it was read is only counted.
 */
export class TrafficCursor {
  readonly #stream: TrafficStream;
  readonly #wanted: Wanted;
  #next: number;
  #leftOut = 0;

  /** @param after the sequence number of the last event that is not wanted */
  constructor(stream: TrafficStream, after: number, wanted = EVERYTHING) {
    this.#stream = stream;
    this.#wanted = wanted;
    this.#next = Math.max(after + 1, stream.first);
  }

  /** Sequence number of the last event that was passed, wanted or not. */
  get at(): number {
    return this.#next - 1;
  }

  /** Passes the next event. @returns it; undefined when it is not wanted, or there is none yet */
  read(): TrafficEvent | undefined {
    const { first } = this.#stream;
    if (this.#next < first) {
      this.#leftOut += first - this.#next;
      this.#next = first;
    }
    if (this.#next > this.#stream.last) return undefined;
    const seq = this.#next++;
    const outline = this.#stream.outline(seq);
    return outline && this.#wanted(outline) ? this.#stream.read(seq) : undefined;
  }

  /** How many events were left out since this was asked last: the stream had given them up. */
  takeLeftOut(): number {
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut;
  }
}
