import type { ActionSource } from '../../../src/device/registers/actions.js';
import { CELLS_PER_VALUE } from '../../../src/device/registers/cell-type.js';
import { RegisterImage } from '../../../src/device/registers/image.js';
import {
  LayoutBuilder,
  type RegisterLayout,
  type ValueDefinition,
} from '../../../src/device/registers/layout.js';
import { Table, type TableWindow } from '../../../src/device/registers/table.js';

/** Clock and dice that never move. */
export const STILL: ActionSource = { random: () => 0, now: () => new Date(2024, 0, 1), uptime: () => 0 };

/** A value to define; without a type a writable uint16. */
export type Entry = Partial<ValueDefinition> & { readonly address: number };

export function definitionOf(entry: Entry): ValueDefinition {
  const { type = 'uint16' } = entry;
  const value = type === 'string' ? '' : 0;
  return { type, cells: type === 'string' ? 1 : CELLS_PER_VALUE[type], value, writable: true, ...entry };
}

export function layoutOf(size: number, entries: readonly Entry[]): RegisterLayout {
  const builder = new LayoutBuilder(size);
  for (const entry of entries) {
    const conflict = builder.define(definitionOf(entry));
    if (conflict) throw new Error(`entry at ${entry.address}: ${JSON.stringify(conflict)}`);
  }
  return builder.build();
}

export function imageOf(
  size: number,
  entries: readonly Entry[],
  source: Partial<ActionSource> = {},
): RegisterImage {
  return new RegisterImage(layoutOf(size, entries), { ...STILL, ...source });
}

/** A table over all of an image, or the part that `window` names. */
export function tableOf(image: RegisterImage, window: Partial<TableWindow> = {}): Table {
  const whole = {
    base: 0,
    size: image.size,
    bitsPerCell: 16,
    wholeValues: false,
    countsAsPymodbus: false,
  } as const;
  return new Table({ image, ...whole, ...window });
}

/** `count` entries from `address`, alike but for their address. */
export function run(address: number, count: number, entry: Omit<Entry, 'address'> = {}): Entry[] {
  return Array.from({ length: count }, (_, i) => ({ ...entry, address: address + i }));
}

export function wordsOf(image: RegisterImage): number[] {
  return Array.from({ length: image.size }, (_, address) => image.wordAt(address));
}
