import { quote } from './problem.js';

const LONGEST_COMPARED = 40;
const MOST_LISTED = 32;
/**
 * How many known names are compared. A file of thousands of wrong names has thousands of mistakes, and each
 * is compared with all known names.
 */
const MOST_COMPARED = 1000;

/** Returns `unknown KIND "name"`, with the name that was probably meant and the known names. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const listed = known
    .slice(0, MOST_LISTED)
    .map((each) => (/^[\w* -]{1,60}$/.test(each) ? each : quote(each)));
  if (known.length > MOST_LISTED) listed.push('…');
  const hint = meant === undefined ? '' : `, did you mean ${quote(meant)}?`;
  return `unknown ${kind} ${quote(name)}${hint} (known: ${listed.join(', ') || 'none'})`;
}

/**
 * Returns the known name that `name` most likely stands for: at most a third of its letters differ, or the
 * known name begins with it.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_COMPARED) return undefined;
  const wanted = plain(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known.slice(0, MOST_COMPARED)) {
    if (candidate.length > LONGEST_COMPARED) continue;
    const distance = editDistance(wanted, plain(candidate), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? (name.length < 3 ? undefined : known.find((each) => plain(each).startsWith(wanted)));
}

/** Removes case and separators, which people get wrong most: baud_rate is baudRate. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_\s-]/g, '');
}

/**
 * Returns Damerau's distance (optimal string alignment): how many letters to insert, drop or replace, and how
 * many neighbours to swap. Keeps three rows of the table at a time. A distance of `most` or more may be given
 * as any number from `most` on.
 */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most;
  let above: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? above[j - 2] : undefined;
      next.push(
        Math.min(
          replaced,
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (swapped ?? Number.POSITIVE_INFINITY) + 1,
        ),
      );
    }
    // No later row has a smaller number than both of these rows.
    if (Math.min(...row) >= most && Math.min(...next) >= most) return most;
    [above, row] = [row, next];
  }
  return row[b.length] as number;
}
