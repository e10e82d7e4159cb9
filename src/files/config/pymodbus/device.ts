import type { At } from '../../../common/schema/at.js';
import { isMapping } from '../../../common/schema/parts.js';
import { LayoutBuilder, type RegisterLayout, typeOfMeta } from '../../../device/registers/layout.js';
import { notDefined } from '../../../device/registers/undefined.js';
import type { DeviceRegisters, WindowDefinition } from '../configuration.js';
import { definePlaced, withoutOverlaps } from '../place-values.js';
import { readTypeSection } from './cells.js';
import { type CellRange, readList, readRange } from './ranges.js';
import { byType, PYMODBUS_TYPES, pymodbusDeviceSections, repeatEntrySchema } from './schema.js';
import { type PymodbusSetup, readSetup } from './setup.js';

/**
 * Types of a branch of pymodbus (May 2024) that was never released. The files of the branch name version
 * 3.1.0.
 */
const BITFIELDS = ['bitfield16', 'bitfield32', 'bitfield64'] as const;

/** True when a device uses the types of that branch. */
export function hasBitfields(at: At): boolean {
  const values = at.key('setup').key('defaults').key('value');
  return BITFIELDS.some((type) => at.key(type).value !== undefined || values.key(type).value !== undefined);
}

/** Reads the registers of a device of a pymodbus file; undefined after reporting its mistakes. */
export function pymodbusDevice(at: At): DeviceRegisters | undefined {
  if (hasBitfields(at)) {
    return at.wrong(
      `${BITFIELDS.join(', ')} are types of a pymodbus that was never released, whose files name version 3.1.0: rename bitfield16 to bits, bitfield32 to uint32 and bitfield64 to uint64, in setup.defaults too`,
    );
  }
  return at.unlessWrong(() => {
    at.check(pymodbusDeviceSections);
    if (!isMapping(at.value)) return undefined;
    const setup = readSetup(at.key('setup'));
    const cells = readCells(at, setup ?? UNKNOWN_SETUP);
    return setup && { tables: windows(setup, cells), cells };
  });
}

const NO_DEFAULT = { value: 0, action: undefined };

/** Stands for a section `setup` with mistakes, so that the other sections can still be checked. */
const UNKNOWN_SETUP: Pick<PymodbusSetup, 'size' | 'defaults'> = {
  size: 4 * 65536,
  defaults: {
    ...byType(() => NO_DEFAULT),
    string: { value: '', action: undefined },
  },
};

function readCells(device: At, { size, defaults }: Pick<PymodbusSetup, 'size' | 'defaults'>): RegisterLayout {
  // Cells are invalid until a section defines them, so the section `invalid` changes nothing, as in pymodbus.
  for (const item of readList(device.key('invalid'))) readRange(item, size, true);
  const sections = PYMODBUS_TYPES.map((type) =>
    readTypeSection(type, device.key(type), defaults[type], size),
  );
  const builder = new LayoutBuilder(size);
  const entries = sections.flatMap((section) => section.entries);
  for (const entry of withoutOverlaps(entries)) definePlaced(builder, entry);
  const complete = sections.every((section) => section.complete);
  allowWrites(builder, device.key('write'), complete);
  applyRepeats(builder, device.key('repeat'));
  return builder.build();
}

/**
 * Makes the cells of the section `write` writable. When some definitions could not be read, an undefined cell
 * may only follow from that mistake, so it is not reported.
 */
function allowWrites(builder: LayoutBuilder, section: At, complete: boolean): void {
  for (const item of readList(section)) {
    const range = readRange(item, builder.size, true);
    if (!range) continue;
    for (let address = range.first; address <= range.last; address++) {
      if (builder.isDefined(address)) builder.allowWrite(address);
      else if (complete) {
        item.wrong(`expected defined registers, ${notDefined(`address ${address}`)}`);
        break;
      }
    }
  }
}

/**
 * The tables of a device. With shared blocks, every table is the whole list. Otherwise the tables follow one
 * another, in pymodbus' order.
 */
function windows(setup: PymodbusSetup, layout: RegisterLayout): DeviceRegisters['tables'] {
  const window = (base: number, size: number): WindowDefinition => ({
    layout,
    base: setup.shared ? 0 : base,
    size: setup.shared ? setup.size : size,
    bitsPerCell: 16,
    wholeValues: setup.wholeValues,
    countsAsPymodbus: true,
  });
  const { coils, discrete, input, holding } = setup;
  return {
    coils: window(0, coils),
    discrete: window(coils, discrete),
    input: window(coils + discrete, input),
    holding: window(coils + discrete + input, holding),
  };
}

/**
 * Carries out the section `repeat`: copies the cells `addr` repeatedly into `to` and replaces what is there.
 * pymodbus would also cut a value of several cells in two. Nobody intends that, so it is a mistake here.
 */
function applyRepeats(builder: LayoutBuilder, section: At): void {
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
