import { concatBytes } from '../../protocol/bytes.js';
import type { EchoSetting } from '../settings.js';

/** What was noticed: a reply that came back, a loop of replies that was ended, somebody else who spoke with us. */
export type Noticed = 'echo' | 'loop' | 'collision';

/** What is left of received bytes once the echo of our own is taken out. */
export interface Filtered {
  readonly bytes: Uint8Array;
  readonly noticed: readonly Noticed[];
}

export interface EchoFilterOptions {
  readonly echo: EchoSetting;
  /** How long one character is on the wire, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** Are these bytes one whole frame? */
  readonly isFrame: (bytes: Uint8Array) => boolean;
  /** Could this frame of ours be a client's request as well? */
  readonly mayBeRequest: (adu: Uint8Array) => boolean;
}

/** Which piece of a frame was sent. */
export interface Piece {
  /** It belongs to the frame of the piece before it. */
  readonly continues: boolean;
  /** Another piece of the frame follows. */
  readonly more: boolean;
}

/** A frame of ours, as far as it was sent, that may come back. */
interface Transmission {
  bytes: Uint8Array;
  /** More pieces of the frame will follow. */
  isOpen: boolean;
}

/** A line driver that switches on late leaves so many bytes before the echo. */
const MOST_STRAYS = 2;
/** So few bytes between two copies are noise, and no message. */
const MOST_NOISE = 3;
/** The echoes of so many frames are waited for. */
const MOST_AWAITED = 256;
/** So many copies in a row are passed on that may be requests; the next one may be part of a loop. */
const MOST_COPIES = 16;
/** An adapter that hears what it sends does so each time, but noise may spoil one echo. */
const MOST_MISSED = 1;

const NOTHING = new Uint8Array(0);

/**
 * Takes the echo of our own replies out of what is received. Some two-wire adapters hear what they send. The response
 * to functions such as 5 and 6 is the same bytes as the request, so its echo would be executed as a request, answered,
 * heard again, and so on for ever.
 *
 * - `yes`: what comes back of a reply within the echo window is its echo.
 * - `no`: nothing is taken out.
 * - `auto`: a reply that comes back is certainly an echo when no client sends such a frame, or when the copy began on
 *   the wire while we were sending. Then the line is treated as with `yes`, until two replies in a row have not come
 *   back. Any other copy may be a client that repeats its write, so it is executed. If it was an echo, the reply to it
 *   comes back as well: after 16 copies with no other message between them, no more are executed, and the loop ends.
 *
 * With each setting, bytes that began on the wire while we were sending and are no echo are a collision.
 *
 * Pure: the caller brings the clock, and says when the echo window of the last reply is over.
 */
export class EchoFilter {
  #options: EchoFilterOptions;
  readonly #awaited: Transmission[] = [];
  /** Received bytes that may be the beginning of an echo, and when the first of them began on the wire at the latest. */
  #held: Uint8Array = NOTHING;
  #heldFrom = 0;
  #heardAt = 0;
  #sendingUntil = Number.NEGATIVE_INFINITY;
  /** An echo was heard for certain. */
  #isKnown = false;
  /** Replies in a row that did not come back since then. */
  #missed = 0;
  /** Copies in a row that may be requests, and the other bytes since the last of them. */
  #copies = 0;
  #others = 0;
  #noticed: Noticed[] = [];

  constructor(options: EchoFilterOptions) {
    this.#options = options;
  }

  /** The line goes on with other settings. What was sent before may still come back, and what was learned holds. */
  change(options: EchoFilterOptions): void {
    this.#options = options;
    this.#close();
    if (options.echo === 'no') this.#awaited.length = 0;
  }

  /** These bytes were written; the last of them is on the wire at `endsAt`. */
  sent(bytes: Uint8Array, endsAt: number, { continues, more }: Piece): void {
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

  /** Bytes that were received at `at`. */
  received(chunk: Uint8Array, at: number): Filtered {
    this.#heardAt = at;
    if (this.#held.length === 0) this.#hold(chunk);
    else this.#held = concatBytes(this.#held, chunk);
    return this.#match(false);
  }

  /** The line has been silent: what began like an echo and did not go on is none. */
  silence(): Filtered {
    return this.#match(true);
  }

  /** What was sent would have come back by now. */
  windowOver(): Filtered {
    const filtered = this.#match(true);
    while (this.#awaited.shift()) this.#miss();
    return filtered;
  }

  /** Holds bytes, the last of which came last. */
  #hold(bytes: Uint8Array): void {
    this.#held = bytes;
    this.#heldFrom = this.#heardAt - bytes.length * this.#options.wireTime;
  }

  /** @param isOver nothing more of what came belongs to it */
  #match(isOver: boolean): Filtered {
    const passed: Uint8Array[] = [];
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
      if (!this.#isEcho(sent.bytes)) passed.push(this.#held.subarray(0, end));
      this.#hold(this.#held.subarray(end));
    }
    passed.push(this.#takeOthers());
    return this.#filtered(passed);
  }

  /** What is held and is nothing that we sent. */
  #takeOthers(): Uint8Array {
    const others = this.#held;
    this.#held = NOTHING;
    if (others.length === 0) return others;
    this.#others += others.length;
    if (this.#others > MOST_NOISE) this.#copies = 0;
    if (this.#beganWhileSending()) {
      // One collision for each transmission.
      this.#sendingUntil = Number.NEGATIVE_INFINITY;
      this.#noticed.push('collision');
    }
    return others;
  }

  #filtered(passed: readonly Uint8Array[]): Filtered {
    const noticed = this.#noticed;
    this.#noticed = [];
    return { bytes: passed.length === 1 ? (passed[0] as Uint8Array) : concatBytes(...passed), noticed };
  }

  /** Where the copy of `bytes` ends in what is held, or will end; undefined when there is none. */
  #endOfCopy(bytes: Uint8Array): number | undefined {
    const most = this.#options.wireTime > 0 ? MOST_STRAYS : 0;
    for (let strays = 0; strays <= most; strays++) {
      if (startsAlike(this.#held.subarray(strays), bytes)) return strays + bytes.length;
    }
    return undefined;
  }

  /** All that was sent of a frame has come back. */
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

  /** A reply did not come back. */
  #miss(): void {
    this.#missed++;
    if (this.#missed > MOST_MISSED) this.#isKnown = false;
  }

  #beganWhileSending(): boolean {
    return this.#heldFrom < this.#sendingUntil;
  }

  /** The frame that was sent last is all that there is of it. */
  #close(): void {
    const last = this.#awaited.at(-1);
    if (last) last.isOpen = false;
  }
}

/** True when one of the two is the beginning of the other. */
function startsAlike(received: Uint8Array, sent: Uint8Array): boolean {
  const length = Math.min(received.length, sent.length);
  for (let i = 0; i < length; i++) if (received[i] !== sent[i]) return false;
  return true;
}
