import type { Issue } from './problem.js';

/** The maximum number of mistakes that a REST answer lists. More would not help, and formatting each one takes time. */
export const MOST_LISTED = 20;

/** The listed mistakes, and how many more were found. */
export interface Mistakes {
  readonly listed: readonly Issue[];
  readonly more: number;
}

/**
 * Collects the mistakes in an input and the warnings about it. Mistakes beyond the limit are only counted,
 * not formatted. A warning is about a part that has no effect or is unwise; the input remains usable.
 */
export class Findings implements Mistakes {
  readonly listed: Issue[] = [];
  readonly warnings: Issue[] = [];
  readonly #limit: number;
  readonly #known = new Set<string>();
  #count = 0;
  /** How many mistakes were already listed: a device has the same ones under each of its units. */
  #repeated = 0;

  /**
   * Creates empty findings.
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

  /** Adds a mistake, unless it is already listed. `describe` is called only if there is room to list it. */
  add(describe: () => Issue): void {
    this.#count++;
    if (this.listed.length >= this.#limit) return;
    const issue = describe();
    if (this.#isNew(issue)) this.listed.push(issue);
    else this.#repeated++;
  }

  /** Adds a warning, unless it is already listed. */
  warn(issue: Issue): void {
    if (this.#isNew(issue)) this.warnings.push(issue);
  }

  #isNew({ path, message }: Issue): boolean {
    const { size } = this.#known;
    return this.#known.add(JSON.stringify([path, message])).size > size;
  }
}

/** Creates findings for a file, which list every mistake. */
export function fileFindings(): Findings {
  return new Findings(Number.POSITIVE_INFINITY);
}

/** Returns `and 23,980 more` for the mistakes that are not listed; undefined if all are. */
export function moreText({ more }: Mistakes): string | undefined {
  return more > 0 ? `and ${more.toLocaleString('en')} more` : undefined;
}
