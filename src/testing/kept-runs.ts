/** Runs that are kept after their end, the newest ones. */
const MOST_KEPT = 20;

/** Tests or examinations by their numbers: all that run, and the newest that are over. */
export class KeptRuns<Run extends { readonly isOver: boolean }> {
  readonly #runs = new Map<number, Run>();

  add(id: number, run: Run): void {
    this.#runs.set(id, run);
    for (const [old, { isOver }] of this.#runs) {
      if (this.#runs.size > MOST_KEPT && isOver) this.#runs.delete(old);
    }
  }

  get(id: number): Run | undefined {
    return this.#runs.get(id);
  }

  /** The oldest first. */
  entries(): [id: number, run: Run][] {
    return [...this.#runs];
  }
}
