/**
 * Finds which requests faults acted on, by how often they have acted. The line makes the event of a request after the
 * faults have acted on its reply, and before the next request is looked at.
 */
export class HitCount {
  readonly #hits: () => number;
  #before: number;

  /** @param hits how often the faults have acted by now, those of removed rules left out */
  constructor(hits: () => number) {
    this.#hits = hits;
    this.#before = hits();
  }

  /** Counts from what there is now. Call when rules were removed with their counts. */
  begin(): void {
    this.#before = this.#hits();
  }

  /** Whether a fault has acted since the last request. Call with the event of each request. */
  haveGrown(): boolean {
    const before = this.#before;
    this.#before = this.#hits();
    return this.#before > before;
  }
}
