import { EventBlock, KeptEvents } from './kept-events.js';
import type { StreamChange } from './stream.js';

/** Reads a stream that belongs to another thread. It sees an event as soon as the stream has it. */
export class TrafficMirror extends KeptEvents {
  readonly #events: number;
  /** The number of the first event that may be stored: all earlier ones were cleared. */
  #floor = 1;
  /** The newest event known to be readable. */
  #last = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param events how many events the stream stores */
  constructor(events: number) {
    super();
    this.#events = events;
  }

  get first(): number {
    const { blocks } = this;
    let gone = 0;
    while (gone < blocks.length && !blocks[gone]?.isKept) gone++;
    // The stream may have dropped blocks without this thread knowing it yet.
    const kept = gone === 0 ? this.#floor : (blocks[gone]?.first ?? this.last + 1);
    return Math.max(this.#floor, kept, this.last - this.#events + 1);
  }

  get last(): number {
    const newest = this.blocks.at(-1);
    const last = newest ? newest.first + newest.count - 1 : this.#floor - 1;
    // An event of a new line may be seen before the message with the line's name has arrived.
    if (newest === undefined || newest.names <= this.lines.length) this.#last = last;
    return Math.max(this.#last, this.#floor - 1);
  }

  async next(after: number): Promise<void> {
    while (true) {
      // `wait` is called before the check, so that an event in between is reported.
      this.blocks.at(-1)?.wait();
      if (this.last > after) return;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  take(change: StreamChange): void {
    switch (change.kind) {
      case 'line':
        this.lines.push(change.name);
        break;
      case 'block':
        if (this.blocks.length === 0) this.#floor = Math.max(this.#floor, change.first);
        this.blocks.push(new EventBlock(change.memory, change.first, change.use));
        break;
      case 'dropped': {
        const dropped = this.blocks.shift();
        if (!dropped) break;
        this.#floor = Math.max(this.#floor, this.blocks[0]?.first ?? dropped.first + dropped.count);
        break;
      }
      case 'cleared':
        this.#floor = change.first;
        break;
      case 'event':
    }
    // All waiting callers check again.
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  protected hold(block: EventBlock): boolean {
    return block.hold();
  }

  protected letGo(block: EventBlock): void {
    block.letGo();
  }
}
