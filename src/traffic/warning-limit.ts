/** The time between two warnings of a kind, in ms. */
const INTERVAL_MS = 10_000;

interface Told {
  at: number;
  /** Those of the kind that were left out since then. */
  leftOut: number;
}

/** Lets the first warning of each kind through, and then at most one in ten seconds. A flooded line causes thousands. */
export class WarningLimit<Kind> {
  readonly #told = new Map<Kind, Told>();

  /**
   * @param at now, in ms of `performance.now()`
   * @returns how many warnings of this kind were left out since the last one; undefined if this one is to be left out
   */
  pass(kind: Kind, at: number): number | undefined {
    const told = this.#told.get(kind);
    if (told && at - told.at < INTERVAL_MS) {
      told.leftOut++;
      return undefined;
    }
    this.#told.set(kind, { at, leftOut: 0 });
    return told?.leftOut ?? 0;
  }
}
