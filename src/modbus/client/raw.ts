import { concatBytes, newBytes } from '../protocol/bytes.js';
import { type Clock, systemClock } from '../transport/clock.js';
import { type ClientTarget, newWire, type Wire, type WireListener, type WireTimes } from './wire.js';

/** Arbitrary bytes to send. */
export interface RawPiece {
  readonly bytes: Uint8Array;
  /** The pause before these bytes, in ms from the end of the previous bytes; 0 when absent. */
  readonly waitMs?: number;
}

/** The bytes of one read. */
export interface RawChunk {
  readonly bytes: Uint8Array;
  /** When they were read, in ms of the clock. */
  readonly at: number;
}

/** What was sent and received during an exchange. Times are in ms of the clock. */
export interface RawExchange {
  /** When the first byte was passed to the port or the socket. */
  readonly startedAt: number;
  /** When the last byte had left, according to the speed of the port. */
  readonly sentAt: number;
  readonly chunks: readonly RawChunk[];
  /** How many of the chunks arrived before the last piece was sent, and so can't be an answer to it. */
  readonly early: number;
  readonly endedAt: number;
  /** Why the port or the connection is gone, as one sentence; undefined while it is open. */
  readonly lost: string | undefined;
}

/**
 * Whether an exchange is over: `complete` at once, `perhaps` after the silence that ends a frame, `more`
 * after the timeout.
 */
export type HeardSoFar = 'complete' | 'perhaps' | 'more';

export interface RawWait {
  /** How long to wait after the last byte sent, in ms. */
  readonly timeout: number;
  /** Judges all bytes received so far; without it, the exchange lasts until the timeout. */
  readonly look?: (heard: Uint8Array) => HeardSoFar;
}

/**
 * Maximum bytes kept per exchange, or between two exchanges: more than eight replies of the largest size. A
 * server that sends more never stops.
 */
const MOST_HEARD = 4096;
/**
 * How long an exchange may continue after its timeout while bytes keep coming: long enough for a frame that
 * has begun (the longest, in ASCII, has 513 characters), and on a network this many ms.
 */
const LONGEST_FRAME = 513;
const NETWORK_REST_MS = 500;

/**
 * A serial port or a connection below the level of frames: sends bytes with planned pauses, and receives
 * bytes with their times. One exchange at a time.
 */
export class RawConnection implements WireListener {
  readonly #clock: Clock;
  readonly #wire: Wire;
  #isOpen = false;
  #unsolicited: RawChunk[] = [];
  #chunks: RawChunk[] | undefined;
  /** How many more bytes fit into `#chunks`, or into `#unsolicited` between exchanges. */
  #room = MOST_HEARD;
  #lost: string | undefined;
  #news: () => void = () => {};
  /** When the last byte passed in either direction, in ms of the clock. */
  lastAt = Number.NEGATIVE_INFINITY;

  /** @param wireTo lets tests supply their own wire */
  constructor(
    target: ClientTarget,
    clock: Clock = systemClock,
    wireTo: (target: ClientTarget, listener: WireListener) => Wire = newWire,
  ) {
    this.#clock = clock;
    this.#wire = wireTo(target, this);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get times(): WireTimes {
    return this.#wire.times;
  }

  /**
   * Opens the port or the connection unless it is open.
   * @returns one sentence that says why it can't be opened; undefined on success
   */
  async open(timeout: number): Promise<string | undefined> {
    if (this.#isOpen) return undefined;
    const problem = await this.#wire.open(timeout);
    this.#isOpen = problem === undefined;
    if (this.#isOpen) this.#lost = undefined;
    return problem;
  }

  /**
   * Sends the pieces and collects what arrives. The connection must be open. Aborting the signal ends the
   * exchange at once.
   */
  async exchange(
    pieces: readonly RawPiece[],
    { timeout, look = () => 'more' }: RawWait,
    signal?: AbortSignal,
  ): Promise<RawExchange> {
    const chunks: RawChunk[] = [];
    this.#chunks = chunks;
    this.#room = MOST_HEARD;
    const onStop = () => this.#news();
    signal?.addEventListener('abort', onStop);
    const startedAt = this.#clock.now();
    let sentAt = startedAt;
    let early = 0;
    for (const { bytes, waitMs = 0 } of pieces) {
      if (waitMs > 0) await this.#until(sentAt + waitMs, signal);
      if (!this.#isOpen || signal?.aborted) break;
      early = chunks.length;
      // Taken before the write: if the process stalls here, a reply seems later than it was, never earlier.
      const from = Math.max(this.#clock.now(), sentAt);
      const lost = this.#wire.write(bytes);
      if (lost !== undefined) this.lost(lost);
      sentAt = from + bytes.length * this.times.character;
    }
    this.lastAt = Math.max(this.lastAt, sentAt);
    await this.#hear(chunks, early, sentAt + timeout, { look, signal });
    signal?.removeEventListener('abort', onStop);
    this.#chunks = undefined;
    this.#room = MOST_HEARD - sizeOf(this.#unsolicited);
    return { startedAt, sentAt, chunks, early, endedAt: this.#clock.now(), lost: this.#lost };
  }

  /** Returns the bytes that arrived outside an exchange since the last call. */
  takeUnsolicited(): readonly RawChunk[] {
    const taken = this.#unsolicited;
    this.#unsolicited = [];
    this.#room = MOST_HEARD;
    return taken;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#wire.close();
  }

  /** Ends a connection with RST, like a client that crashed; closes a port. */
  async reset(): Promise<void> {
    this.#isOpen = false;
    if (this.#wire.reset) this.#wire.reset();
    else await this.#wire.close();
  }

  heard(bytes: Uint8Array): void {
    const at = this.#clock.now();
    this.lastAt = Math.max(this.lastAt, at);
    const kept = bytes.subarray(0, this.#room);
    this.#room -= kept.length;
    if (kept.length > 0) (this.#chunks ?? this.#unsolicited).push({ bytes: Uint8Array.from(kept), at });
    // Drop a connection whose server does not stop sending. Keep a port: it is slow, and other devices may be
    // sending.
    if (this.#room === 0 && this.#wire.reset) {
      this.#wire.reset();
      this.lost('the server never stops sending');
    } else this.#news();
  }

  lost(reason: string): void {
    this.#isOpen = false;
    this.#lost = reason;
    this.#news();
  }

  /** Resolves when the exchange is over. Chunks that came `early` are ignored. */
  #hear(
    chunks: readonly RawChunk[],
    early: number,
    late: number,
    { look, signal }: { look: (heard: Uint8Array) => HeardSoFar; signal: AbortSignal | undefined },
  ): Promise<void> {
    const { gap, character } = this.times;
    const latest = late + Math.max(NETWORK_REST_MS, LONGEST_FRAME * character);
    let heard: Uint8Array = newBytes(0);
    let seen = early;
    return new Promise((resolve) => {
      let callOff = (): void => {};
      const check = (): void => {
        callOff();
        if (seen < chunks.length) {
          heard = concatBytes(heard, ...chunks.slice(seen).map(({ bytes }) => bytes));
          seen = chunks.length;
        }
        const state = seen === early ? 'more' : look(heard);
        const silentAt = (chunks.at(-1)?.at ?? Number.NEGATIVE_INFINITY) + gap;
        const endsAt = Math.min(latest, state === 'perhaps' ? silentAt : Math.max(late, silentAt));
        const isCut = !this.#isOpen || this.#room === 0 || signal?.aborted === true;
        if (state === 'complete' || isCut || this.#clock.now() >= endsAt) {
          this.#news = () => {};
          resolve();
        } else callOff = this.#clock.callAfter(Math.max(1, endsAt - this.#clock.now()), check);
      };
      this.#news = check;
      check();
    });
  }

  #until(at: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      // Losing the connection ends the pause.
      this.#news = () => {
        if (!this.#isOpen || signal?.aborted) resolve();
      };
      this.#clock.callAt(at, resolve);
    });
  }
}

function sizeOf(chunks: readonly RawChunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
