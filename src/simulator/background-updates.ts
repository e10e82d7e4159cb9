import type { DependencyGraph } from '../device/dependency-graph.js';

/**
 * How often values are computed, and for how long at most, in ms: one hundredth of the time of the event
 * loop.
 */
const INTERVAL_MS = 200;
const SLICE_MS = 2;

/**
 * Keeps values that add up others, such as an energy, close to the present while nobody reads them. One timer
 * serves all of them.
 */
export class BackgroundUpdates {
  readonly #graph: DependencyGraph;
  #timer: NodeJS.Timeout | undefined;
  #round: Generator<void>;

  constructor(graph: DependencyGraph) {
    this.#graph = graph;
    this.#round = graph.updateAll();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#work(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Continues where the last slice ended. After a complete round, the next slice begins a new one. */
  #work(): void {
    this.#graph.advance();
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      if (!this.#round.next().done) continue;
      this.#round = this.#graph.updateAll();
      return;
    }
  }
}
