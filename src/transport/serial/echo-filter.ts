import { concatBytes } from '../../protocol/bytes.js';

/** What is left of received bytes once the echo of our own is taken out, and what was noticed about it. */
export interface Filtered {
  readonly bytes: Uint8Array;
  readonly noticed: 'echo' | 'collision' | undefined;
}

interface Transmission {
  readonly bytes: Uint8Array;
  /** When nobody else could have spoken yet: the end of the transmission and t3.5. */
  readonly quietUntil: number;
  /** When an echo of it would have come in at the latest. */
  readonly until: number;
  /** Bytes of it that have come back. */
  returned: number;
  /** When the first of them came. */
  returnedAt: number;
}

/** Functions whose response is a copy of the request: these alone can be mistaken for each other. */
const COPYING: ReadonlySet<number> = new Set([5, 6, 8, 21, 22]);

const NOTHING = new Uint8Array(0);

/**
 * Takes the echo of our own replies out of what is received. Some two-wire adapters hear what they send, and the
 * response to functions such as 5 and 6 is the same bytes as the request: without this, such a reply would be
 * executed as a request, answered, heard again, and so on for ever.
 *
 * Whether there is an echo is learned: from a reply that can't be a request, or that comes back before anybody else
 * may speak. Where neither tells, a copy that could be an echo is taken for one on a line with a wire; on a
 * pseudo-terminal, where a client may send its next request at once, for a request.
 *
 * Pure: the caller brings the clock.
 */
export class EchoFilter {
  readonly #hasWire: boolean;
  readonly #t35: number;
  readonly #latency: number;
  #echoes: 'unknown' | 'yes' | 'no' = 'unknown';
  #sent: Transmission | undefined;
  #held: Uint8Array = NOTHING;

  /** @param latency how long the adapter may hold received bytes back, in ms. */
  constructor(options: { hasWire: boolean; t35: number; latency: number }) {
    this.#hasWire = options.hasWire;
    this.#t35 = options.t35;
    this.#latency = options.latency;
  }

  /** These bytes were written at `at`; the last of them is on the wire at `endsAt`. */
  sent(bytes: Uint8Array, endsAt: number): void {
    if (this.#echoes === 'no') return;
    const quietUntil = endsAt + this.#t35;
    const until = quietUntil + this.#latency;
    this.#sent = { bytes, quietUntil, until, returned: 0, returnedAt: 0 };
  }

  /** Bytes that were received at `at`. */
  received(chunk: Uint8Array, at: number): Filtered {
    const sent = this.#sent;
    if (!sent) return { bytes: chunk, noticed: undefined };
    if (sent.returned === 0 && at > sent.until) {
      this.#sent = undefined;
      this.#echoes = this.#echoes === 'yes' ? 'unknown' : 'no';
      return { bytes: chunk, noticed: undefined };
    }
    if (sent.returned === 0) sent.returnedAt = at;
    const alike = commonLength(chunk, sent.bytes, sent.returned);
    sent.returned += alike;
    if (sent.returned === sent.bytes.length) return this.#complete(sent, chunk.subarray(alike));
    if (alike < chunk.length) return this.#differs(sent, chunk);
    this.#held = concatBytes(this.#held, chunk);
    return { bytes: NOTHING, noticed: undefined };
  }

  /** The line has been silent: what began like an echo and did not go on was none. */
  silence(): Uint8Array {
    return this.#release(NOTHING);
  }

  /** The whole transmission has come back: an echo, or a request that is the same bytes. */
  #complete(sent: Transmission, rest: Uint8Array): Filtered {
    const certain =
      this.#echoes === 'yes' ||
      !COPYING.has(sent.bytes[1] ?? 0) ||
      (this.#hasWire && sent.returnedAt < sent.quietUntil);
    this.#sent = undefined;
    this.#held = NOTHING;
    if (!certain && !this.#hasWire) return { bytes: concatBytes(sent.bytes, rest), noticed: undefined };
    const news = certain && this.#echoes !== 'yes';
    if (certain) this.#echoes = 'yes';
    return { bytes: rest, noticed: news ? 'echo' : undefined };
  }

  /** Something else than our transmission came back. Where there is an echo, somebody spoke at the same time. */
  #differs(sent: Transmission, chunk: Uint8Array): Filtered {
    const collided = this.#hasWire && sent.returnedAt < sent.quietUntil;
    if (this.#echoes === 'unknown' && sent.returned === 0 && !collided) this.#echoes = 'no';
    return { bytes: this.#release(chunk), noticed: collided ? 'collision' : undefined };
  }

  #release(chunk: Uint8Array): Uint8Array {
    const released = concatBytes(this.#held, chunk);
    if (this.#held.length > 0 || chunk.length > 0) this.#sent = undefined;
    this.#held = NOTHING;
    return released;
  }
}

/** How many bytes of `chunk` are those of `sent` from `offset` on. */
function commonLength(chunk: Uint8Array, sent: Uint8Array, offset: number): number {
  const most = Math.min(chunk.length, sent.length - offset);
  for (let i = 0; i < most; i++) if (chunk[i] !== sent[offset + i]) return i;
  return most;
}
