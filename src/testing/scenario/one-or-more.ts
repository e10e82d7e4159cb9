import type { At } from '../../common/schema/at.js';

/** How many entries a list in a step may have. All of them are read in one turn of the event loop. */
const MOST_IN_A_STEP = 256;

/**
 * Reads a value that may be written alone or as a list. Undefined after reporting that the list is too long.
 */
export function oneOrMore(at: At): At[] | undefined {
  if (!Array.isArray(at.value)) return [at];
  return isTooMuch(at, at.value.length) ? undefined : at.items();
}

/**
 * Reads the names and contents of a mapping. Undefined after reporting that there is no mapping, or that it
 * is empty or too long.
 */
export function namedEntries(at: At, expected: string): [name: string, content: At][] | undefined {
  const entries = at.entries(expected);
  return entries && isTooMuch(at, entries.length) ? undefined : entries;
}

function isTooMuch(at: At, count: number): boolean {
  if (count <= MOST_IN_A_STEP) return false;
  at.wrong(`expected at most ${MOST_IN_A_STEP} in one list, got ${count}`);
  return true;
}
