import { InterByteTimeoutParser } from '@serialport/parser-inter-byte-timeout';

/**
 * How long bytes that have arrived may take to reach us through the kernel and the event loop, in ms. After a stall
 * of the process the timer for the silence fires before the bytes that came meanwhile are read: whoever believed it
 * would throw away the first half of a good frame.
 */
const GRACE_MS = 3;

/** The parser keeps a copy of what it is given, and that something came is all that it has to know. */
const SOMETHING = new Uint8Array(1);

/**
 * Reports when nothing has been heard for the discard gap: once after each burst of bytes, and once after the
 * start. The parser is there for its timer between bytes, which serialport's authors maintain.
 */
export class SilenceDetector {
  readonly #parser: InterByteTimeoutParser;
  readonly #gap: number;
  readonly #onSilence: () => void;
  #lastAt: number;
  #grace: NodeJS.Timeout | NodeJS.Immediate | undefined;

  /** @param gap in ms; @param onSilence must not throw. */
  constructor(gap: number, onSilence: () => void) {
    this.#gap = gap;
    this.#onSilence = onSilence;
    this.#lastAt = performance.now();
    this.#parser = new InterByteTimeoutParser({ interval: Math.max(1, gap) });
    this.#parser.on('data', () => this.#suspect());
    this.#grace = setTimeout(() => this.#suspect(), gap);
  }

  /** Something came in at `at`: bytes, or a character that was damaged. */
  heard(at: number): void {
    this.#lastAt = at;
    this.#parser.write(SOMETHING);
  }

  stop(): void {
    this.#parser.removeAllListeners();
    this.#parser.destroy();
    this.#cancelGrace();
  }

  /** It may be silent: looks again when everything that has arrived must have been read. */
  #suspect(): void {
    const heardAt = this.#lastAt;
    // The parser also reports when its buffer is full, which is no silence.
    if (performance.now() - heardAt < this.#gap / 2) return;
    this.#cancelGrace();
    this.#grace = setTimeout(() => {
      this.#grace = setImmediate(() => {
        if (this.#lastAt === heardAt) this.#onSilence();
      });
    }, GRACE_MS);
  }

  #cancelGrace(): void {
    clearTimeout(this.#grace as NodeJS.Timeout);
    clearImmediate(this.#grace as NodeJS.Immediate);
  }
}
