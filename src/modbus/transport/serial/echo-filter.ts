import { concatBytes, NO_BYTES } from '../../protocol/bytes.js';
import type { EchoSetting } from '../settings.js';

/**
 * What the filter noticed: a reply that came back, a loop of replies that the filter ended, or another
 * station that sent while we sent.
 */
export type Noticed = 'echo' | 'loop' | 'collision';

/** The received bytes that remain after the echo of our own bytes is removed. */
export interface Filtered {
  readonly bytes: Uint8Array;
  readonly noticed: readonly Noticed[];
}

export interface EchoFilterOptions {
  readonly echo: EchoSetting;
  /** How long one character is on the wire, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** Reports whether these bytes are one whole frame. */
  readonly isFrame: (bytes: Uint8Array) => boolean;
  /** Reports whether this frame of ours could also be a client's request. */
  readonly mayBeRequest: (adu: Uint8Array) => boolean;
}

/** The position of a piece in the frame that was sent. */
export interface SentPiece {
  /** True if the piece belongs to the same frame as the previous piece. */
  readonly continues: boolean;
  /** True if another piece of the frame follows. */
  readonly more: boolean;
}

/** The part of one of our frames that was sent so far, and may come back. */
interface Transmission {
  bytes: Uint8Array;
  /** True if more pieces of the frame will follow. */
  isOpen: boolean;
}

/** Maximum stray bytes before an echo. A line driver that switches on late leaves such bytes. */
const MOST_STRAYS = 2;
/** Maximum bytes between two copies that count as noise rather than a message. */
const MOST_NOISE = 3;
/** Maximum number of frames waiting for their echoes. */
const MOST_AWAITED = 256;
/** How many copies in a row are passed on if they may be requests. The next copy may be part of a loop. */
const MOST_COPIES = 16;
/**
 * Maximum number of consecutive echoes that may be missing. An adapter that hears itself always does, but
 * noise may corrupt an echo.
 */
const MOST_MISSED = 1;

/**
 * Removes the echo of our own replies from the received bytes. Some two-wire adapters hear what they send.
 * The response to functions such as 5 and 6 has the same bytes as the request, so its echo would be executed
 * as a request, answered, heard again, and so on forever.
 *
 * - `yes`: a copy of a reply that arrives within the echo window is its echo.
 * - `no`: nothing is removed.
 * - `auto`: a copy of a reply is certainly an echo if no client sends such a frame, or if the copy began on
 *   the wire while we were sending. After that, the line is treated as with `yes`, until two replies in a row
 *   do not come back. Any other copy may be a client that repeats its write, so it is executed. If the copy
 *   was an echo, the reply to it comes back too. After 16 copies with no other message between them, no more
 *   copies are executed, and the loop ends.
 *
 * With each setting, bytes that began on the wire while we were sending and are not an echo are a collision.
 *
 * Pure: the caller brings the clock, and reports when the echo window of the last reply is over.
 */
export class EchoFilter {
  #options: EchoFilterOptions;
  readonly #awaited: Transmission[] = [];
  /**
   * Received bytes that may begin an echo, and the latest time at which the first of them began on the wire.
   */
  #held: Uint8Array = NO_BYTES;
  #heldFrom = 0;
  #heardAt = 0;
  #sendingUntil = Number.NEGATIVE_INFINITY;
  /** True if an echo was recognised for certain. */
  #isKnown = false;
  /** How many replies in a row did not come back since the last echo. */
  #missed = 0;
  /** How many copies in a row may be requests, and how many other bytes came since the last copy. */
  #copies = 0;
  #others = 0;
  #noticed: Noticed[] = [];

  constructor(options: EchoFilterOptions) {
    this.#options = options;
  }

  /** Changes the options. Frames sent earlier may still come back, and a known echo stays known. */
  change(options: EchoFilterOptions): void {
    this.#options = options;
    this.#close();
    if (options.echo === 'no') this.#awaited.length = 0;
  }

  /** Records that these bytes were written, and that the last of them is on the wire at `endsAt`. */
  sent(bytes: Uint8Array, endsAt: number, { continues, more }: SentPiece): void {
    this.#sendingUntil = endsAt;
    if (this.#options.echo === 'no') return;
    const last = this.#awaited.at(-1);
    if (continues && last?.isOpen) {
      last.bytes = concatBytes(last.bytes, bytes);
      last.isOpen = more;
      return;
    }
    this.#close();
    if (this.#awaited.length === MOST_AWAITED) this.#awaited.shift();
    this.#awaited.push({ bytes, isOpen: more });
  }

  /** Adds bytes received at `at`. */
  received(chunk: Uint8Array, at: number): Filtered {
    this.#heardAt = at;
    if (this.#held.length === 0) this.#hold(chunk);
    else this.#held = concatBytes(this.#held, chunk);
    return this.#match(false);
  }

  /** Reports that the line has been silent: held bytes that began like an echo and did not continue are not an echo. */
  silence(): Filtered {
    return this.#match(true);
  }

  /** Reports that the echo window is over: everything we sent would have come back by now. */
  windowOver(): Filtered {
    const filtered = this.#match(true);
    while (this.#awaited.shift()) this.#miss();
    return filtered;
  }

  /** Holds these bytes; the last of them has just arrived. */
  #hold(bytes: Uint8Array): void {
    this.#held = bytes;
    this.#heldFrom = this.#heardAt - bytes.length * this.#options.wireTime;
  }

  /**
   * Compares the held bytes with those that were sent.
   * @param isOver true if no more bytes will continue the held ones
   */
  #match(isOver: boolean): Filtered {
    let passed: Uint8Array = NO_BYTES;
    for (let sent = this.#awaited[0]; sent && this.#held.length > 0; sent = this.#awaited[0]) {
      const end = this.#endOfCopy(sent.bytes);
      const isWhole = end !== undefined && end <= this.#held.length;
      const mayGoOn = end !== undefined && (!isWhole || (sent.isOpen && end === this.#held.length));
      if (mayGoOn && !isOver) return this.#filtered(passed);
      this.#awaited.shift();
      if (!isWhole) {
        if (!this.#beganWhileSending()) this.#miss();
        continue;
      }
      if (!this.#isEcho(sent.bytes)) passed = joined(passed, this.#held.subarray(0, end));
      this.#hold(this.#held.subarray(end));
    }
    return this.#filtered(joined(passed, this.#takeOthers()));
  }

  /** Takes the held bytes, which are not a copy of anything we sent. */
  #takeOthers(): Uint8Array {
    const others = this.#held;
    this.#held = NO_BYTES;
    if (others.length === 0) return others;
    this.#others += others.length;
    if (this.#others > MOST_NOISE) this.#copies = 0;
    if (this.#beganWhileSending()) {
      // A transmission has at most one collision.
      this.#sendingUntil = Number.NEGATIVE_INFINITY;
      this.#noticed.push('collision');
    }
    return others;
  }

  #filtered(bytes: Uint8Array): Filtered {
    const noticed = this.#noticed;
    if (noticed.length > 0) this.#noticed = [];
    return { bytes, noticed };
  }

  /** Returns where the copy of `bytes` ends in the held bytes, or will end; undefined if there is no copy. */
  #endOfCopy(bytes: Uint8Array): number | undefined {
    const most = this.#options.wireTime > 0 ? MOST_STRAYS : 0;
    for (let strays = 0; strays <= most; strays++) {
      if (startsAlike(this.#held, strays, bytes)) return strays + bytes.length;
    }
    return undefined;
  }

  /** Reports whether a copy of these bytes, which are all that was sent of a frame, is an echo. */
  #isEcho(bytes: Uint8Array): boolean {
    const { echo, isFrame, mayBeRequest } = this.#options;
    const whole = isFrame(bytes);
    const isCertain = whole && (this.#beganWhileSending() || !mayBeRequest(bytes));
    if (isCertain || echo === 'yes' || this.#isKnown) {
      this.#isKnown ||= isCertain;
      this.#missed = 0;
      this.#copies = 0;
      this.#noticed.push('echo');
      return true;
    }
    if (!whole) return false;
    this.#copies++;
    this.#others = 0;
    if (this.#copies === MOST_COPIES + 1) this.#noticed.push('loop');
    return this.#copies > MOST_COPIES;
  }

  /** Records that a reply did not come back. */
  #miss(): void {
    this.#missed++;
    if (this.#missed > MOST_MISSED) this.#isKnown = false;
  }

  #beganWhileSending(): boolean {
    return this.#heldFrom < this.#sendingUntil;
  }

  /** Records that no more pieces of the last frame follow. */
  #close(): void {
    const last = this.#awaited.at(-1);
    if (last) last.isOpen = false;
  }
}

/**
 * Reports whether the bytes received starting at `start` are the beginning of what was sent, or the other way
 * round.
 */
function startsAlike(received: Uint8Array, start: number, sent: Uint8Array): boolean {
  const length = Math.min(received.length - start, sent.length);
  for (let i = 0; i < length; i++) if (received[start + i] !== sent[i]) return false;
  return true;
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array {
  if (before.length === 0) return after;
  return after.length === 0 ? before : concatBytes(before, after);
}
