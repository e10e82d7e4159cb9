/** A message to publish. */
export interface Publication {
  readonly topic: string;
  readonly payload: string | Uint8Array;
  readonly retain?: boolean;
  /** Quality of service; the bench's when absent. */
  readonly qos?: 0 | 1 | 2;
  /** Whether the message is for the current connection only; it is dropped when that is lost. */
  readonly isFleeting?: boolean;
  /** Correlation data of a response (MQTT 5, 4.10). */
  readonly correlation?: Uint8Array;
}

/**
 * The bounded queue of messages to the broker. A retained message is the state of its topic: only the newest
 * per topic is stored, and replaces the older one in the queue. When the queue is full, the oldest message
 * that is not retained is dropped and counted; a state is dropped only if nothing else is waiting.
 */
export class Outbox {
  readonly #limits: { readonly messages: number; readonly bytes: number };
  readonly #waiting = new Map<string, Publication>();
  /** The keys of messages that are not retained. */
  readonly #passing = new Set<string>();
  #bytes = 0;
  #last = 0;
  /** Number of dropped messages. */
  lost = 0;

  constructor(limits: { readonly messages: number; readonly bytes: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Whether so much is waiting that reports which can wait should wait. */
  get isBusy(): boolean {
    const { messages, bytes } = this.#limits;
    return this.#waiting.size > BUSY * messages || this.#bytes > BUSY * bytes;
  }

  /**
   * Adds a message.
   * @returns whether states of topics were also dropped, so that the broker must get all states again
   */
  add(message: Publication): boolean {
    // Topics can't contain this character.
    const key = message.retain ? message.topic : `\u0000${++this.#last}`;
    const older = this.#waiting.get(key);
    if (older) this.#bytes -= sizeOf(older);
    if (!message.retain) this.#passing.add(key);
    this.#waiting.set(key, message);
    this.#bytes += sizeOf(message);
    let hasLostState = false;
    while (this.#waiting.size > this.#limits.messages || this.#bytes > this.#limits.bytes) {
      const [passing] = this.#passing;
      const [oldest = ''] = this.#waiting.keys();
      hasLostState ||= passing === undefined;
      this.#remove(passing ?? oldest);
      this.lost++;
    }
    return hasLostState;
  }

  /** Takes the oldest message out of the queue. */
  take(): Publication | undefined {
    const [oldest] = this.#waiting.keys();
    return oldest === undefined ? undefined : this.#remove(oldest);
  }

  #remove(key: string): Publication | undefined {
    const message = this.#waiting.get(key);
    this.#waiting.delete(key);
    this.#passing.delete(key);
    if (message) this.#bytes -= sizeOf(message);
    return message;
  }

  /**
   * Call this when the connection is lost. Messages that were sent but not acknowledged wait again, before
   * the others. Fleeting messages are dropped, and so are retained ones, because their states are reported
   * again after reconnecting. A message that clears a retained one is kept.
   */
  disconnected(unacknowledged: Iterable<Publication>): void {
    const messages = [...unacknowledged, ...this.#waiting.values()];
    this.#waiting.clear();
    this.#passing.clear();
    this.#bytes = 0;
    for (const message of messages)
      if (!message.isFleeting && (!message.retain || message.payload.length === 0)) this.add(message);
  }
}

/** The fraction of a limit above which the outbox counts as busy. */
const BUSY = 0.25;

function sizeOf({ topic, payload, correlation }: Publication): number {
  return topic.length + payload.length + (correlation?.length ?? 0);
}
