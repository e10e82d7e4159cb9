/** What is published. */
export interface Message {
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
 * What waits for the broker, bounded. Of what is retained, the newest of each topic is kept, in the place of the older one. When
 * there is too much, the oldest goes and is counted.
 */
export class Outbox {
  readonly #limits: { readonly messages: number; readonly bytes: number };
  readonly #waiting = new Map<string, Message>();
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

  add(message: Message): void {
    // No topic contains this character.
    const key = message.retain ? message.topic : `\u0000${++this.#last}`;
    const older = this.#waiting.get(key);
    if (older) this.#bytes -= sizeOf(older);
    this.#waiting.set(key, message);
    this.#bytes += sizeOf(message);
    while (this.#waiting.size > this.#limits.messages || this.#bytes > this.#limits.bytes) {
      this.take();
      this.lost++;
    }
  }

  /** The oldest, which does not wait any more. */
  take(): Message | undefined {
    const [oldest] = this.#waiting;
    if (!oldest) return undefined;
    this.#waiting.delete(oldest[0]);
    this.#bytes -= sizeOf(oldest[1]);
    return oldest[1];
  }

  /**
   * To be called when the connection is lost. What was sent and not acknowledged waits again, before the others. What is fleeting is
   * forgotten, and so is what is retained: it is reported anew when the broker is there again. Not so what takes back something retained.
   */
  disconnected(unacknowledged: Iterable<Message>): void {
    const messages = [...unacknowledged, ...this.#waiting.values()];
    this.#waiting.clear();
    this.#bytes = 0;
    for (const message of messages)
      if (!message.isFleeting && (!message.retain || message.payload.length === 0)) this.add(message);
  }
}

function sizeOf({ topic, payload }: Message): number {
  return topic.length + payload.length;
}
