import type { Issue } from './problem.js';

/**
 * How many mistakes a REST answer lists at most. More would not help, and putting each into words takes time.
 */
export const MOST_LISTED = 20;

/** The mistakes that are listed, and how many more were found. */
export interface Mistakes {
  readonly listed: readonly Issue[];
  readonly more: number;
}

/**
 * Collects the mistakes in an input and the warnings about it. Mistakes beyond the limit are only counted,
 * not put into words. A warning is about a part that has no effect or is unwise; the input stays usable.
 */
export class Findings implements Mistakes {
  readonly listed: Issue[] = [];
  readonly warnings: Issue[] = [];
  readonly #limit: number;
  #count = 0;

  /**
   * Makes empty findings.
   * @param limit how many mistakes are listed. For a file all mistakes are printed, so there is no limit.
   */
  constructor(limit = MOST_LISTED) {
    this.#limit = limit;
  }

  /** How many mistakes were found, listed or not. */
  get count(): number {
    return this.#count;
  }

  get more(): number {
    return this.#count - this.listed.length;
  }

  /** Adds a mistake. `describe` is called only if the mistake is listed. */
  add(describe: () => Issue): void {
    if (this.#count++ < this.#limit) this.listed.push(describe());
  }
}

/** Makes findings for a file, which list every mistake. */
export function fileFindings(): Findings {
  return new Findings(Number.POSITIVE_INFINITY);
}

/** Returns `and 23,980 more` for the mistakes that are not listed; undefined when all are listed. */
export function moreText({ more }: Mistakes): string | undefined {
  return more > 0 ? `and ${more.toLocaleString('en')} more` : undefined;
}
