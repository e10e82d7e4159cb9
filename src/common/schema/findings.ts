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
  readonly #known = new Set<string>();
  #count = 0;
  /** How many mistakes were listed already: a device has the same ones under each of its units. */
  #repeated = 0;

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
    return this.#count - this.#repeated - this.listed.length;
  }

  /** Adds a mistake, once. `describe` is called only if there is room to list the mistake. */
  add(describe: () => Issue): void {
    this.#count++;
    if (this.listed.length >= this.#limit) return;
    const issue = describe();
    if (this.#isNew(issue)) this.listed.push(issue);
    else this.#repeated++;
  }

  /** Adds a warning, once. */
  warn(issue: Issue): void {
    if (this.#isNew(issue)) this.warnings.push(issue);
  }

  #isNew({ path, message }: Issue): boolean {
    const { size } = this.#known;
    return this.#known.add(JSON.stringify([path, message])).size > size;
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
