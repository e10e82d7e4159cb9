import { InterByteTimeoutParser } from '@serialport/parser-inter-byte-timeout';
import type { Clock } from '../clock.js';

/** The parser keeps a burst until its end. A longer burst is passed on in pieces of this many bytes. */
const LONGEST_PIECE = 1024;

/**
 * Reports when nothing has been heard for the discard gap: once after each burst of bytes, and once after the
 * start.
 *
 * The bytes of the port go through serialport's parser, which finds the ends of bursts. It knows nothing of a
 * stalled process, and passes on the pieces of a long burst before its end. So its word is checked: the line
 * was silent if nothing more is heard until the gap is over and everything that has arrived has been read.
 */
export class SilenceDetector {
  readonly #parser: InterByteTimeoutParser;
  readonly #gap: number;
  readonly #clock: Clock;
  readonly #onSilence: () => void;
  #lastAt: number;
  /** True when the silence after the last bytes was reported. */
  #isTold = false;
  #callOff = (): void => {};

  /**
   * Makes the detector.
   * @param gap in ms
   * @param onSilence must not throw
   */
  constructor(gap: number, clock: Clock, onSilence: () => void) {
    this.#gap = gap;
    this.#clock = clock;
    this.#onSilence = onSilence;
    this.#lastAt = clock.now();
    this.#parser = new InterByteTimeoutParser({ interval: Math.max(1, gap), maxBufferSize: LONGEST_PIECE });
    this.#parser.on('data', () => this.#check());
    this.#check();
  }

  /** Reports that the port received `bytes`, at least one, at `at`. */
  heard(bytes: Uint8Array, at: number): void {
    this.#lastAt = at;
    this.#isTold = false;
    this.#parser.write(bytes);
  }

  stop(): void {
    this.#parser.removeAllListeners();
    this.#parser.destroy();
    this.#callOff();
  }

  #check(): void {
    const heardAt = this.#lastAt;
    const remaining = heardAt + this.#gap - this.#clock.now();
    this.#callOff();
    this.#callOff = this.#clock.callAfter(Math.max(0, remaining), () => {
      if (this.#lastAt !== heardAt || this.#isTold) return;
      this.#isTold = true;
      this.#onSilence();
    });
  }
}
