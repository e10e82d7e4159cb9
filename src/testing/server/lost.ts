import { listText } from '../../common/words.js';
import type { ScratchTable } from './requests.js';

/** A value that a check has changed and that was not restored. `had` is undefined if it was never read. */
export interface LostValue {
  readonly unitId: number;
  readonly table: ScratchTable;
  readonly address: number;
  readonly had: number | undefined;
  /** The present value on the server; undefined if it can't be read. */
  readonly has: number | undefined;
}

/** Maximum number of values named in a sentence. */
export const MOST_NAMED = 8;

/**
 * Formats lost values, one sentence per table and unit: `holding 103 to 110 of unit 1 had 3 4 5 …, and have 0
 * 0 0 …`.
 */
export function lostTexts(lost: readonly LostValue[]): string[] {
  const groups = new Map<string, LostValue[]>();
  for (const each of lost) {
    const key = `${each.unitId} ${each.table} ${each.had === undefined}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].map((those) => {
    const [{ unitId, table, had }] = those as [LostValue];
    const spans = runsOf(those.map(({ address }) => address)).map(({ from, length }) =>
      length === 1 ? String(from) : `${from} to ${from + length - 1}`,
    );
    const place = `${table} ${listText(spans)} of unit ${unitId}`;
    if (had === undefined)
      return `LOST: ${place} was written but cannot be read; the previous value is unknown.`;
    const shown = (values: readonly (number | undefined)[]) =>
      `${values
        .slice(0, MOST_NAMED)
        .map((value) => value ?? '?')
        .join(' ')}${values.length > MOST_NAMED ? ' …' : ''}`;
    return `LOST: ${place} was ${shown(those.map((each) => each.had))} and is now ${shown(those.map((each) => each.has))}.`;
  });
}

/** Groups addresses into runs without gaps. */
export function runsOf(addresses: readonly number[]): { readonly from: number; readonly length: number }[] {
  const runs: { from: number; length: number }[] = [];
  for (const address of addresses) {
    const last = runs.at(-1);
    if (last && last.from + last.length === address) last.length++;
    else runs.push({ from: address, length: 1 });
  }
  return runs;
}
