/** A test or an examination, while it works on lines. */
export interface LineHolder {
  /** `test 3`. */
  readonly name: string;
  readonly isOver: boolean;
}

/**
 * Who works on which line of a bench. At most one test or examination does so at a time: two would take each other's
 * faults for their own.
 */
export class LineLeases {
  readonly #holders = new Map<string, LineHolder>();

  /**
   * Takes all of these lines, or none. A lease ends when its holder is over.
   * @returns who has one of the lines, undefined when they were taken
   */
  take(
    lines: readonly string[],
    holder: LineHolder,
  ): { readonly line: string; readonly name: string } | undefined {
    for (const line of lines) {
      const other = this.#holders.get(line);
      if (other && !other.isOver) return { line, name: other.name };
    }
    for (const line of lines) this.#holders.set(line, holder);
    return undefined;
  }
}
