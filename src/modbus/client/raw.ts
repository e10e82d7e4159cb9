import { concatBytes, newBytes } from '../protocol/bytes.js';
import { type Clock, systemClock } from '../transport/clock.js';
import { type ClientTarget, newWire, type Wire, type WireListener, type WireTimes } from './wire.js';

/** Bytes to send, whatever they are. */
export interface RawPiece {
  readonly bytes: Uint8Array;
  /** The pause before these bytes, in ms from the end of the bytes before; 0 when absent. */
  readonly waitMs?: number;
}

/** Bytes that came in one read. */
export interface RawChunk {
  readonly bytes: Uint8Array;
  /** When they were read, in ms of the clock. */
  readonly at: number;
}

/** What was sent and what came until the exchange was over. Times are in ms of the clock. */
export interface RawExchange {
  /** When the first byte was handed to the port or the socket. */
  readonly startedAt: number;
  /** When the last byte had left, as far as the speed of the port tells. */
  readonly sentAt: number;
  readonly chunks: readonly RawChunk[];
  /** How many of the chunks came before the last piece was sent: they are no answer to it. */
  readonly early: number;
  readonly endedAt: number;
  /** Why the port or the connection is gone, as one sentence; undefined while it is open. */
  readonly lost: string | undefined;
}

/**
 * Whether an exchange is over: `complete` at once, `perhaps` after the silence that ends a frame, `more`
 * after the time-out.
 */
export type HeardSoFar = 'complete' | 'perhaps' | 'more';

export interface RawWait {
  /** How long to wait after the last byte out, in ms. */
  readonly timeout: number;
  /** Looks at all bytes that have come; without it, the exchange lasts until the time-out. */
  readonly look?: (heard: Uint8Array) => HeardSoFar;
}

/**
 * The most bytes that are kept of one exchange, or of the time between two: more than eight replies of the
 * largest size. Who sends more never ends.
 */
const MOST_HEARD = 4096;
/**
 * How long an exchange lasts after its time-out while bytes keep coming: a frame that has begun gets its time
 * (the longest, of ASCII, has 513 characters), and on a network this many ms.
 */
const LONGEST_FRAME = 513;
const NETWORK_REST_MS = 500;

/**
 * A serial port or a connection, below frames: bytes out with planned pauses between them, bytes in with
 * their times. One exchange at a time.
 */
export class RawConnection implements WireListener {
  readonly #clock: Clock;
  readonly #wire: Wire;
  #isOpen = false;
  #unsolicited: RawChunk[] = [];
  #chunks: RawChunk[] | undefined;
  /** How many bytes `#chunks`, or `#unsolicited` between exchanges, may still take. */
  #room = MOST_HEARD;
  #lost: string | undefined;
  #news: () => void = () => {};
  /** When the last byte passed in either direction, in ms of the clock. */
  lastAt = Number.NEGATIVE_INFINITY;

  /** @param wireTo tests bring a wire of their own */
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
   * @returns one sentence that says why it can't be opened
   */
  async open(timeout: number): Promise<string | undefined> {
    if (this.#isOpen) return undefined;
    const problem = await this.#wire.open(timeout);
    this.#isOpen = problem === undefined;
    if (this.#isOpen) this.#lost = undefined;
    return problem;
  }

  /** Sends the pieces, and hears what comes. The connection has to be open. A signal ends that at once. */
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
      // Taken before the write: if the process is stalled here, a reply looks later, never too early.
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

  /** Returns the bytes that came while no exchange was under way, since the last call. */
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

  /** Ends a connection by RST, as a client does that has crashed; closes a port. */
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
    // A connection is worth nothing any more. A port stays: its bytes are slow, and those of others.
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

  /** Resolves when the exchange is over. What came `early` is not looked at. */
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
      // A connection that is lost meanwhile ends the pause.
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
