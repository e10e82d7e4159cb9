/**
 * Returns the singular or the plural of a word: `frame` for 1, `frames` for 0 and 2. @param many for a plural
 * that is not formed with `s`
 */
export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** Returns a number of things: `1 frame`, `3 frames`, `2 benches`. */
export function counted(count: number, one: string, many?: string): string {
  return `${count} ${plural(count, one, many)}`;
}

/** Joins words: `a`, `a and b`, `a, b and c`. */
export function listText(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
