import type { At } from '../common/schema/at.js';
import { pathText } from '../common/schema/problem.js';
import type { Action } from '../device/registers/actions.js';
import { BIG_ENDIAN, type ValueOrder, type ValueType } from '../device/registers/cell-type.js';
import type { LayoutBuilder } from '../device/registers/layout.js';
import type { Value } from '../device/registers/value.js';

/** What one entry of a file defines: a repeated value at adjacent addresses, or a list of values. */
export interface PlacedValues {
  /** The entry's path in the file. */
  readonly at: At;
  readonly first: number;
  readonly last: number;
  readonly type: ValueType;
  readonly cells: number;
  /** Either one value for the whole entry, or one for each place. */
  readonly values: readonly Value[];
  readonly order?: ValueOrder;
  readonly writable?: boolean;
  readonly action?: Action | undefined;
}

/**
 * Leaves out entries that share an address with an earlier one in the file, and reports each with a message
 * that names both. No two of the returned entries share an address.
 */
export function withoutOverlaps(entries: readonly PlacedValues[]): PlacedValues[] {
  const rank = new Map(entries.map((entry, i) => [entry, i]));
  const rejected = new Set<PlacedValues>();
  // The accepted entry that ends last so far.
  let reach: PlacedValues | undefined;
  for (const entry of [...entries].sort((a, b) => a.first - b.first)) {
    if (!reach || entry.first > reach.last) {
      reach = entry;
      continue;
    }
    const [earlier, later] =
      (rank.get(reach) as number) < (rank.get(entry) as number) ? [reach, entry] : [entry, reach];
    rejected.add(later);
    later.at.wrong(`address ${entry.first} is already defined by ${pathText(earlier.at.path)}`);
    reach = earlier;
  }
  return entries.filter((entry) => !rejected.has(entry));
}

/**
 * Defines the values of an entry. A repeated value is encoded only once, because an entry may repeat it
 * 65,536 times.
 */
export function definePlaced(builder: LayoutBuilder, entry: PlacedValues): void {
  const { first, last, type, cells, values, order = BIG_ENDIAN, writable = false, action } = entry;
  values.forEach((value, i) => {
    const definition = { address: first + i * cells, type, cells, value, order, writable };
    const conflict = builder.define(action ? { ...definition, action } : definition);
    if (conflict)
      throw new Error(`entry checked before does not fit: ${conflict.kind} at ${conflict.address}`);
  });
  builder.repeat(first, values.length * cells, last);
}
