import type { Framing } from '../../protocol/framing.js';
import { decoderOf } from './decoder-of.js';
import { SilenceTimer } from './silence-timer.js';
import type { StreamDecoder } from './stream-decoder.js';

interface LineDecoderOptions {
  /** What the line speaks at the moment. */
  readonly framing: () => Framing;
  readonly owns: (unitId: number) => boolean;
  /** Called when a frame was begun and the rest of it did not come in time. */
  readonly silent: () => void;
}

/** The decoder of one connection, which follows the framing of its line, and the silence that ends a frame of it. */
export class LineDecoder {
  readonly #options: LineDecoderOptions;
  #framing: Framing;
  #decoder: StreamDecoder;
  /** Absent where silence means nothing. */
  #silence: SilenceTimer | undefined;

  constructor(options: LineDecoderOptions) {
    this.#options = options;
    this.#framing = options.framing();
    this.#decoder = this.#newDecoder();
  }

  /** In the framing of the last `follow`. */
  get now(): StreamDecoder {
    return this.#decoder;
  }

  /**
   * Goes on in the line's current framing.
   * @param receivedAt when the last bytes came, `performance.now()` ms
   * @param isOpen whether bytes that wait for the rest of their frame are read in the new framing
   */
  follow(receivedAt: number, isOpen: boolean): void {
    const framing = this.#options.framing();
    if (framing === this.#framing) return;
    this.#framing = framing;
    const { unread } = this.#decoder;
    this.#decoder = this.#newDecoder();
    if (isOpen) this.#decoder.push(unread, unread.length, receivedAt);
  }

  /** Waits for the rest of a frame, if one was begun; nothing has come since `since`, `performance.now()` ms. */
  watchSilence(since: number, isOpen: boolean): void {
    if (this.#silence === undefined) return;
    if (isOpen && this.#decoder.incomplete) this.#silence.restart(since);
    else this.#silence.stop();
  }

  stopWatching(): void {
    this.#silence?.stop();
  }

  #newDecoder(): StreamDecoder {
    const { owns, silent } = this.#options;
    const decoder = decoderOf(this.#framing, owns);
    const { discardGapMs } = decoder;
    this.#silence?.stop();
    this.#silence = discardGapMs === undefined ? undefined : new SilenceTimer(discardGapMs, silent);
    return decoder;
  }
}
