import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { Seen } from './seen.js';
import { durationText } from './words.js';

/**
 * How many frames of a step are kept: of those that count, the first and the last ones; of all, the newest
 * ones.
 */
const MOST_MATCHED = 40;
const MOST_RECENT = 16;
/** How many events a message names; the report shows the others. */
const MOST_EVENTS = 4;

/** Puts an event into words. */
export type SayEvent = (event: TrafficEvent) => string;

/** Collects the frames that show how a step ended. */
export class Evidence {
  readonly #startedAt: number;
  readonly #say: SayEvent;
  readonly #recent: TrafficEvent[] = [];
  readonly #matched = new Map<number, TrafficEvent>();

  /** @param startedAt when the step began, in ms of `performance.now()` */
  constructor(startedAt: number, say: SayEvent) {
    this.#startedAt = startedAt;
    this.#say = say;
  }

  /** Notes an event of the step. */
  note(event: TrafficEvent): void {
    this.#recent.push(event);
    if (this.#recent.length > MOST_RECENT) this.#recent.shift();
  }

  /** Notes a request or a reply that counts. */
  count({ event }: Seen): void {
    if (this.#matched.size >= MOST_MATCHED) {
      // The first half stays. Of the second half, the oldest goes.
      const [oldest] = [...this.#matched.keys()].slice(MOST_MATCHED / 2);
      if (oldest !== undefined) this.#matched.delete(oldest);
    }
    this.#matched.set(event.seq, event);
  }

  /** Notes the reply to a request that counts, even when the step is over. */
  answer(event: TrafficEvent): void {
    if (event.kind === 'reply' && this.#matched.has(event.request)) this.#matched.set(event.seq, event);
  }

  /**
   * The frames in their order.
   * @param all adds the newest frames that do not count, for a step that has not passed
   */
  frames(all: boolean): TrafficEvent[] {
    const frames = new Map(this.#matched);
    if (all) for (const event of this.#recent) frames.set(event.seq, event);
    return [...frames.values()].sort((a, b) => a.seq - b.seq);
  }

  /**
   * Names the newest events, for the message of a step that has not passed: `+213 ms unit 1 read coils 0–7
   * (frame 12)`.
   */
  instead(): string {
    if (this.#recent.length === 0) return 'nothing came at all';
    const events = this.#recent
      .slice(-MOST_EVENTS)
      .map(
        (event) =>
          `+${durationText(Math.max(0, event.at - this.#startedAt))} ${this.#say(event)} (frame ${event.seq})`,
      );
    return `counted from the beginning of the step, last came ${events.join('; ')}`;
  }
}
