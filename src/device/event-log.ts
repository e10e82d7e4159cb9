/** The entries of the log, one byte each (Application Protocol V1.1b3, 6.10). */
const Entry = {
  restart: 0x00,
  listenOnly: 0x04,
  sent: 0x40,
  received: 0x80,
} as const;

const RECEIVED_BROADCAST = 0x40;
const RECEIVED_OVERRUN = 0x10;
const RECEIVED_ERROR = 0x02;
/** The bit for listen-only mode, in entries of both kinds. */
const IN_LISTEN_ONLY = 0x20;

const SIZE = 64;

interface ReceivedEvent {
  readonly broadcast: boolean;
  /** True when bytes that were no valid frame came since the request before. */
  readonly error: boolean;
  /** True when characters were lost since the request before. */
  readonly overrun: boolean;
  readonly listenOnly: boolean;
}

/** The last 64 communication events of a server. */
export class EventLog {
  /** A ring buffer. The newest entry is the one before index `#entered`. */
  readonly #entries = new Uint8Array(SIZE);
  #entered = 0;

  received({ broadcast, error, overrun, listenOnly }: ReceivedEvent): void {
    this.#enter(
      Entry.received |
        (broadcast ? RECEIVED_BROADCAST : 0) |
        (overrun ? RECEIVED_OVERRUN : 0) |
        (error ? RECEIVED_ERROR : 0) |
        mode(listenOnly),
    );
  }

  /**
   * Logs that a request is over, even if nothing was sent.
   * @param exception the bit of the exception sent, or 0
   */
  sent(exception: number, listenOnly: boolean): void {
    this.#enter(Entry.sent | exception | mode(listenOnly));
  }

  restarted(): void {
    this.#enter(Entry.restart);
  }

  becameListenOnly(): void {
    this.#enter(Entry.listenOnly);
  }

  clear(): void {
    this.#entered = 0;
  }

  get newestFirst(): Uint8Array {
    return Uint8Array.from(
      { length: Math.min(this.#entered, SIZE) },
      (_, i) => this.#entries[(this.#entered - 1 - i) % SIZE] as number,
    );
  }

  #enter(entry: number): void {
    this.#entries[this.#entered++ % SIZE] = entry;
  }
}

function mode(listenOnly: boolean): number {
  return listenOnly ? IN_LISTEN_ONLY : 0;
}
