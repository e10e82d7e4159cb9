/** What works on lines of a simulator: a test or an examination. */
export interface Lease {
  /** Counts tests and examinations together, from 1. */
  readonly id: number;
  /** Others can have the lines from now on. */
  end(): void;
}

/**
 * Who works on which line of a simulator. At most one test or examination does so at a time: two would take each other's
 * faults for their own.
 */
export class LineLeases {
  /** Who has each line, as `test 3`. */
  readonly #holders = new Map<string, string>();
  #last = 0;

  /**
   * Takes all of these lines, or none.
   * @returns who has one of the lines, as a sentence
   */
  take(lines: readonly string[], kind: 'test' | 'examination'): Lease | string {
    for (const line of lines) {
      const other = this.#holders.get(line);
      if (other !== undefined) return `${other} runs on line ${line}; DELETE stops it`;
    }
    const id = ++this.#last;
    const holder = `${kind} ${id}`;
    for (const line of lines) this.#holders.set(line, holder);
    return { id, end: () => this.#free(holder) };
  }

  #free(holder: string): void {
    for (const [line, other] of this.#holders) if (other === holder) this.#holders.delete(line);
  }
}
