import type { At } from '../../../common/schema/at.js';
import { type LayoutBuilder, typeOfMeta } from '../../../device/registers/layout.js';
import { type CellRange, readList, readRange } from './ranges.js';
import { repeatEntrySchema } from './schema.js';

/**
 * Carries out the section `repeat`: copies the cells `addr` repeatedly into `to` and replaces what is there.
 * pymodbus would also cut a value of several cells in two. Nobody intends that, so it is a mistake here.
 */
export function applyRepeats(builder: LayoutBuilder, section: At): void {
  for (const entry of readList(section)) {
    if (!entry.check(repeatEntrySchema)) continue;
    const from = readRange(entry.key('addr'), builder.size);
    const to = readRange(entry.key('to'), builder.size);
    if (!from || !to) continue;
    const cut = findCut(builder, from, to);
    if (cut) entry.key(cut.key).wrong(cut.message);
    else copy(builder, from, to);
  }
}

function copy(builder: LayoutBuilder, from: CellRange, to: CellRange): void {
  for (let i = 0; i <= to.last - to.first; i++) builder.copyCell(sourceOf(i, from), to.first + i);
}

function sourceOf(index: number, from: CellRange): number {
  return from.first + (index % (from.last - from.first + 1));
}

function findCut(
  builder: LayoutBuilder,
  from: CellRange,
  to: CellRange,
): { key: 'addr' | 'to'; message: string } | undefined {
  const { meta } = builder.build();
  const continues = (address: number) =>
    address < meta.length && typeOfMeta(meta[address] as number) === 'next';
  const cut = (key: 'addr' | 'to', address: number) => {
    const message = `cuts the value of several registers that address ${address} belongs to`;
    return { key, message };
  };
  if (continues(from.first)) return cut('addr', from.first);
  if (continues(from.last + 1)) return cut('addr', from.last);
  const lastCopied = sourceOf(to.last - to.first, from);
  if (continues(lastCopied + 1)) {
    return { key: 'to', message: `ends within the copy of the value that address ${lastCopied} belongs to` };
  }
  if (continues(to.first)) return cut('to', to.first);
  if (continues(to.last + 1)) return cut('to', to.last + 1);
  return undefined;
}
