import { newRow, SUM_NAMES, type SumRow } from '../traffic/sums.js';

const COLUMNS = ['unit', 'function', ...SUM_NAMES] as const;

/**
 * Rows one behind the other: the unit, the function, and the sums in the order of `SUM_NAMES`. Another thread
 * gets a copy in a tenth of the time that as many objects take.
 */
export function packed(rows: readonly SumRow[]): Float64Array {
  const all = new Float64Array(rows.length * COLUMNS.length);
  let at = 0;
  for (const row of rows) for (const name of COLUMNS) all[at++] = row[name];
  return all;
}

/** The rows that were packed. */
export function* unpacked(all: Float64Array): Generator<SumRow> {
  for (let at = 0; at < all.length; at += COLUMNS.length) {
    const row = newRow(-1, -1) as Record<(typeof COLUMNS)[number], number>;
    for (const [i, name] of COLUMNS.entries()) row[name] = all[at + i] ?? 0;
    yield row;
  }
}
