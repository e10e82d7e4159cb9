import type { Clock } from '../../../modbus/transport/clock.js';

/** A source of events of the line. */
interface Heard {
  /**
   * Calls back after each event.
   * @returns a function that ends the calls
   */
  onEvent(listener: () => void): () => void;
}

/** Waits for something to happen on the line. After `end` no wait resolves, so a caller needs no way out. */
export class Waits {
  readonly #clock: Clock;
  readonly #heard: Heard;
  readonly #stops = new Set<() => void>();
  #isOver = false;

  constructor(clock: Clock, heard: Heard) {
    this.#clock = clock;
    this.#heard = heard;
  }

  /** Ends all waits: none of them resolves any more. */
  end(): void {
    this.#isOver = true;
    for (const stop of this.#stops) stop();
  }

  /**
   * Waits until `find` returns something. `find` is called now and after each event of the line, when the
   * line has planned its answer.
   * @returns undefined when nothing was found within `limitMs`
   */
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined> {
    return new Promise((resolve) => {
      if (this.#isOver) return;
      const now = find();
      if (now !== undefined) return resolve(now);
      let isAsked = false;
      const stop = () => {
        callOff();
        unsubscribe();
        this.#stops.delete(stop);
      };
      const look = () => {
        isAsked = false;
        if (!this.#stops.has(stop)) return;
        const result = find();
        if (result === undefined) return;
        stop();
        resolve(result);
      };
      const unsubscribe = this.#heard.onEvent(() => {
        if (isAsked) return;
        isAsked = true;
        queueMicrotask(look);
      });
      const callOff = this.#clock.callAfter(limitMs, () => {
        stop();
        resolve(find());
      });
      this.#stops.add(stop);
    });
  }
}
