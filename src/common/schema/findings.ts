import type { Issue } from './problem.js';

/** The most mistakes that a REST answer lists. More would not help, and putting each into words takes time. */
export const MOST_LISTED = 20;

/** The first mistakes that were found, and how many there are besides. */
export interface Mistakes {
  readonly listed: readonly Issue[];
  readonly more: number;
}

/**
 * Collects the mistakes in an input and the warnings about it. Mistakes beyond the limit are counted, not put into
 * words. A warning is about a part that has no effect or is unwise; the input stays usable.
 */
export class Findings implements Mistakes {
  readonly listed: Issue[] = [];
  readonly warnings: Issue[] = [];
  readonly #limit: number;
  #count = 0;

  /** @param limit how many mistakes are listed; a file has all of its mistakes printed, so it has no limit. */
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

  /** Adds a mistake; `describe` is called only for one that is listed. */
  add(describe: () => Issue): void {
    if (this.#count++ < this.#limit) this.listed.push(describe());
  }
}

/** Findings of a file: every mistake is listed. */
export function fileFindings(): Findings {
  return new Findings(Number.POSITIVE_INFINITY);
}

/** `and 23,980 more` for the mistakes that are not listed; undefined when all of them are. */
export function moreText({ more }: Mistakes): string | undefined {
  return more > 0 ? `and ${more.toLocaleString('en')} more` : undefined;
}
