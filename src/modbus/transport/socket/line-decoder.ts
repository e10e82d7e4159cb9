import type { Framing } from '../../protocol/framing.js';
import { systemClock } from '../clock.js';
import { newFramer } from '../framer/new-framer.js';
import { FramedDecoder } from './framed-decoder.js';
import { MbapDecoder } from './mbap-decoder.js';
import type { StreamDecoder } from './stream-decoder.js';

/** A client that got no answer to a damaged request waits longer than this many ms before it asks again. */
const NEW_ATTEMPT_MS = 100;

/**
 * Makes a new decoder for one connection.
 * @param owns tells whether a unit identifier is ours; asked where requests to others can be seen
 */
function decoderOf(framing: Framing, owns: (unitId: number) => boolean): StreamDecoder {
  if (framing.name === 'socket') return new MbapDecoder();
  const options = { t35: NEW_ATTEMPT_MS, carrier: 'stream' as const };
  return new FramedDecoder(newFramer(framing, owns, options), framing);
}

interface LineDecoderOptions {
  /** Returns the framing that the line has now. */
  readonly framing: () => Framing;
  readonly owns: (unitId: number) => boolean;
  /** Is called when a frame was begun and the rest of it did not come in time. */
  readonly silent: () => void;
}

/**
 * The decoder of one connection. It follows the framing of its line, and the silence that ends a frame in
 * that framing.
 */
export class LineDecoder {
  readonly #options: LineDecoderOptions;
  #framing: Framing;
  #decoder: StreamDecoder;
  #callOff = (): void => {};

  constructor(options: LineDecoderOptions) {
    this.#options = options;
    this.#framing = options.framing();
    this.#decoder = this.#newDecoder();
  }

  /** The decoder in the framing of the last `follow`. */
  get now(): StreamDecoder {
    return this.#decoder;
  }

  /**
   * Goes on in the line's current framing.
   * @param receivedAt when the last bytes came, `performance.now()` ms
   * @param isOpen true when bytes that wait for the rest of their frame are read in the new framing
   */
  follow(receivedAt: number, isOpen: boolean): void {
    const framing = this.#options.framing();
    if (framing === this.#framing) return;
    this.#framing = framing;
    const { unread } = this.#decoder;
    this.#decoder = this.#newDecoder();
    if (isOpen) this.#decoder.push(unread, unread.length, receivedAt);
  }

  /**
   * Waits for the rest of a frame, if a frame was begun.
   * @param since when the last bytes came, `performance.now()` ms
   */
  watchSilence(since: number, isOpen: boolean): void {
    this.#callOff();
    const { discardGapMs, incomplete } = this.#decoder;
    if (discardGapMs === undefined || !isOpen || !incomplete) return;
    const remaining = since + discardGapMs - systemClock.now();
    this.#callOff = systemClock.callAfter(Math.max(0, remaining), this.#options.silent);
  }

  stopWatching(): void {
    this.#callOff();
  }

  #newDecoder(): StreamDecoder {
    this.#callOff();
    return decoderOf(this.#framing, this.#options.owns);
  }
}
