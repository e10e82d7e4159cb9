import { concatBytes } from '../../protocol/bytes.js';
import type { Framing } from '../../protocol/framing.js';
import type { Framer, FramerEvent } from '../framer/framer.js';
import type { Decoded, StreamDecoder } from './stream-decoder.js';

/**
 * The discard gap, in ms. It is longer than a network delays the rest of a frame, and shorter than a person
 * waits.
 */
const DISCARD_GAP_MS = 1000;

/**
 * The framer gets this many bytes at a time. 64 KiB of the shortest frames keep the framer, and with it every
 * other line, busy for tens of ms. A slice is longer than any frame, so that noise is not reported in small
 * pieces.
 */
const SLICE_LENGTH = 1024;

const NOTHING = new Uint8Array(0);
const MORE: Decoded = { kind: 'more' };

/** Decodes a framing of serial lines on a connection: RTU over TCP, ASCII over TCP. */
export class FramedDecoder implements StreamDecoder {
  readonly discardGapMs = DISCARD_GAP_MS;
  readonly #framer: Framer;
  readonly #framing: Framing;
  /** The bytes that were pushed and not yet given to the framer. */
  #rest: Uint8Array = NOTHING;
  #restAt = 0;
  /** The events that the framer found and nobody has taken yet. */
  #found: FramerEvent[] = [];
  #next = 0;
  /** The bytes that the framer has and that are in no event yet. */
  #waiting: Uint8Array = NOTHING;

  /** Makes the decoder. @param framer for this connection alone */
  constructor(framer: Framer, framing: Framing) {
    this.#framer = framer;
    this.#framing = framing;
  }

  get pending(): boolean {
    return this.#next < this.#found.length || this.#rest.length > 0;
  }

  get incomplete(): boolean {
    return this.#waiting.length > 0;
  }

  get unread(): Uint8Array {
    const found = this.#found.slice(this.#next).map(({ bytes }) => bytes);
    return concatBytes(...found, this.#waiting, this.#rest);
  }

  push(memory: Uint8Array, length: number, at: number): void {
    this.#rest = concatBytes(this.#rest, memory.subarray(0, length));
    this.#restAt = at;
    if (this.#next >= this.#found.length) this.#search();
  }

  /** Does nothing, because `push` has made a copy: framers keep views of what they get. */
  keep(): void {}

  silence(): void {
    this.#found = [...this.#found.slice(this.#next), ...this.#dropReported(this.#framer.silence())];
    this.#next = 0;
  }

  next(): Decoded {
    const event = this.#found[this.#next];
    if (event === undefined) return MORE;
    this.#next++;
    if (this.#next === this.#found.length) this.#search();
    return this.#decoded(event);
  }

  clear(): void {
    this.#framer.reset({ aligned: true });
    this.#rest = NOTHING;
    this.#found = [];
    this.#next = 0;
    this.#waiting = NOTHING;
  }

  /** Reads on until the next event that can be reported. */
  #search(): void {
    this.#found = [];
    this.#next = 0;
    while (this.#found.length === 0 && this.#rest.length > 0) {
      const slice = this.#rest.subarray(0, SLICE_LENGTH);
      this.#rest = this.#rest.length > SLICE_LENGTH ? this.#rest.subarray(SLICE_LENGTH) : NOTHING;
      this.#waiting = this.#waiting.length > 0 ? concatBytes(this.#waiting, slice) : slice;
      this.#found = this.#dropReported(this.#framer.push(slice, this.#restAt));
    }
  }

  #dropReported(events: FramerEvent[]): FramerEvent[] {
    const length = events.reduce((sum, { bytes }) => sum + bytes.length, 0);
    // A copy, because a few bytes must not keep a large read in memory.
    this.#waiting = length < this.#waiting.length ? this.#waiting.slice(length) : NOTHING;
    return events;
  }

  #decoded(event: FramerEvent): Decoded {
    const { kind, bytes, startedAt, receivedAt } = event;
    const frame = { bytes, startedAt, receivedAt };
    switch (kind) {
      case 'request': {
        const content = this.#framing.decode(bytes);
        if (content === undefined) return { kind: 'event', event: { kind: 'noise', noise: frame } };
        return { kind: 'request', content: { ...content, pdu: content.pdu.slice() }, adu: bytes };
      }
      case 'foreign':
        return { kind: 'event', event: { kind, role: event.role, frame } };
      case 'duplicate':
        return { kind: 'event', event: { kind, frame } };
      case 'noise':
        return { kind: 'event', event: { kind, noise: frame, isRest: event.isRest } };
    }
  }
}
