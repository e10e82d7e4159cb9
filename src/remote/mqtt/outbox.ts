/** What is published. */
export interface Publication {
  readonly topic: string;
  readonly payload: string | Uint8Array;
  readonly retain?: boolean;
  /** That of the bench when absent. */
  readonly qos?: 0 | 1 | 2;
  /** Means something on the connection alone that is there now: forgotten with it. */
  readonly isFleeting?: boolean;
  /** For a response (MQTT 5, 4.10). */
  readonly correlation?: Uint8Array;
}

/**
 * What waits for the broker, bounded. What is retained is the state of its topic: the newest of each topic is kept, in the place of
 * the older one. When there is too much, the oldest that is not retained goes and is counted; a state goes only where nothing else waits.
 */
export class Outbox {
  readonly #limits: { readonly messages: number; readonly bytes: number };
  readonly #waiting = new Map<string, Publication>();
  /** The keys of those that are not retained. */
  readonly #passing = new Set<string>();
  #bytes = 0;
  #last = 0;
  /** How many messages were given up. */
  lost = 0;

  constructor(limits: { readonly messages: number; readonly bytes: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Whether so much waits that what can be reported later should be. */
  get isBusy(): boolean {
    const { messages, bytes } = this.#limits;
    return this.#waiting.size > BUSY * messages || this.#bytes > BUSY * bytes;
  }

  /** @returns whether the states of topics were given up, too: the broker has to be told all of them again */
  add(message: Publication): boolean {
    // No topic contains this character.
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

  /** The oldest, which does not wait any more. */
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
   * To be called when the connection is lost. What was sent and not acknowledged waits again, before the others. What is fleeting is
   * forgotten, and so is what is retained: it is reported anew when the broker is there again. Not so what takes back something retained.
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

/** Of the limits. */
const BUSY = 0.25;

function sizeOf({ topic, payload, correlation }: Publication): number {
  return topic.length + payload.length + (correlation?.length ?? 0);
}
